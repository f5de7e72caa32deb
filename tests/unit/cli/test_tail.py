"""condor_pydagman tail: what has happened last, for people."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.cli import pydagman
from tests.dag_logs import DagLogs


@pytest.fixture
def logs(work_directory: Path) -> DagLogs:
    (work_directory / "t.dag").write_text("JOB A a.sub\n")
    made = DagLogs(work_directory).start()
    made.submit("A", 7)
    made.execute(7)
    return made


def lines(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert pydagman.main(["tail", *words, "t.dag"]) == 0
    return capsys.readouterr().out.splitlines()


def test_the_last_events(logs: DagLogs, capsys: pytest.CaptureFixture[str]) -> None:
    *_, last = told = lines(capsys)
    assert last.endswith("A: job 7.0 runs on slot1@one")
    assert lines(capsys, "-n", "2") == told[-2:]
    assert lines(capsys, "--kind", "job.execute", "-n", "5") == [last]
    assert lines(capsys, "-n", "0") == []


def test_a_failure(logs: DagLogs, capsys: pytest.CaptureFixture[str]) -> None:
    logs.terminate(7, value=3)
    logs.end(1)
    *_, state, end = (line[21:] for line in lines(capsys))
    assert (state, end) == ("A: SUBMITTED -> ERROR, exit code 3", "DAGMan ended, exit code 1")


def test_it_follows_to_the_end(
    logs: DagLogs, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: logs.end(1))
    assert "exit code 1" in lines(capsys, "--follow")[-1]


def test_a_dag_that_was_never_started(logs: DagLogs, capsys: pytest.CaptureFixture[str]) -> None:
    logs.log.with_name("new.dag").write_text("JOB A a.sub\n")
    assert pydagman.main(["tail", "new.dag"]) == 1
    assert "new.dag has not started, or its logs were deleted" in capsys.readouterr().err
