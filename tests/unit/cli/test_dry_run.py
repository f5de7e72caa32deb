"""condor_pydagman dry-run: what would run, without running it."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
from pathlib import Path

import pytest

from condor_pydagman.adapters.outlog import OutLog
from condor_pydagman.cli import pydagman, submit_dag
from condor_pydagman.daemon import initialize
from condor_pydagman.daemon.dag_input import CannotStart
from condor_pydagman.daemon.startup import prepare
from condor_pydagman.dagman_job.options import DagmanOptions
from condor_pydagman.features.cache.adapters import outlook as cache_outlook
from condor_pydagman.monitor import found_dag
from tests.descriptors import descriptors

ITEMS = "executable = /bin/true\nshould_transfer_files = YES\ninput = $(f)\nqueue f from secret"
DAG = """\
JOB A a.sub
JOB B many.sub
VARS B n="3"
JOB C a.sub NOOP
JOB "D e" a.sub DONE
SUBDAG EXTERNAL S inner.dag
FINAL F a.sub
SCRIPT PRE B x
PARENT A CHILD B C
"""


@pytest.fixture(autouse=True)
def dag_directory(work_directory: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("_CONDOR_DAGMAN_AVOID_SLASH_TMP", "False")
    (work_directory / "t.dag").write_text(DAG.replace('"D e"', "D"))
    (work_directory / "a.sub").write_text("executable = /bin/true\nqueue 2\n")
    (work_directory / "many.sub").write_text("executable = /bin/true\nqueue $(n)\n")
    (work_directory / "inner.dag").write_text("JOB I a.sub\n")
    (work_directory / "x").touch(0o755)
    return work_directory


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    before = sorted(os.listdir())
    assert pydagman.main(["dry-run", *words]) == code
    assert sorted(os.listdir()) == before
    return capsys.readouterr().out


def test_how_to_run_again_what_has_run(
    dag_directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (dag_directory / "t.dag.condor.sub").touch()
    assert "To run it: condor_pydagman run -force t.dag\n" in said(capsys, "t.dag")
    (dag_directory / "t.dag.rescue001").write_text("DONE A\n")
    assert "To run it: condor_pydagman run t.dag\n" in said(capsys, "t.dag")


def test_how_to_run_what_the_options_ask_for(
    dag_directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (dag_directory / "u.dag").write_text("JOB U a.sub\nVARS U unused=1\n")
    words = "-bundle -choose_only '?.*' -choose_until 0.A,1.U -Force -UseDagDir t.dag u.dag\n"
    text = said(capsys, *shlex.split(words))
    assert f"To run it: condor_pydagman run {words}" in text
    assert "To see 1 warning: condor_dag_checker -lint -bundle -UseDagDir t.dag u.dag\n" in text


def test_what_is_chosen_is_not_chosen_in_sub_dags(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "--choose_only", "S", "t.dag")
    assert text.count("left out: CHOOSE ONLY S") == 1
    assert "    inner.dag: 1 node: 1 JOB\n    To run: 1 node with 2 jobs\n" in text


REFUSED = {
    "a condition": ("RUN_IF B 1 ; 2\n", "t.dag:3: RUN_IF of node B: 1 ; 2: "),
    "a policy": ("SITE_GROUP g NODES A\nSITE_POLICY g RANK 1 ; 2\n", "SITE_POLICY of group g: "),
    "a limit": ("SHARED_LIMIT none NODES A\n", "SHARED_LIMIT none: no limit is defined"),
    "the nodes log": ("", "/nodes.log is in /tmp, which may be cleaned at any time"),
    "a cycle": (
        "PARENT A CHILD B\nPARENT B CHILD A\n",
        "a cycle exists in the dag, please check input: A -> B -> A",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_all_say_for_what_dagman_refuses_a_dag(
    case: str,
    dag_directory: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A dry run, the check before a submission, and DAGMan itself; so do those of sub-DAGs."""
    lines, reason = REFUSED[case]
    (dag_directory / "t.dag").write_text(f"JOB A a.sub\nJOB B a.sub\n{lines}")
    (dag_directory / "outer.dag").write_text("SUBDAG EXTERNAL S t.dag\n")
    monkeypatch.setenv("CONDOR_CONFIG", "ONLY_ENV")
    if not lines:
        monkeypatch.setenv("_CONDOR_DAGMAN_AVOID_SLASH_TMP", "True")
        monkeypatch.setenv("_CONDOR_DAGMAN_DEFAULT_NODE_LOG", "/tmp/@(DAG_FILE)/nodes.log")
    assert pydagman.main(["dry-run", "t.dag"]) == 1
    out, err = capsys.readouterr()
    assert reason in (err if case == "a cycle" else out)
    assert "To run it" not in out
    assert submit_dag.main(["-no_submit", "-check_dag", "t.dag"]) == 1
    assert reason in capsys.readouterr().err
    monkeypatch.setenv("_CONDOR_DAGMAN_STARTUP_CYCLE_DETECT", "True")
    assert reason in _refused_by_dagman()
    if case != "a cycle":  # the file of a sub-DAG may be made yet
        assert reason in said(capsys, "outer.dag", code=1)


def _refused_by_dagman() -> str:
    """What a start of condor_dagman ends with."""
    options = DagmanOptions(dag_files=("t.dag",))
    with contextlib.closing(OutLog(os.devnull)) as out, pytest.raises(CannotStart) as error:
        prepare(initialize.configure(options, out), out, 0.0)
    return str(error.value)


def test_a_limit_that_the_administrator_applies(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONDOR_CONFIG", "ONLY_ENV")
    monkeypatch.setenv("_CONDOR_PYDAGMAN_SHARED_LIMITS", "tape = JOBS 3")
    monkeypatch.setenv("_CONDOR_PYDAGMAN_APPLIED_LIMITS", "tape ALL")
    assert "Note: shared limit tape applies to this DAG" in said(capsys, "t.dag")


def test_a_dag_whose_job_waits(
    dag_directory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (dag_directory / "t.dag.condor.sub").touch()
    monkeypatch.setattr(found_dag, "waiting_job", lambda _: {"ClusterId": 7})
    text = said(capsys, "t.dag")
    assert "DAGMan runs it or will: condor_submit_dag would refuse it" in text
    assert "-force" not in text


def test_part_of_a_dag(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "-choose_only", "B", "--nodes", "t.dag")
    assert "2 nodes are left out: CHOOSE ONLY B\n" in text
    assert "1 node is marked DONE in the DAG and skipped\n" in text
    assert "A: would run\nB: would run\nC: is left out\nD: is done\n" in text
    found = json.loads(said(capsys, "--choose-from", "B,C", "--json", "--nodes", "t.dag"))
    assert (found["done"], found["left_out"], found["to_run"]) == (1, 2, ["B", "C", "F"])


def test_nothing_is_left(dag_directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (dag_directory / "one.dag").write_text("JOB A a.sub DONE\n")
    assert "Nothing would run: all nodes are done\n" in said(capsys, "one.dag")


WITH_PARENT = "JOB A a.sub\nJOB B list.sub\nPARENT A CHILD B\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
@pytest.mark.parametrize(("name", "code"), [("secret", 1), (f"{{\n{ITEMS}\n}}", 0)])
def test_of_a_foreign_dag_no_file_is_read_that_its_owner_can_not(
    dag_directory: Path, capsys: pytest.CaptureFixture[str], name: str, code: int
) -> None:
    (dag_directory / "secret").write_text("top hunter2\n")
    (dag_directory / "secret").chmod(0o600)
    (dag_directory / "t.dag").write_text(f"JOB A {name}\n")
    assert "hunter2" in said(capsys, "t.dag", code=1)  # it would tell its content
    os.chown(dag_directory / "t.dag", 12345, 12345)
    assert "hunter2" not in said(capsys, "t.dag", code=code)


@pytest.mark.parametrize("line", ["include : touch ran |\nqueue", "queue x from touch ran |"])
def test_no_command_is_run(
    dag_directory: Path, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    (dag_directory / "many.sub").write_text(f"executable = /bin/true\n{line}\n")
    text = said(capsys, "t.dag")
    assert "many.sub: 1 node, jobs not counted: the command 'touch ran |' is not run" in text


def test_dags_in_each_other(dag_directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each is described once, though it may be part of itself."""
    for number in range(12):
        lines = [f"SUBDAG EXTERNAL S{node} {number + 1}.dag\n" for node in range(9)]
        (dag_directory / f"{number}.dag").write_text("".join(lines))
    text = said(capsys, "0.dag")
    assert text.count("9.dag, in more than 8 DAGs") == 9
    assert text.count("1.dag, as above") == 8
    (dag_directory / "t.dag").write_text("SUBDAG EXTERNAL S t.dag\n")
    assert "    t.dag, as above" in said(capsys, "t.dag")


def test_what_starts_before_all_others(
    dag_directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nodes that are done are not waited for, wherever they are."""
    dag = "JOB A a.sub\nJOB B a.sub DONE\nJOB C a.sub\nPARENT A CHILD B\nPARENT B CHILD C\n"
    (dag_directory / "t.dag").write_text(dag)
    assert "Order: 1 step, up to 2 nodes in parallel\nFirst: A, C\n" in said(capsys, "t.dag")
    (dag_directory / "t.dag").write_text(f"{dag}PROVISIONER P a.sub\n")
    assert "First: P\n" in said(capsys, "t.dag")


def test_a_dag_that_is_fed(dag_directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (dag_directory / "f.dag").write_text("FEEDER BELOW 3 PROGRAM feed $FEEDING\n")
    assert "FEEDER feed does not exist\n" in said(capsys, "f.dag", code=1)
    (dag_directory / "feed").touch(0o755)
    text = said(capsys, "f.dag")
    assert text.startswith("f.dag: 0 nodes\n")
    assert "FEEDER: feed $FEEDING would run whenever fewer than 3 nodes are left" in text
    assert "Nothing would run" not in text


def test_nodes_of_which_nothing_has_changed(
    dag_directory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (dag_directory / "t.dag").write_text(
        "JOB A a.sub\nJOB B a.sub\nPARENT A CHILD B\nCACHE ALL_NODES\n"
    )
    text = said(capsys, "t.dag", "--nodes")
    assert "CACHE: A: to run: it has never been done\nCACHE: B: to run: its parent A runs" in text
    assert "A: would run: it has never been done\n" in text
    monkeypatch.setattr(cache_outlook, "outlook", lambda dag, path: {0: "", 1: "x"})
    text = said(capsys, "t.dag", "--nodes")
    assert "To run: 1 node with 2 jobs\n" in text
    assert "A: is done already: nothing has changed\n" in text
    told = json.loads(said(capsys, "t.dag", "--json", "--nodes"))
    assert (told["done"], told["unchanged"], told["to_run"]) == (0, 1, ["B"])
    assert told["cached"] == {"A": "", "B": "x"}


def test_conditions_of_nodes_that_are_taken_for_done(
    dag_directory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    edges = "PARENT A CHILD B\nPARENT B CHILD C\n"
    conditions = "RUN_IF B A.ExitCode == 0\nRUN_IF C B.ExitCode == 0\n"
    (dag_directory / "t.dag").write_text(
        f"JOB A a.sub\nJOB B a.sub\nJOB C a.sub\n{edges}{conditions}CACHE A\nCACHE B\n"
    )
    monkeypatch.setattr(cache_outlook, "outlook", lambda dag, path: {0: "", 1: ""})
    assert "Conditions: 1 node with RUN_IF" in said(capsys, "t.dag")


def test_it_leaves_nothing_open(capsys: pytest.CaptureFixture[str]) -> None:
    before = descriptors()
    said(capsys, "t.dag")
    assert not descriptors() - before


def test_a_list_without_an_end(dag_directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (dag_directory / "t.dag").write_text("JOB A a.sub\n")
    (dag_directory / "a.sub").write_text("executable = /bin/true\nqueue f in (\n1\n")
    (line,) = (one for one in said(capsys, "t.dag", code=1).split("\n") if "a.sub" in one)
    assert "a.sub: 1 node, can't be read: line 2, 'queue f in (': Reached end of file" in line
    assert "on line" not in line


@pytest.mark.parametrize(
    ("dag", "code"),
    [
        (WITH_PARENT, 0),
        ("JOB A a.sub\nJOB B list.sub\nSCRIPT PRE B x\n", 0),
        ("JOB A a.sub\nJOB B list.sub\n", 1),
        (WITH_PARENT.replace("a.sub", "a.sub DONE"), 1),
        ("JOB B list.sub\nPROVISIONER P a.sub\n", 0),
    ],
)
def test_a_list_of_items_that_is_missing(
    dag_directory: Path, capsys: pytest.CaptureFixture[str], dag: str, code: int
) -> None:
    (dag_directory / "list.sub").write_text("executable = /bin/true\nqueue f from made.txt\n")
    (dag_directory / "t.dag").write_text(dag)
    text = said(capsys, "t.dag", code=code)
    assert "can't open file made.txt: No such file or directory" in text
    assert ("may still create it" in text) is (code == 0)
