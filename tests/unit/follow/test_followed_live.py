"""Who follows a DAG as its logs grow is told the same as who reads them in the end; and who goes on
behind any event is told what comes after it, once.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from condor_pydagman.adapters.local_time import logged_minute
from condor_pydagman.follow.dag_events import DagEvent
from condor_pydagman.follow.local_times import LocalTimes
from condor_pydagman.follow.nodes_log import log_events
from condor_pydagman.monitor.dag_monitor import DagMonitor
from condor_pydagman.monitor.found_dag import FoundDag, find_dag
from condor_pydagman.monitor.plan import known_plan
from condor_pydagman.records.dagman_out import OutKind, out_lines
from tests.old_runs.runs import all_runs, lay_out

LOG, OUT = "t.dag.nodes.log", "t.dag.dagman.out"
# Their `.dagman.out` has more runs than one, of which the nodes log has the last alone.
RUNS = [kept for kept in all_runs() if kept.name not in ("cached", "rescued")]


@pytest.mark.parametrize("kept", RUNS, ids=lambda kept: f"{kept.parent.name}-{kept.name}")
def test_followed_live(kept: Path, work_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDOR_CONFIG", os.devnull)
    monkeypatch.chdir(work_directory)
    lay_out(kept, work_directory)
    rng, found = Random(kept.name), find_dag("t.dag", ask=False)
    expected = read_on(monitor_of(found))
    logs = {name: Path(name).read_bytes() for name in (LOG, OUT)}
    told: list[DagEvent] = []
    monitor = None
    for parts in steps(rng, logs):
        for name, size in parts.items():
            Path(name).write_bytes(logs[name][:size])
        monitor = monitor or monitor_of(found)
        told += read_on(monitor)
    assert Counter(map(plain, told)) == Counter(map(plain, expected))
    for index in rng.sample(range(len(told)), min(len(told), 5)):
        rest = read_on(monitor_of(found, told[index].id))
        assert Counter(map(plain, rest)) == Counter(map(plain, told[index + 1 :]))


def steps(rng: Random, logs: dict[str, bytes]) -> list[dict[str, int]]:
    """How far each log is there, again and again; lines come when what they follow from has."""
    times = LocalTimes(logged_minute, 2026)
    events = [(one.time, one.end) for one in log_events(logs[LOG], 0, times)]
    lines = [(one.time + 1, one.end) for one in out_lines(logs[OUT], 0, times.seconds)]
    begin, end = (choose(time for time, _ in events + lines) for choose in (min, max))
    moments = sorted(rng.uniform(begin, end) for _ in range(8))
    found: list[dict[str, int]] = []
    begun = (one.end for one in out_lines(logs[OUT], 0) if one.what is OutKind.NEW_RUN)
    written = max(begun, default=0)  # DAGMan has no jobs before
    for moment in moments:
        written = max(written, behind(lines, moment - rng.random()))
        found.append({LOG: behind(events, moment), OUT: written})
    return [*found, {name: len(data) for name, data in logs.items()}]


def behind(entries: list[tuple[float, int]], moment: float) -> int:
    return max((end for time, end in entries if time <= moment), default=0)


def monitor_of(found: FoundDag, since: str = "") -> DagMonitor:
    return DagMonitor(found, since=since, read_plan=lambda: known_plan(found))


def read_on(monitor: DagMonitor) -> list[DagEvent]:
    events = list(monitor.poll())
    while monitor.more:
        events += monitor.poll()
    return events


def plain(event: DagEvent) -> object:
    """Without what rests on the order in which the two logs are read."""
    data = sorted((name, str(value)) for name, value in event.data.items() if name != "was")
    return event.name, event.node, event.attempt, event.job, tuple(data)
