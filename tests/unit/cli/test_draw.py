"""`condor_pydagman draw`, from the command line to the file."""

from __future__ import annotations

import argparse
from pathlib import Path
from xml.dom import minidom

import pytest

from condor_pydagman.cli import draw
from condor_pydagman.errors import FileError, PydagmanError, UsageError
from tests.dag_logs import DagLogs
from tests.unit.picture import dot

DAG = """\
JOB A a.sub
JOB B b.sub
JOB C c.sub
PARENT A CHILD B C
"""
STATUS = """\
[
  Type = "NodeStatus";
  Node = "A";
  NodeStatus = 6; /* "STATUS_ERROR" */
  StatusDetails = "Job proc (3.0.0) failed with status 1";
]
"""


def run(*words: object) -> int:
    parser = argparse.ArgumentParser()
    draw.add_parser(parser.add_subparsers())
    arguments = parser.parse_args(["draw", *map(str, words)])
    code: int = arguments.action(arguments)
    return code


@pytest.fixture
def dag(tmp_path: Path) -> Path:
    dot()
    file = tmp_path / "x.dag"
    file.write_text(DAG)
    return file


@pytest.mark.parametrize("name", ["out.svg", "out.html", "OUT.SVG"])
def test_it_draws_what_the_name_says(
    dag: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    output = dag.parent / name
    assert run(dag, "-o", output) == 0
    text = output.read_text()
    assert text.startswith("<!DOCTYPE html>" if "html" in name else "<svg ")
    assert capsys.readouterr().out == f"{output}: 3 nodes in 3 boxes\n"


def test_without_a_name_it_draws_beside_the_dag(dag: Path) -> None:
    run(dag)
    minidom.parse(str(dag) + ".svg")


def test_states_come_from_a_status_file(dag: Path, tmp_path: Path) -> None:
    status = tmp_path / "x.status"
    status.write_text(STATUS)
    run(dag, "--status", status)
    text = Path(f"{dag}.svg").read_text()
    assert "1 failed" in text
    assert "Job proc (3.0.0) failed with status 1" in text


def test_the_status_file_of_the_dag_is_read_unless_forbidden(dag: Path, tmp_path: Path) -> None:
    dag.write_text(DAG + "NODE_STATUS_FILE x.status\n")
    run(dag)
    assert "1 failed" not in Path(f"{dag}.svg").read_text()
    (tmp_path / "x.status").write_text(STATUS)
    run(dag)
    assert "1 failed" in Path(f"{dag}.svg").read_text()
    run(dag, "--no-status")
    assert "1 failed" not in Path(f"{dag}.svg").read_text()


@pytest.fixture
def logs(dag: Path) -> DagLogs:
    """A has run, B runs."""
    made = DagLogs(dag.parent, dag.name).start()
    made.submit("A", 7)
    made.execute(7)
    made.terminate(7)
    made.submit("B", 8)
    made.execute(8)
    return made


def drawn(dag: Path, *words: object) -> str:
    run(dag, *words)
    return Path(f"{dag}.svg").read_text()


def test_states_come_from_the_logs_of_the_last_run(dag: Path, logs: DagLogs) -> None:
    text = drawn(dag)
    for words in ("1 done", "1 running", "1 ready"):
        assert words in text
    assert "3 waiting" in drawn(dag, "--no-status")


def test_the_status_file_is_for_dags_whose_logs_are_gone_or_huge(
    dag: Path, logs: DagLogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    dag.write_text(DAG + "NODE_STATUS_FILE x.status\n")
    (dag.parent / "x.status").write_text(STATUS)
    assert "1 failed" not in drawn(dag)
    monkeypatch.setattr(draw, "MAX_LOG_BYTES", 100)
    assert "1 failed" in drawn(dag)
    monkeypatch.undo()
    for suffix in (".nodes.log", ".dagman.out"):
        Path(f"{dag}{suffix}").unlink()
    assert "1 failed" in drawn(dag)


def test_what_a_rescue_file_skips_is_drawn_whatever_the_logs_say(dag: Path, logs: DagLogs) -> None:
    rescue = dag.parent / "x.dag.rescue001"
    rescue.write_text("DONE A\nDONE B\n")
    text = drawn(dag, "--rescue", rescue)
    assert "2 done" in text
    assert "1 running" not in text


def test_nodes_of_a_status_file_that_the_dag_lacks_are_told(
    dag: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = tmp_path / "other.status"
    status.write_text(STATUS.replace('"A"', '"Z"'))
    run(dag, "--status", status)
    assert "1 node that the DAG does not have" in capsys.readouterr().err


def test_a_rescue_file_marks_nodes_done(dag: Path, tmp_path: Path) -> None:
    rescue = tmp_path / "x.dag.rescue001"
    rescue.write_text("DONE A\nDONE B\n")
    run(dag, "--rescue", rescue)
    assert "2 done" in Path(f"{dag}.svg").read_text()


def test_more_than_a_few_hundred_nodes_fold(dag: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dag.write_text("".join(f"JOB n{number} x.sub\n" for number in range(400)))
    run(dag)
    assert capsys.readouterr().out.endswith("400 nodes in 1 box\n")
    run(dag, "--fold", 400, "--direction", "LR")
    assert capsys.readouterr().out.endswith("400 nodes in 400 boxes\n")


def test_an_unknown_suffix_is_refused(dag: Path) -> None:
    with pytest.raises(UsageError, match=r"out\.png: .*\.svg or \.html"):
        run(dag, "-o", dag.parent / "out.png")


@pytest.mark.parametrize("number", ["0", "-1", "x", "1000000"])
def test_a_wrong_limit_is_a_wrong_command_line(dag: Path, number: str) -> None:
    with pytest.raises(SystemExit) as caught:
        run(dag, "--fold", number)
    assert caught.value.code == 2


@pytest.mark.parametrize("option", ["--status", "--rescue"])
def test_a_missing_file_is_named(dag: Path, option: str) -> None:
    with pytest.raises(FileError, match=r"can't read the .* file .*absent: No such file"):
        run(dag, option, dag.parent / "absent")


def test_a_wrong_dag_leaves_nothing_behind(dag: Path) -> None:
    dag.write_text("JBO A a.sub\n")
    with pytest.raises(PydagmanError, match="JBO"):
        run(dag)
    assert [path.name for path in dag.parent.iterdir()] == ["x.dag"]


def test_a_dag_without_nodes_is_told(dag: Path) -> None:
    dag.write_text("# nothing\n")
    with pytest.raises(PydagmanError):
        run(dag)


def test_a_place_that_can_not_be_written_is_named(dag: Path) -> None:
    with pytest.raises(FileError, match=r"can't write .*absent/out\.svg: No such file"):
        run(dag, "-o", dag.parent / "absent" / "out.svg")
    (dag.parent / "dir.svg").mkdir()
    with pytest.raises(FileError, match="is a directory"):
        run(dag, "-o", dag.parent / "dir.svg")


def test_a_cycle_is_drawn(dag: Path) -> None:
    dag.write_text(DAG + "PARENT C CHILD A\n")
    assert run(dag) == 0
    assert "part of a cycle" in Path(f"{dag}.svg").read_text()
