"""condor_pydagman events: JSON lines of what has happened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.cli import pydagman
from condor_pydagman.monitor import dag_monitor
from tests.dag_logs import DagLogs


@pytest.fixture
def logs(work_directory: Path) -> DagLogs:
    (work_directory / "t.dag").write_text("JOB A a.sub\n")
    made = DagLogs(work_directory).start()
    made.submit("A", 7)
    made.terminate(7, value=3)
    return made


def events(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    assert pydagman.main(["events", *words]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_events_of_the_dag_of_this_directory(
    logs: DagLogs, capsys: pytest.CaptureFixture[str]
) -> None:
    found = events(capsys)
    assert [event["event"] for event in found] == [
        "dag.start", "job.submit", "node.state", "job.terminate", "node.state"
    ]  # fmt: skip
    assert (found[-1]["node"], found[-1]["status"], found[-1]["value"]) == ("A", "ERROR", 3)
    assert events(capsys, "t.dag", "--since", found[2]["id"]) == found[3:]
    assert events(capsys, "--kind", "dag.*", "--kind", "job.submit") == found[:2]


def test_events_are_followed_to_the_end(
    logs: DagLogs, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: logs.end(1))
    assert events(capsys, "--follow")[-1]["event"] == "dag.end"
    assert dag_monitor.INTERVAL_S < 1


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["x.dag"], 1, "there is no DAG file x.dag; DAGs started in this directory: t.dag"),
        (["--since", "3"], 1, "'3' is not the id of an event"),
        (["--kind", "foo"], 2, "there is no event foo; choose one of bundle.end, "),
        (["new.dag"], 1, "new.dag has not started, or its logs were deleted: there is no"),
    ],
)
def test_bad_input(
    logs: DagLogs, capsys: pytest.CaptureFixture[str], words: list[str], code: int, message: str
) -> None:
    logs.log.with_name("new.dag").write_text("JOB A a.sub\n")
    try:
        assert pydagman.main(["events", *words]) == code
    except SystemExit as left:
        assert left.code == code
    found = capsys.readouterr()
    assert message in found.err
    assert found.out == ""
