"""Waiting for what happens next."""

from __future__ import annotations

from pathlib import Path

from condor_pydagman.monitor.dag_monitor import DagMonitor
from condor_pydagman.monitor.following import follow
from condor_pydagman.monitor.found_dag import find_dag
from tests.dag_logs import DagLogs


def test_a_dag_is_followed_until_dagman_has_ended(tmp_path: Path) -> None:
    (tmp_path / "t.dag").write_text("JOB A a.sub\n")
    logs = DagLogs(tmp_path)
    steps = [
        logs.start,
        lambda: None,
        lambda: logs.submit("A", 7),
        lambda: logs.terminate(7),
        logs.end,
    ]
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        steps.pop(0)()
        logs.now += 1

    monitor = DagMonitor(find_dag(str(tmp_path / "t.dag"), ask=False))
    told = [[event.name for event in events] for events in follow(monitor, sleep, 2.0)]
    assert told == [
        ["dag.start"],
        ["job.submit", "node.state"],
        ["job.terminate", "node.state"],
        ["dag.end"],
    ]
    assert slept == [2.0] * 5
