"""Two runs compared: what differs, and in which nodes."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.cli import pydagman
from condor_pydagman.follow.run_model import Attempt, NodeRun, Run
from condor_pydagman.report.comparison import NodeTimes, times_of, why
from tests.dag_logs import DagLogs

DAG = "JOB A a.sub\nJOB B a.sub\nPARENT A CHILD B\nRETRY A 1\n"


def a_run(directory: Path, name: str, *, ran: int, fails: bool = False, more: str = "") -> None:
    (directory / name).write_text(DAG + more)
    logs = DagLogs(directory, name).start()
    for cluster in (7, 8) if fails else (8,):
        logs.submit("A", cluster)
        logs.now += 5
        logs.execute(cluster)
        logs.now += ran
        logs.terminate(cluster, value=1 if cluster == 7 else 0)
    logs.submit("B", 9)
    logs.execute(9)
    logs.now += 10
    logs.terminate(9)
    logs.now += 1
    logs.end(0)


def compared(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, list[str]]:
    assert pydagman.main(["report", "--compare", *words]) == 0
    lines = capsys.readouterr().out.splitlines()
    cells = {line[:15].strip(): line[15:].split("  ") for line in lines}
    return {name: [cell.strip() for cell in row if cell] for name, row in cells.items()}


def test_a_slower_run(work_directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a_run(work_directory, "a.dag", ran=60)
    a_run(work_directory, "b.dag", ran=90, fails=True)
    told = compared(capsys, "a.dag", "b.dag")
    assert told["took"] == ["1 min 16 s", "3 min 21 s", "+2 min 5 s"]
    assert told["jobs waited"] == ["5 s", "10 s", "+5 s"]
    assert told["jobs held"] == ["0 s", "0 s", "same"]
    assert told["jobs ran"] == ["1 min 10 s", "3 min 10 s", "+2 min"]
    assert told["attempts"] == ["2", "3", "+1"]
    assert told["failed attempts"] == ["0", "1", "+1"]
    assert told["nodes done"] == ["2", "2", "same"]
    assert told["node A"][-1] == "ran +2 min, waited +5 s, +1 attempts"
    assert "node B" not in told


def test_nodes_that_one_of_the_dags_lacks(
    work_directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_run(work_directory, "a.dag", ran=60, more="JOB X a.sub DONE\n")
    a_run(work_directory, "b.dag", ran=60, more="JOB Y a.sub\nJOB Z a.sub\n")
    told = compared(capsys, "a.dag", "b.dag")
    assert told["nodes only here"] == ["1", "2", "+1"]
    assert told["node X"] == ["0 s, done", "-", "only in A"]
    for node in ("Y", "Z"):
        assert told[f"node {node}"] == ["-", "0 s, not ended", "only in B"]
    assert "node A" not in told


def test_runs_by_number(work_directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a_run(work_directory, "a.dag", ran=60)
    assert compared(capsys, "a.dag:1", "a.dag:-1")["took"][-1] == "same"
    for word in ("a.dag:2", "a.dag:-2"):
        assert pydagman.main(["report", "--compare", word, "a.dag"]) == 1
        assert f"a.dag has 1 run, and no run {word[6:]}" in capsys.readouterr().err


def test_a_node_of_an_earlier_run_is_told_by_its_last_attempt() -> None:
    run, node, last = Run(), NodeRun("A"), Attempt(0)
    run.nodes["A"], node.attempts, last.over = node, (last,), True
    for last.value, status in ((0, "done"), (1, "failed")):
        assert times_of(run, 0.0)["A"] == NodeTimes(attempts=1, failed=last.value, status=status)


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        (NodeTimes(), NodeTimes(), "same"),
        (NodeTimes(ran=9), NodeTimes(ran=2, held=3), "ran -7 s, held +3 s"),
        (NodeTimes(attempts=3), NodeTimes(waited=0.9, attempts=1), "-2 attempts"),
    ],
)
def test_why(one: NodeTimes, other: NodeTimes, words: str) -> None:
    assert why(one._replace(status="done"), other._replace(status="done")) == words
