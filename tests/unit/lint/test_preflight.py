"""The check of a DAG before it is submitted: which errors stop a submission, and which do not."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import htcondor2
import pytest

from condor_pydagman.cli.checks_before_run import before_run
from condor_pydagman.cli.submit_dag import main, submit_silently
from condor_pydagman.config import Config
from condor_pydagman.daemon import dag_input
from condor_pydagman.dagman_job import submit_to_schedd
from condor_pydagman.dagman_job.options import parse_submit
from condor_pydagman.dagman_job.prepare_job import Prepared
from condor_pydagman.errors import FileError
from condor_pydagman.lint import preflight
from tests.descriptors import descriptors
from tests.waiting import ending

OURS = os.path.join(os.path.dirname(sys.executable), "condor_dagman")


@pytest.fixture(autouse=True)
def dag_directory(work_directory: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A work directory with a DAG."""
    monkeypatch.setenv("CONDOR_CONFIG", "ONLY_ENV")  # the check reads the configuration anew
    monkeypatch.setenv("_CONDOR_DAGMAN_AVOID_SLASH_TMP", "False")
    Path("t.dag").write_text("JOB A a.sub\nJOB B a.sub\nPARENT A CHILD B\n")
    Path("a.sub").write_text("executable = /bin/true\nqueue\n")
    return work_directory


def checked(*words: str) -> int:
    return main(["-no_submit", "-check_dag", *words])


BAD = {
    "unknown node": ("JOB A a.sub\nPARENT A CHILD B\n", "t.dag:2", "Unknown child node B"),
    "no such splice": ("SPLICE S no.dag\n", "t.dag:1", "Failed to open no.dag"),
    "cycle": (
        "JOB A a\nJOB B a\nJOB C a\nPARENT A CHILD B\nPARENT B CHILD C\nPARENT C CHILD B\n",
        "t.dag:6",
        "a cycle exists in the dag, please check input: B -> C -> B\n    PARENT C CHILD B",
    ),
    "cycle in a splice": (
        "SPLICE S s.dag\n", "s.dag:4", "please check input: S+X -> S+Y -> S+X",
    ),
    "limit that is not defined": (
        "SPLICE S l.dag\nJOB A a.sub\n", "ERROR: l.dag:2 SHARED_LIMIT", "\n    SHARED_LIMIT none",
    ),
    "no expression": (
        "JOB A a.sub\nJOB B a.sub\nPARENT A CHILD B\nRUN_IF B 1 ; 2\n",
        "t.dag:4",
        "RUN_IF of node B: 1 ; 2: ",
    ),
    "rescue file that does not fit": ("JOB Z a.sub\n", "t.dag.rescue001", "Z2"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_errors_that_dagman_would_find_are_reported(
    case: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text, place, reason = BAD[case]
    Path("t.dag").write_text(text)
    Path("s.dag").write_text("JOB X a\nJOB Y a\nPARENT X CHILD Y\nPARENT Y CHILD X\n")
    Path("l.dag").write_text("JOB X a.sub\nSHARED_LIMIT none ALL_NODES\n")
    Path("t.dag.halt").write_text("")
    if case.startswith("rescue"):
        Path("t.dag.rescue001").write_text("DONE Z2\n")
    before = sorted(os.listdir())
    assert checked("t.dag") == 1
    out, err = capsys.readouterr()
    assert place in err
    assert reason in err
    assert "-no_check_dag" in err
    assert "File for submitting" not in out
    assert sorted(os.listdir()) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes files of other users")
def test_a_file_that_the_owner_of_the_dag_cannot_read(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever submits a DAG does what its owner wants."""
    Path("t.dag").write_text("INCLUDE c.dag\n")
    Path("c.dag").write_text(BAD["cycle"][0])
    Path("c.dag").chmod(0o600)
    os.chown("t.dag", 12345, 12345)
    assert checked("t.dag") == 1
    told = capsys.readouterr().err
    assert "ERROR: c.dag:6 a cycle exists" in told


def test_all_errors_are_reported_together(capsys: pytest.CaptureFixture[str]) -> None:
    """Those too that condor_submit_dag meets itself, before the check."""
    Path("t.dag").write_text("JBO A a.sub\nJOB B a.sub\nJOB B b.sub\nRETRY B\nSPLICE S no.dag\n")
    assert main(["-no_submit", "t.dag"]) == 1
    told = capsys.readouterr().err
    assert told.startswith("ERROR: t.dag:1 'JBO' is not a valid DAG command\n")
    for place in ("t.dag:3", "t.dag:4", "t.dag:5"):
        assert place in told
    Path("u.dag").write_text("JOB A a.sub\nCONFIG a b\nRETRY A\n")  # DAGMan reads no CONFIG
    assert main(["-no_submit", "u.dag"]) == 1
    told = capsys.readouterr().err
    assert told.index("u.dag:2") < told.index("u.dag:3")
    assert main(["-no_submit", "-no_check_dag", "t.dag"]) == 1
    assert "t.dag:3" not in capsys.readouterr().err


def test_wrong_lines_hide_no_unknown_names(capsys: pytest.CaptureFixture[str]) -> None:
    """DAGMan looks for names only if it can read all lines."""
    Path("t.dag").write_text("JOB A a.sub\nPARENT A CHILD Z\nRETRY A\nVARS Q x=1\n")
    assert checked("t.dag") == 1
    told = capsys.readouterr().err
    for place in ("t.dag:2", "t.dag:3", "t.dag:4"):
        assert place in told
    assert "-no_check_dag" in told


def test_uncertain_errors_are_not_reported(capsys: pytest.CaptureFixture[str]) -> None:
    """The configuration, which may allow it, is not read from a DAG file with errors."""
    Path("t.dag").write_text("JOB A+B a.sub\nJBO A a.sub\n")
    assert main(["-no_submit", "t.dag"]) == 1
    told = capsys.readouterr().err
    assert "t.dag:2" in told
    assert "t.dag:1" not in told


def test_it_reads_as_dagman_would(capsys: pytest.CaptureFixture[str]) -> None:
    """By CONFIG file, environment, ENV SET, -usedagdir and rescue files."""
    Path("d").mkdir()
    Path("c").write_text("DAGMAN_MUNGE_NODE_NAMES = False\n")
    Path("d/s.dag").write_text("JOB X a\n")
    Path("d/u.dag").write_text("SPLICE S s.dag\n")
    assert checked("d/u.dag") == 1
    assert checked("-usedagdir", "d/u.dag") == 0
    Path("t.dag").write_text("JOB A a\n")
    Path("u.dag").write_text("JOB A a\n")
    assert checked("t.dag", "u.dag") == 0
    assert checked("-f", "-config", "c", "t.dag", "u.dag") == 1
    Path("w.dag").write_text("ENV SET _CONDOR_DAGMAN_MUNGE_NODE_NAMES=False\nJOB A a\n")
    assert checked("w.dag", "u.dag") == 1
    Path("t.dag.rescue001").write_text("DONE A\n")
    Path("t.dag.rescue002").write_text("DONE nosuch\n")
    assert checked("-update_submit", "t.dag") == 1
    assert checked("-update_submit", "-dorescuefrom", "1", "t.dag") == 0
    assert Path("t.dag.rescue002").exists()
    assert checked("-f", "t.dag") == 0
    capsys.readouterr()


def test_a_nodes_log_under_tmp_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_CONDOR_DAGMAN_AVOID_SLASH_TMP", "True")
    monkeypatch.setenv("_CONDOR_DAGMAN_DEFAULT_NODE_LOG", "/tmp/@(DAG_FILE).nodes.log")
    assert checked("t.dag") == 1
    assert "/tmp/t.dag.nodes.log is in /tmp" in capsys.readouterr().err


PASSES = {
    "done": "JOB A a DONE\nJOB B a\nPARENT A CHILD B\nPARENT B CHILD A\n",
    "abort": "JOB R a\nABORT-DAG-ON R 0 RETURN 0\nJOB A a\nJOB B a\nPARENT R CHILD A\n"
    "PARENT A CHILD B\nPARENT B CHILD A\n",
    "sub-DAG that is not there yet": "SUBDAG EXTERNAL A later.dag\n",
    "submit file that is not there yet": "JOB A later.sub\n",
}


@pytest.mark.parametrize("case", PASSES)
def test_a_dag_that_may_succeed_is_submitted(case: str) -> None:
    Path("t.dag").write_text(PASSES[case])
    assert checked("t.dag") == 0


def test_what_is_missing_at_once_is_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    def warned(text: str) -> list[str]:
        Path("t.dag").write_text(text)
        assert checked("-f", "t.dag") == 0
        return [line for line in capsys.readouterr().err.splitlines() if "Warning" in line]

    Path("pre.sh").touch(0o755)
    assert warned("JOB A a.sub\nSCRIPT PRE A pre.sh\nSCRIPT POST A gone\n") == []
    assert warned("JOB A no.sub\nSCRIPT PRE A pre.sh\nJOB B no2.sub\nPARENT A CHILD B\n") == []
    (script,) = warned("JOB A a.sub\nSCRIPT PRE A gone\n")
    assert "PRE script gone of node A does not exist" in script
    told = warned("".join(f"JOB N{n} gone{n}.sub\n" for n in range(7)))
    assert told[0] == (
        "Warning: submit file gone0.sub of node N0 does not exist"
        " (check its name and the node's DIR)"
    )
    assert told[5:] == ["Warning: and 2 more: condor_dag_checker -lint"]
    (abort,) = warned("JOB A a.sub\nABORT-DAG-ON A 1 RETURN 3\n")
    assert "ends DAGMan with exit code 3, so the schedd restarts it" in abort
    assert warned("JOB A a.sub\nABORT-DAG-ON A 1 RETURN 2\n") == []


def test_an_interrupted_run_may_have_got_past_the_cycle() -> None:
    Path("t.dag").write_text("JOB A a\nJOB B a\nPARENT A CHILD B\nPARENT B CHILD A\n")
    Path("t.dag.lock").write_text("4\nrescue 0\n")
    assert checked("t.dag") == 0


def test_a_file_that_only_dagman_may_read_is_let_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def load(*_: object) -> None:
        raise dag_input.CannotStart("ERROR: Failed to open s.dag: Permission denied")

    monkeypatch.setattr(dag_input, "load", load)
    assert checked("t.dag") == 0


@pytest.mark.parametrize("error", ["a bug", "a crash", "no end"])
def test_an_error_of_the_check_itself_stops_nothing(
    error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusal(_: Prepared, __: object) -> str:
        if error == "a bug":
            raise RuntimeError(error)
        if error == "a crash":
            os.kill(os.getpid(), signal.SIGKILL)
        while True:
            time.sleep(600)

    monkeypatch.setattr(preflight, "refusal", refusal)
    monkeypatch.setattr(preflight, "CHECK_TIMEOUT_S", 0.2)
    with ending("the check"), preflight.check_meanwhile(prepared("t.dag"), print):
        pass


def prepared(*words: str, added: tuple[str, ...] = (), config: Config | None = None) -> Prepared:
    options = parse_submit(words)
    options = options._replace(dagman=options.dagman or OURS)
    arguments = ["-Dag", "t.dag", "-CsdVersion", htcondor2.version()]
    return Prepared(options, "", added, config or Config(), Config(), arguments, {})


@pytest.mark.parametrize(
    ("words", "added", "wanted"),
    [
        ("", "", True),
        ("-f", "", True),
        ("-no_check_dag", "", False),
        ("-no_submit", "", False),
        ("-no_submit -check_dag", "", True),
        ("-remote x", "", False),
        ("-dagman /bin/sh", "", False),
        ("-dagman /bin/sh -check_dag", "", True),
        (f"-dagman {OURS}", "", True),
        ("", "hold = true", False),
        ("", "+Hold = true", False),
        ("", "MY.Iwd = x", False),
        ("", "environment = a=1", False),
        ("", "include : x", False),
        ("", "My.WantStockDagman = true", False),
        ("", "accounting_group = x", True),
        ("", "+Project = 1", True),
    ],
)
def test_when_a_dag_is_checked(words: str, added: str, wanted: bool) -> None:
    """Not where DAGMan may find other files than we do now, nor if it is another DAGMan."""
    it = prepared(*words.split(), "t.dag", added=(added,) if added else ())
    assert preflight._is_wanted(it) is wanted


def test_knob_and_size(monkeypatch: pytest.MonkeyPatch) -> None:
    off = Config(check_dag=False)
    assert not preflight._is_wanted(prepared("t.dag", config=off))
    assert preflight._is_wanted(prepared("-check_dag", "t.dag", config=off))
    monkeypatch.setattr(preflight, "MAX_DAG_FILE_BYTES", 20)
    assert not preflight._is_wanted(prepared("t.dag"))
    assert preflight._is_wanted(prepared("-check_dag", "t.dag"))
    assert not preflight._is_wanted(prepared("nosuch.dag"))


@pytest.mark.parametrize("word", ["-dryrun", "-dot"])
def test_options_that_suggest_a_dry_run_print_a_note(
    word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = ["-schedd-address-file", "/nosuch/a", "-schedd-daemon-ad-file", "/nosuch/b"]
    assert main([word, "-no_submit", "t.dag"]) == 0
    assert capsys.readouterr().err == ""
    assert main([word, "-f", *nowhere, "t.dag"]) == 1
    assert "the DAG is submitted, and its jobs run" in capsys.readouterr().err


def test_a_failed_fork_does_not_stop_the_submission(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none_left() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    Path("t.dag").write_text(BAD["cycle"][0])
    before = descriptors()
    monkeypatch.setattr(os, "fork", none_left)
    assert checked("t.dag") == 0
    assert not descriptors() - before


@pytest.mark.parametrize("case", ["", "cycle"])
def test_an_ignored_sigchld_does_not_stop_the_submission(case: str) -> None:
    if case:
        Path("t.dag").write_text(BAD[case][0])
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert checked("t.dag") == bool(case)
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_run_stops_at_the_errors_of_lint(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """condor_submit_dag, as stock, submits such a DAG; what a rescue file has needs nothing."""
    monkeypatch.setattr(submit_to_schedd, "prepare_submit", lambda *_: None)
    monkeypatch.setattr(submit_to_schedd, "submit", lambda *_: submit_to_schedd.Job(7, 1))
    Path("a.sub").write_text("executable = gone\noutput = out/$(JOB)\nqueue\n")
    before = sorted(os.listdir())
    with pytest.raises(FileError) as error:
        submit_silently(parse_submit(["-check_dag", "t.dag"]), before_run)
    told = str(error.value)
    assert "t.dag:1:5: error DAG311: a.sub of node A: executable gone does not exist\n" in told
    assert "the directory out of its output file does not exist\n" in told
    assert "\n1 error, 1 warning\n" in told
    assert "-no_check_dag" in told
    assert sorted(os.listdir()) == before
    assert checked("t.dag") == 0
    assert submit_silently(parse_submit(["-no_check_dag", "-f", "t.dag"]), before_run) == 7
    Path("a.sub").write_text("executable = /bin/true\nfoo = 1\nqueue\n")
    assert submit_silently(parse_submit(["-check_dag", "-f", "t.dag"]), before_run) == 7
    assert (
        "warning DAG422: a.sub of node A: nothing uses the line foo = 1" in capsys.readouterr().err
    )
    Path("t.dag").write_text("JOB A gone.sub\nJOB B a.sub\nPARENT A CHILD B\n")
    Path("t.dag.rescue001").write_text("DONE A\n")
    assert submit_silently(parse_submit(["-check_dag", "t.dag"]), before_run) == 7
