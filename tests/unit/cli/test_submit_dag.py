"""condor_submit_dag as a whole, up to the point where it needs a pool: what is ours alone.  Command
lines beside stock's are in `tests/contract/test_submit_command_lines.py`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import htcondor2
import pytest

from condor_pydagman.cli.submit_dag import main, submit_silently
from condor_pydagman.dagman_job import submit_to_schedd
from condor_pydagman.dagman_job.condor_sub import old_arguments
from condor_pydagman.dagman_job.options import parse_submit
from condor_pydagman.dagman_job.submit_to_schedd import unused_lines
from condor_pydagman.names import DagPaths
from tests import locks
from tests.waiting import ending

NO_SCHEDD = ["-schedd-address-file", "/nosuch/a", "-schedd-daemon-ad-file", "/nosuch/b"]


@pytest.fixture(autouse=True)
def dag_directory(work_directory: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A work directory with a DAG, and the configuration as it was afterwards."""
    monkeypatch.delenv("CONDOR_CONFIG", raising=False)
    Path("t.dag").write_text("JOB A a.sub\n")
    keep = {
        name: str(htcondor2.param.get(name) or "")
        for name in ("SCHEDD_ADDRESS_FILE", "SCHEDD_DAEMON_AD_FILE")
    }
    yield work_directory
    for name, value in keep.items():
        htcondor2.param[name] = value
    for name in ("DAGMAN_MANAGER_JOB_APPEND_GETENV", "DAGMAN_DISABLE_PORT"):
        htcondor2.param[name] = ""


def prepare(*words: str) -> int:
    return main(["-no_submit", "-dagman", "/opt/condor_dagman", *words])


def written(key: str, name: str = "t.dag") -> str:
    for line in Path(f"{name}.condor.sub").read_text().splitlines():
        if line.split("=")[0].strip() == key:
            return line.partition("=")[2].strip()
    raise AssertionError(key)


def test_the_program_and_the_version_of_htcondor() -> None:
    assert prepare("t.dag") == 0
    assert written("executable") == "/opt/condor_dagman"
    words = old_arguments(Path("t.dag.condor.sub").read_text())
    assert words[words.index("-CsdVersion") + 1] == htcondor2.version()


def test_submit_file_that_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.dag.condor.sub").mkdir()
    assert prepare("-update_submit", "t.dag") == 1
    err = capsys.readouterr().err
    assert err.startswith("ERROR: ")
    assert "t.dag.condor.sub" in err


def test_bad_dag_line_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.dag").write_text("JOB A s\nCONFIG a b\n")
    assert prepare("t.dag") == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "ERROR: t.dag:2 Failed to parse CONFIG command: Unexpected token 'b'"
    assert "    CONFIG a b" in lines


def test_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-foo", "t.dag"]) == 1
    out, err = capsys.readouterr()
    assert err == "Error: Unknown flag '-foo' provided\n"
    assert out == "condor_submit_dag -help shows all options\n"
    assert main(["t.dag", "-force"]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    assert out == (
        "ERROR: no arguments allowed after DAG file name(s)\n"
        "condor_submit_dag -help shows all options\n"
    )
    assert main(["-maxidle", "abc", "t.dag"]) == 1
    assert len("".join(capsys.readouterr()).splitlines()) == 2


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-help"]) == 0
    assert capsys.readouterr().out.startswith("Usage: ")
    assert main(["-version"]) == 0
    assert capsys.readouterr().out.startswith("$CondorVersion: ")


def test_no_schedd(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*NO_SCHEDD, "-dagman", "/bin/true", "t.dag"]) == 1
    out, err = capsys.readouterr()
    assert "submitted to cluster" not in out
    assert err.startswith("ERROR: Can't find address of local schedd")
    assert err.endswith("ERROR: condor_submit failed; aborting.\n")
    assert "-schedd-address-file" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["-append", "a = 1", "-append", "garbage"],
            "ERROR: on Line 21 of t.dag.condor.sub: garbage",
        ),
        (["-append", "garbage"], "ERROR: Failed to parse command file (line 20)."),
        (["-dagman", "/none/such"], "ERROR: Can't access executable file /none/such: No such file"),
        (
            ["-append", "executable = none"],
            "ERROR: Can't access executable file none: No such file",
        ),
        (["-remote", "a@b"], "ERROR: Can't find address of schedd a@b"),
    ],
)
def test_what_is_wrong_is_found_before_any_file_is_touched(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["t.dag.condor.sub", "t.dag.lib.out", "t.dag.rescue001", "t.dag.halt"]
    for name in names:
        Path(name).write_text("old")
    assert main([*NO_SCHEDD, "-dagman", "/bin/true", "-force", *words, "t.dag"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.endswith("ERROR: condor_submit failed; aborting.\n")
    assert [Path(name).read_text() for name in names] == ["old"] * 4


@pytest.mark.parametrize(
    ("text", "mode", "message"),
    [
        ("#!/none/bin/python\n", 0o755, "what it is to be run by, /none/bin/python, is not there"),
        ("#!/bin/sh\n", 0o644, "it is not executable"),
        ("#!\n", 0o755, ""),
        ("#! /bin/sh -e\n", 0o755, ""),
        ("", 0o755, ""),
    ],
)
def test_a_condor_dagman_that_cannot_run(
    text: str, mode: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """An installation that was moved, say."""
    Path("d").write_text(text)
    Path("d").chmod(mode)
    assert main([*NO_SCHEDD, "-dagman", "./d", "t.dag"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("ERROR: Can't access executable file ./d: " + message if message
                          else "ERROR: Can't find address of local schedd")  # fmt: skip
    assert not Path("t.dag.condor.sub").exists()


def test_a_full_queue_is_told_with_its_knob() -> None:
    said = "expected next ProcId to be 0, but Schedd says -3"
    text = str(submit_to_schedd._refused(said, DagPaths("t.dag")))
    assert text.startswith("ERROR: The schedd's queue is full: MAX_JOBS_PER_OWNER allows you no")
    assert "condor_submit t.dag.condor.sub submits the DAG later" in text


def test_valgrind(dag_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(dag_directory))
    assert prepare("-valgrind", "t.dag") == 1
    (dag_directory / "valgrind").write_text("")
    (dag_directory / "valgrind").chmod(0o755)
    assert prepare("-valgrind", "t.dag") == 0
    assert written("executable") == f"{dag_directory}/valgrind"
    words = "--tool=memcheck --leak-check=yes --show-reachable=yes /opt/condor_dagman -f -l . "
    assert written("arguments").startswith(f'"{words}')


def test_silently_nothing_goes_to_the_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    job = submit_to_schedd.Job(7, 1)
    monkeypatch.setattr(submit_to_schedd, "prepare_submit", lambda *_: None)
    monkeypatch.setattr(submit_to_schedd, "submit", lambda *_: job)
    Path("t.dag.rescue001").write_text("")
    assert submit_silently(parse_submit(["-dagman", "/bin/true", "t.dag"])) == 7
    assert capsys.readouterr() == ("", "Running rescue DAG 1\n")


def test_unused_lines_are_warned_of() -> None:
    lines = ["foo = 1", "b = $(c)", "c=2", "priority = 3", "request_x = 4", "My.y = 5", "+z = 6"]
    assert unused_lines(lines) == [
        "WARNING: the line 'foo = 1' was unused by condor_submit. Is it a typo?",
        "WARNING: the line 'b = $(c)' was unused by condor_submit. Is it a typo?",
        "WARNING: the line 'c = 2' was unused by condor_submit. Is it a typo?",
    ]
    assert unused_lines([]) == []


@pytest.mark.parametrize("named", ["", "nosuch", "."])
def test_a_configuration_that_is_not_there(
    named: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CONDOR_CONFIG", named)
    assert prepare("t.dag") == 1
    assert f"CONDOR_CONFIG names '{named}'" in capsys.readouterr().err
    assert not Path("t.dag.condor.sub").exists()


def test_file_name_that_is_no_text() -> None:
    Path("\udcff.dag").write_text("JOB A s\n")
    assert prepare("\udcff.dag") == 0
    assert Path("\udcff.dag.condor.sub").exists()


def test_lines_of_a_file(dag_directory: Path) -> None:
    Path("a").write_bytes(b"  x = 1\r\ny = 2 \\\n# no\n 3\n\n z\x0cz \nlast \\\n")
    assert prepare("-insert_sub_file", "a", "t.dag") == 0
    assert (
        Path("t.dag.condor.sub")
        .read_bytes()
        .endswith(b'"\nx = 1\ny = 2 3\n\nz\x0cz\nlast \nqueue\n')
    )


@pytest.mark.parametrize("text", ["Queue 2", "x = 1\nQueue 2", "if true\nx = 1\n\tQueue 2\nendif"])
def test_a_queue_among_the_added_lines_is_refused(
    capsys: pytest.CaptureFixture[str], text: str
) -> None:
    """It would start DAGMan more than once for one DAG."""
    assert prepare("-append", text, "t.dag") == 1
    assert "'Queue 2' can't be added" in capsys.readouterr().err
    assert not Path("t.dag.condor.sub").exists()


def test_a_queue_of_two_added_lines_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert prepare("-append", "if true", "-append", "queue\nendif", "t.dag") == 1
    assert "'queue' can't be added" in capsys.readouterr().err
    assert prepare("-append", "ite\\\nrate 2", "t.dag") == 1
    assert "can't be added" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["x = 1\ny = queue", "x = 1 \\\nqueue 2", "x = \\", "iter = 3"])
def test_a_line_that_resembles_queue_is_accepted(text: str) -> None:
    assert prepare("-append", text, "t.dag") == 0
    assert Path("t.dag.condor.sub").read_text().endswith(f"{text}\nqueue\n")


def test_a_file_without_end_is_not_inserted(capsys: pytest.CaptureFixture[str]) -> None:
    with ending("the insertion of a file without end"):
        assert prepare("-insert_sub_file", "/dev/zero", "t.dag") == 1
    assert "submit append file /dev/zero (there is a NUL" in capsys.readouterr().err
    os.mkfifo("endless")
    writer = subprocess.Popen(["sh", "-c", "exec yes >endless"], stderr=subprocess.DEVNULL)
    with writer, ending("the insertion of a pipe without end"):
        assert prepare("-insert_sub_file", "endless", "t.dag") == 1
    assert "endless (more than 16,777,216 bytes)" in capsys.readouterr().err


def test_what_a_command_prints_can_be_inserted() -> None:
    """A shell's `-insert_sub_file <(command)`."""
    os.mkfifo("pipe")
    with subprocess.Popen(["sh", "-c", "echo x = 1 >pipe"]):
        assert prepare("-insert_sub_file", "pipe", "t.dag") == 0
    assert Path("t.dag.condor.sub").read_text().endswith("x = 1\nqueue\n")


def test_recursion_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.dag").write_text("SUBDAG EXTERNAL A u.dag\nENV SET OUTER=1\n")
    Path("u.dag").write_text("JOB A a.sub\n")
    assert prepare("-do_recurse", "-maxjobs", "3", "t.dag") == 0
    out = capsys.readouterr().out
    assert out.startswith(
        "Recursive submit command: <condor_submit_dag -no_submit -update_submit"
        " -dagman /opt/condor_dagman -AutoRescue 1 -do_recurse u.dag>\n"
    )
    assert out.index("u.dag.condor.sub") < out.index("t.dag.condor.sub")
    assert "-MaxJobs 3" in written("arguments")
    assert "-MaxJobs" not in written("arguments", "u.dag")
    assert "OUTER" not in written("environment", "u.dag")


@pytest.mark.parametrize("word", ["t.dag", "-version"])
def test_without_bindings(
    word: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "htcondor2", None)
    assert prepare(word) == 1
    assert capsys.readouterr().err.endswith("; to install them: pip install htcondor\n")
    assert not Path("t.dag.condor.sub").exists()


QUICK = """\
import sys
import time
from condor_pydagman.cli.submit_dag import main, submit_silently
code = main(["-no_submit", "-dagman", "/opt/condor_dagman", "t.dag"])
slow = ["argparse", "ast", "asyncio", "dataclasses", "difflib", "importlib.metadata", "inspect",
        "json", "logging", "shutil", "tempfile",
        "condor_pydagman.language.parser", "condor_pydagman.graph", "condor_pydagman.engine",
        "condor_pydagman.daemon",
        "condor_pydagman.dagman_job.submit_to_schedd"]
print([name for name in slow if name in sys.modules])
sys.exit(code)
"""


def test_a_small_dag_imports_little() -> None:
    """People wait for this command: what takes long to import must be needed."""
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run(
        [sys.executable, "-c", QUICK], env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "[]"


LEAVE = """\
import sys
import time
from condor_pydagman.cli.submit_dag import run_and_leave
sys.argv = ["condor_submit_dag", "-no_submit", "-dagman", "/opt/condor_dagman", *sys.argv[1:]]
run_and_leave()
"""


@pytest.mark.parametrize("where", [">/dev/full", ">&-", "2>/dev/full", "2>&-", "| true", ""])
@pytest.mark.parametrize("words", ["t.dag", "-force t.dag", "-foo t.dag"])
def test_closed_outputs_do_not_stop_the_submission(where: str, words: str) -> None:
    root = Path(__file__).resolve().parents[3]
    code = "${PIPESTATUS[0]}"
    done = subprocess.run(
        ["bash", "-c", f'"$0" -c "$1" {words} {where}; exit {code}', sys.executable, LEAVE],
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    wrong = "-foo" in words
    assert done.returncode == int(wrong), done.stderr
    assert "Traceback" not in done.stderr
    assert Path("t.dag.condor.sub").exists() is not wrong
    if not where:
        assert "t.dag.condor.sub" in done.stdout or wrong


OF_42 = "42\nrescue 0\n"  # what the lock file of job 42 says


def listing() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.mark.parametrize("line", ["-f t.dag", "t.dag", "-update_submit t.dag", "-f -do_re t.dag"])
@pytest.mark.parametrize("rescue", [False, True])
def test_a_dag_that_runs_is_left_alone(
    line: str, rescue: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its log would go, its halt file and its rescue file, for a DAGMan that dies at the lock."""
    Path("t.dag").write_text("SUBDAG EXTERNAL A in.dag\n")
    Path("in.dag").write_text("JOB A a.sub\n")
    for suffix in ("condor.sub", "dagman.log", "lib.out", "lib.err", "halt"):
        Path(f"t.dag.{suffix}").write_text("of the run\n")
    if rescue:
        Path("t.dag.rescue001").write_text("DONE A\n")
    with locks.held("t.dag.lock", OF_42):
        before = listing()
        assert prepare(*line.split()) == 1
        assert main(line.split()) == 1
        assert listing() == before
    out, err = capsys.readouterr()
    assert out == ""
    assert "ERROR: DAGMan is running t.dag (as job 42; see t.dag.lock)" in err
    assert "condor_rm 42" in err


def test_one_that_crashed_is_submitted_again() -> None:
    with locks.held("t.dag.lock", OF_42):
        pass
    assert Path("t.dag.lock").exists()
    assert prepare("-f", "t.dag") == 0
    assert Path("t.dag.condor.sub").exists()


def test_a_sub_dag_that_runs_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    Path("d").mkdir()
    Path("t.dag").write_text("SUBDAG EXTERNAL A in.dag DIR d\n")
    Path("d/in.dag").write_text("JOB A a.sub\n")
    Path("d/in.dag.dagman.log").write_text("of the run\n")
    with locks.held("d/in.dag.lock", "0\nrescue 0\n") as dagman:
        before = listing()
        assert prepare("-f", "-do_recurse", "t.dag") == 1
        assert listing() == before
    err = capsys.readouterr().err
    assert f"DAGMan is running in.dag (as process {dagman.pid}; see in.dag.lock)" in err
