"""The contract between DAGMan's reader of its nodes log, which has HTCondor's bindings, and that of
who follows a DAG, which has the text alone: both give the engine the same events.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.adapters.joblog import NodesLog
from condor_pydagman.adapters.local_time import logged_minute
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.follow.local_times import LocalTimes
from condor_pydagman.follow.nodes_log import log_events, of_engine
from tests.log_samples import COMMON, ODD
from tests.old_runs.runs import RUNS

KEPT = sorted(RUNS.glob("*/*/*.nodes.log"))


def by_bindings(path: Path, *, alone: bool) -> list[LogEvent]:
    log = NodesLog(str(path), bindings_only=alone)
    log.open(truncate=False)
    return [event for some in log.to_end() for event in some if isinstance(event, LogEvent)]


def by_text(data: bytes) -> list[LogEvent]:
    events = log_events(data, 0, LocalTimes(logged_minute, 2026))
    return [event for event in events if event.value is not None]


def in_seconds(event: LogEvent) -> LogEvent:
    """What the engine goes by, at DAGMan's time: whole seconds."""
    return of_engine(event)._replace(stamp="", time=int(event.time))


def compare(path: Path, *, alone: bool) -> None:
    expected = [in_seconds(event) for event in by_bindings(path, alone=alone)]
    assert [in_seconds(event) for event in by_text(path.read_bytes())] == expected


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parts[-3]}-{path.parts[-2]}")
def test_both_read_the_same(path: Path, work_directory: Path, alone: bool) -> None:
    copy = work_directory / "nodes.log"
    copy.write_bytes(path.read_bytes())
    compare(copy, alone=alone)


# What the bindings make of a day that there is not, nobody needs.
SAMPLES = [sample for sample in (*COMMON, *ODD) if "02-30" not in sample]


@pytest.mark.parametrize("sample", SAMPLES)
def test_samples(sample: str, work_directory: Path) -> None:
    path = work_directory / "nodes.log"
    path.write_text(sample)
    compare(path, alone=True)
