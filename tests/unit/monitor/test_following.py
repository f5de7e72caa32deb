"""Waiting for what happens next."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.errors import PoolError
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.monitor.dag_monitor import ASK_S, DagMonitor, follow
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


def test_a_job_that_leaves_the_queue_before_it_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.dag").write_text("JOB A a.sub\n")
    found = find_dag(str(tmp_path / "t.dag"), ask=False)
    monitor = DagMonitor(found._replace(submitted=50.0, cluster=7))
    answers = iter([{"ClusterId": 7}, {}])
    monkeypatch.setattr(schedd_queries, "queued_dagman_ad", lambda cluster: next(answers))
    slept: list[float] = []
    with pytest.raises(PoolError, match="DAGMan's job 7 has left the queue before it started"):
        list(follow(monitor, slept.append, ASK_S / 3))
    assert len(slept) == 6
