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


def test_it_follows_to_the_end(
    logs: DagLogs, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: logs.end(1))
    assert "exit code 1" in lines(capsys, "--follow")[-1]


def test_a_dag_that_was_never_started(logs: DagLogs, capsys: pytest.CaptureFixture[str]) -> None:
    logs.log.with_name("new.dag").write_text("JOB A a.sub\n")
    assert pydagman.main(["tail", "new.dag"]) == 1
    assert "new.dag has not started, or its logs were deleted" in capsys.readouterr().err
