"""The command condor_dag_checker, as far as `tests/contract/test_checker_command_lines.py` and the
corpus do not compare it with the stock tool."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from condor_pydagman.adapters import knobs
from condor_pydagman.cli.dag_checker import json_text, main, parse_checker
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.errors import UsageError
from condor_pydagman.lint.lint_world import DiskWorld

pytestmark = pytest.mark.usefixtures("work_directory")


DIAMOND = "JOB A a\nJOB B b\nJOB C c\nJOB D d\nPARENT A CHILD B C\nPARENT B C CHILD D\n"


def run(
    capsys: pytest.CaptureFixture[str],
    text: str,
    *options: str,
    files: tuple[str, ...] = ("t.dag",),
) -> tuple[int, str]:
    Path("t.dag").write_text(text)
    code = main([*options, *files])
    return code, capsys.readouterr().out


def test_statistics(capsys: pytest.CaptureFixture[str]) -> None:
    text = DIAMOND + "FINAL F f\nSERVICE S s\nPROVISIONER P p\nSUBDAG EXTERNAL X x\n"
    expected = """\
=== t.dag statistics ===
FinalNode = "F"
GraphHeight = 3
GraphWidth = 2
NumArcs = 4
NumNodes = 4
NumServiceNodes = 1
NumSubDAGs = 1
ProvisionerNode = "P"
TotalNodes = 8
WidthByDepth = { 2,2,1 }

"""
    assert run(capsys, text, "-stat") == (0, expected)


def test_bytes_that_are_not_utf_8() -> None:
    assert json.loads(json_text({"a": "x\udcff"})) == {"a": "x\ufffd"}


def test_use_dag_dir(capsys: pytest.CaptureFixture[str], work_directory: Path) -> None:
    (work_directory / "d").mkdir()
    (work_directory / "d" / "s.dag").write_text("JOB X x\n")
    (work_directory / "d" / "t.dag").write_text("SPLICE S s.dag\n")
    assert main(["d/t.dag"]) == 1
    assert main(["-UseDagDir", "d/t.dag"]) == 0
    assert run(capsys, DIAMOND, "-usedagdir")[0] == 0


@pytest.mark.parametrize("argument", ["-help", "-h", "-HEL", "--help"])
def test_help(capsys: pytest.CaptureFixture[str], argument: str) -> None:
    assert main([argument]) == 0
    assert capsys.readouterr().out.startswith("Usage: condor_dag_checker [options]")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-json",), "ERROR: No DAG file(s) provided for linting."),
        (("-foo", "t.dag"), "ERROR: Unknown command line option '-foo'"),
        (("-sta", "t.dag"), "ERROR: Unknown command line option '-sta'"),
        (("-checkjd", "t.dag"), "ERROR: Unknown command line option '-checkjd'"),
        (("--", "t.dag"), "ERROR: Invalid option '--' provided"),
        (("",), "ERROR: Invalid option '' provided"),
    ],
)
def test_command_lines_that_are_wrong(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str
) -> None:
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert shown.err == message + "\n"
    assert shown.out.startswith("condor_dag_checker -help shows")


def test_options() -> None:
    options = parse_checker(["-CheckExt", "a", "-nojoin", "--STRICT", "b", "-allow"])
    outline = options.outline()
    assert options.files == ["a", "b"]
    assert outline.check_descriptions
    assert outline.check_scripts
    assert outline.check_subdags
    assert outline.strict
    assert outline.allow_illegal_chars
    assert not outline.use_join_nodes
    with pytest.raises(UsageError):
        parse_checker(["-lint", "-stat", "a"])


def test_lint_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    text = "JOB A {\nexecutable = /bin/true\n}\nRETRY A 0\nPRE_SKIP A 1\n"
    expected = """\
t.dag:4:7: info DAG405: RETRY 0 of node A
    RETRY A 0
          ^
    remove the line
t.dag:5:10: warning DAG404: node A has PRE_SKIP 1, but no PRE script
    PRE_SKIP A 1
             ^
    add a SCRIPT PRE line, or remove PRE_SKIP
"""
    code, output = run(capsys, text, "-lint")
    shown, _, summary = output.rstrip("\n").rpartition("\n")
    assert expected in shown + "\n"
    assert code == 0
    assert summary.endswith("1 info")
    assert run(capsys, text, "-lint", "-strict")[0] == 1
    assert run(capsys, "FOO\n", "-lint")[0] == 1


def test_an_allocation_that_cannot_be_made(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the modules and capacities of this machine."""
    directory = tmp_path / "modules"
    directory.mkdir()
    settings = Settings(module_directories=(str(directory),), capacities=(("nest", 1000),))
    monkeypatch.setattr(
        "condor_pydagman.data_requests.settings.settings_of", lambda config, lookup: settings
    )
    (tmp_path / "in.dap").write_text("dap_type = allocate\ndest_host = nest\n")
    code, output = run(capsys, "DATA in in.dap\n", "-lint")
    assert (code, "DAG314" in output) == (0, True)
    for host, size, reason in (("nest", 2000, "more than all of nest"), ("far", 1, "no space of")):
        (tmp_path / "in.dap").write_text(
            f'dap_type = allocate\ndest_host = {host}\nsize = "{size} B"\n'
        )
        assert reason in run(capsys, "DATA in in.dap\n", "-lint")[1]
    (tmp_path / "in.dap").write_text("dap_type = allocate\ndest_host = nest\n")
    module = directory / "stork.allocate.nest"
    module.write_text("#!/bin/sh\n")
    module.chmod(0o755)
    assert "DAG314" not in run(capsys, "DATA in in.dap\n", "-lint")[1]


def test_lint_shows_a_few_of_many(capsys: pytest.CaptureFixture[str]) -> None:
    nodes = "".join(f"JOB n{n} gone.sub NOOP\nRETRY n{n} 0\n" for n in range(300))
    output = run(capsys, nodes, "-lint")[1]
    assert output.count("info DAG405") == 5
    assert "and 295 more of DAG405" in output
    report = json.loads(run(capsys, nodes, "-lint", "-json")[1])
    assert report["Counts"]["DAG405"] == 300
    assert len([one for one in report["Findings"] if one["Code"] == "DAG405"]) == 100


def test_lint_shows_every_line_that_can_not_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    output = run(capsys, "".join(f"JOB n{n}\n" for n in range(60)), "-lint")[1]
    assert output.count("error DAG101") == 50
    assert "and 10 more of DAG101" in output


def test_lint_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, output = run(capsys, "JOB A gone.sub\n", "-json", "-lint")
    report = json.loads(output)
    (finding,) = (one for one in report["Findings"] if one["Code"] == "DAG301")
    assert (code, report["Version"], report["NumErrors"]) == (1, 1, 1)
    assert finding == {
        "Code": "DAG301",
        "Severity": "error",
        "Title": "a submit file that does not exist",
        "Message": "submit file gone.sub of node A does not exist",
        "Hint": "check its name and the node's DIR",
        "SourceFile": "t.dag",
        "SourceLine": 1,
        "SourceColumn": 5,
        "SourceText": "JOB A gone.sub",
        "Node": "A",
    }


SLOW = {"argparse", "dataclasses", "htcondor2", "inspect", "json"}
SLOW |= {"shutil", "socket", "tempfile"}


def test_what_is_slow_to_load_is_not_loaded() -> None:
    Path("t.dag").write_text(DIAMOND)
    program = (
        "import sys; from condor_pydagman.cli.dag_checker import main; main(['t.dag']);"
        "print(*sys.modules)"
    )
    root = str(Path(__file__).resolve().parents[3])
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        env={"PYTHONPATH": root},
        capture_output=True,
        text=True,
    )
    assert not SLOW & set(done.stdout.split())


@pytest.mark.parametrize("last", ["RETRY ALL_NODES 3", "VARS ALL_NODES a=1", "JOB Z z.sub DONE"])
def test_remarks_among_many_simple_lines(last: str, work_directory: Path) -> None:
    jobs = "".join(f"# node {n}\nJOB N{n} a.sub\n" for n in range(40))
    (work_directory / "many.dag").write_text(f"# hello\n{jobs}{last}\n")
    assert main(["many.dag"]) == 0


def test_the_caret_is_under_the_word_on_an_indented_or_continued_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = "JOB A a.sub\n    RETRY A 3 FOO\n  RETRY \\\n    Z 1\n   CATEGORY A c\n"
    _, out = run(capsys, text, "-lint")
    assert "t.dag:2:15: error DAG101" in out
    assert "    RETRY A 3 FOO\n              ^\n" in out
    Path("a.sub").write_text("executable = /bin/true\nqueue\n")
    _, out = run(capsys, "JOB A a.sub\n   CATEGORY A c\n", "-lint")
    assert "t.dag:2:13: " in out
    assert "    CATEGORY A c\n             ^\n" in out


def test_a_working_directory_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert DiskWorld().absolute("../x.dag") == "../x.dag"


UNREADABLE = {
    "if a && b\nendif": "line 2, 'if a && b': this is not a condition",
    "junk": "line 2, 'junk': expected `NAME = VALUE`",
    "x @=end\n 1": "line 2, 'x @=end': a line `@end`",
}


@pytest.mark.parametrize("text", UNREADABLE)
def test_which_line_of_a_description_is_wrong(text: str, capfd: pytest.CaptureFixture[str]) -> None:
    told = DiskWorld().unreadable(f"executable = a\n{text}\n", "")
    assert told.startswith(UNREADABLE[text])
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "text", ["if version >= 8.1.6\nendif", "if $(flag) && b\nendif", "include : touch ran |\njunk"]
)
def test_what_can_be_read_or_only_when_it_runs(text: str) -> None:
    assert DiskWorld().unreadable(f"executable = a\n{text}\n", "") == ""
    assert not Path("ran").exists()


def test_an_included_file_that_is_not_there(work_directory: Path) -> None:
    Path("there").write_text("x = 1\ninclude : inner\n")
    for text, missing in (
        ("include : gone\nqueue\n", "gone"),
        ("include : there\nqueue\n", "inner"),
        ("if false\ninclude : gone\nendif\nqueue\n", ""),
        ("include : touch ran |\ninclude : gone\nqueue\n", ""),
    ):
        Path("x.sub").write_text(f"executable = /bin/true\n{text}")
        world = DiskWorld()
        assert world.unfollowed(world.read_text("x.sub"), "", "x.sub")[1] == missing


def test_why_a_condition_is_wrong(capfd: pytest.CaptureFixture[str]) -> None:
    assert DiskWorld().reading("executable = a\nif a && b\nendif\n", "", "x").problem == (
        "Failed to parse to queue line: a && b is not a valid if condition because complex"
        " conditionals are not supported"
    )
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("initialdir = gone", "Submit:-1:No such directory: {here}/gone"),
        ("iwd = gone", "Submit:-1:No such directory: {here}/gone"),
        ("iwd = .", ""),
        ("initialdir = $(unknown)", ""),
        ("x509userproxy = gone", "Submit:-1:unable to read proxy file"),
        (
            'arguments = "a b',
            'Submit:-1:Unterminated double-quote.\nThe full arguments you specified were: "a b',
        ),
        (
            'environment = "a b"',
            "Submit:-1:ERROR: Missing '=' after environment variable 'a'."
            "\nThe environment you specified was: '\"a b\"'",
        ),
        ("+foo = (a", "Submit:-1:Parse error in expression: \n\tfoo = (a\n\t"),
        ("request_gpus = 1G", "Submit:-1:Parse error in expression: \n\tRequestGPUs = 1G\n\t"),
        ('+foo = "a"\nrequest_memory = 1.5 Gb', ""),
        ("universe = docker", "Submit:-1:docker jobs require a docker_image"),
    ],
)
def test_values_that_check_jdl_refuses(line: str, said: str, work_directory: Path) -> None:
    """In the words of stock."""
    text = f"executable = /bin/true\n{line}\nqueue\n"
    reading = DiskWorld().reading(text, "", "x")
    assert reading.problem == said.format(here=work_directory)
    assert not any("iwd" in one for one in reading.warnings)


def test_what_lint_does_not_follow_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "real").touch()
    (tmp_path / "link").symlink_to("real")
    description = "executable = /bin/true\n{}\nqueue\n"
    for line, why in (
        ("include command : touch ran", "the command 'touch ran' is not run"),
        ("queue a from touch ran |", "the command 'touch ran |' is not run"),
        ("include : link", "link is not read: it is not a regular file"),
    ):
        (tmp_path / "a.sub").write_text(description.format(line))
        code, output = run(capsys, "JOB A a.sub\nJOB B a.sub\n", "-lint")
        told = f"t.dag:1:5: info DAG317: submit file a.sub of node A is not checked in full: {why}"
        assert (code, output.count("DAG317"), told in output) == (0, 1, True), output
    code, output = run(capsys, "JOB A {\ninclude command : touch ran\n}\n", "-lint")
    assert "info DAG317: the description of node A is not checked in full" in output
    assert not (tmp_path / "ran").exists()


def test_a_submit_file_that_the_owner_of_the_dag_may_not_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(world: DiskWorld, path: str) -> str:
        if path == "a.sub":
            raise PermissionError(13, "the owner of the DAG may not read it", path)
        return Path(path).read_text(encoding="utf-8")

    monkeypatch.setattr(DiskWorld, "read_text", refuse)
    (tmp_path / "a.sub").touch()
    code, output = run(capsys, "JOB A a.sub\n", "-lint")
    told = "info DAG317: submit file a.sub of node A is not checked: the owner of the DAG may not"
    assert (code, told in output) == (0, True), output


def test_limits_that_lint_looks_up(
    capsys: pytest.CaptureFixture[str], work_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(work_directory))
    monkeypatch.setattr(knobs, "set_subsystem", lambda name: None)  # of this whole process
    own = work_directory / ".condor" / "pydagman_limits"
    own.parent.mkdir()
    own.write_text("tape = JOBS 2\n")
    Path("a.sub").write_text("executable = /bin/true\nqueue\n")
    for limit, code in ("tape", 0), ("tap", 1):
        Path("x.dag").write_text(f"JOB A a.sub\nSHARED_LIMIT {limit} NODES A\n")
        assert main(["-lint", "x.dag"]) == code
        assert ("did you mean tape?" in capsys.readouterr().out) is bool(code)
