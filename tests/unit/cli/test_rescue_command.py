"""condor_pydagman rescue: what the rescue files of a DAG say."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from condor_pydagman.cli import pydagman
from tests.dag_logs import DagLogs

RESCUE = """\
# Rescue DAG file, created after running
# Total number of Nodes: 3
# Nodes premarked DONE: 1
# Nodes that failed: 2
#   B,
#   C d,<ENDLIST>

DONE A
RETRY B 2
"""


@pytest.fixture(autouse=True)
def rescue_directory(work_directory: Path) -> Path:
    (work_directory / "t.dag").write_text("JOB A a.sub\nJOB B a.sub\nJOB C a.sub\n")
    (work_directory / "t.dag.rescue001").write_text("DONE A\nDONE X\n")
    (work_directory / "t.dag.rescue003").write_text(RESCUE)
    os.utime(work_directory / "t.dag", (1, 1))
    return work_directory


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert pydagman.main(["rescue", *words]) == code
    found = capsys.readouterr()
    return found.err if code else found.out


def test_the_newest(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "t.dag", "--nodes")
    assert "t.dag.rescue003: written " in text
    assert ", the newest of 2\n" in text
    assert "1 of 3 nodes are done and would be skipped, 2 would run\n" in text
    assert "Failed: B, C d\n" in text
    assert "Retries left: B 2\n" in text
    assert "To run the rest: condor_pydagman run t.dag\n" in text
    assert "A: is done\nB: failed\nC: would run\n" in text
    assert "has been changed" not in text


def test_service_nodes_are_not_counted(
    rescue_directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open("t.dag", "a") as file:
        file.write("SERVICE S s.sub\n")
    assert "1 of 3 nodes are done and would be skipped, 2 would run\n" in said(capsys, "t.dag")


@pytest.mark.parametrize("words", [["t.dag", "--number", "1"], ["t.dag.rescue001"]])
def test_an_older_one_with_a_node_that_the_dag_does_not_have(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    text = said(capsys, *words)
    assert ", not the newest of 2\n" in text
    assert "The DAG has no node X: DAGMan would refuse this rescue file\n" in text
    assert "condor_pydagman run -DoRescueFrom 1 t.dag\n" in text


def test_as_json(rescue_directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(said(capsys, "t.dag", "--json"))
    assert found["numbers"] == [1, 3]
    assert (found["number"], found["nodes"], found["done"]) == (3, 3, ["A"])
    assert (found["failed"], found["retries"]) == (["B", "C d"], {"B": 2})


def test_a_dag_that_has_changed_or_is_gone(
    rescue_directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.utime(rescue_directory / "t.dag")
    os.utime(rescue_directory / "t.dag.rescue003", (1, 1))
    assert "t.dag has changed since" in said(capsys, "t.dag")
    (rescue_directory / "t.dag.dagman.out").touch()
    (rescue_directory / "t.dag").unlink()
    assert "the DAG itself can't be read" in said(capsys, "t.dag")


def test_bad_input(rescue_directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "t.dag has no rescue file 7; there are: 1, 3" in said(
        capsys, "t.dag", "--number", "7", code=1
    )
    (rescue_directory / "u.dag").write_text("JOB A a.sub\n")
    assert "u.dag has no rescue file: DAGMan writes one when" in said(capsys, "u.dag", code=1)
    (rescue_directory / "t.dag.rescue003").write_text("JOB X x\n")
    assert "RETRY, VARS, PRIORITY" in said(capsys, "t.dag", code=1)


def test_a_later_run_has_succeeded(
    rescue_directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = DagLogs(rescue_directory).start()
    logs.end(0)
    # the rescue file is of that run: ABORT-DAG-ON with RETURN 0, or a FINAL node that succeeds
    assert "To see why" in said(capsys, "t.dag")
    os.utime("t.dag.rescue003", (1, 1))
    text = said(capsys, "t.dag")
    assert "A later run of t.dag succeeded; a new run uses the file all the same\nTo run" in text
    assert "To see why" not in text
