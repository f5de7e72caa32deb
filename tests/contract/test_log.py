"""The contract of a nodes log, kept by the real one on a disk and by the simulator's in memory:
what is appended comes back as an event, once, in order, and as it was.  The real one keeps it
whether it reads events itself or leaves that to the bindings.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import pytest

from condor_pydagman.adapters.joblog import NodesLog
from condor_pydagman.daemon import ports
from condor_pydagman.engine import actions as do
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.records import own_events
from condor_pydagman.vocabulary import EventKind, JournalRecord
from tests import make
from tests.contract import worlds
from tests.sim.fake_log import FakeNodesLog

DAG = make.dag("A; B; C")
WHEN = "2026-11-21 11:56:29"

APPENDS = [
    do.AppendJournalRecord(JournalRecord.PRE_ENDED, 0, retry=0, value=0),
    do.AppendJournalRecord(JournalRecord.PRE_ENDED, 1, retry=3, value=-9),
    do.AppendJournalRecord(
        JournalRecord.SUBMIT_FAILED, 2, retry=1, text='it said: "no"\\ and\nmore'
    ),
    do.AppendJournalRecord(JournalRecord.JOB_LOST, 0, retry=0, cluster=7, proc=2),
    do.AppendPostEnded(0, 7, 0, 0, 4),
    do.AppendPostEnded(1, -1, 0, 0, -15),
    do.AppendPreSkip(2, 5),
    do.AppendNoop(1, 6),
    do.AppendJournalRecord(JournalRecord.COMMON_INPUT, 2, retry=1, text="in/a,b c"),
]


class Side(Protocol):
    """One of the two."""

    def truncate(self) -> None: ...

    def append(self, action: Any) -> None: ...

    def read(self) -> list[LogEvent]:
        """What is new."""

    def read_again(self) -> list[LogEvent]:
        """What a DAGMan that starts now gets to read."""


class FakeSide:
    """The simulator's log."""

    def __init__(self) -> None:
        self._world = worlds.quiet()[0]
        self._new()

    def _new(self) -> None:
        process: Any = None
        self._log = FakeNodesLog(self._world, process)

    def truncate(self) -> None:
        self._world.log.truncate()
        self._new()

    def append(self, action: Any) -> None:
        self._log.append(text_of(action))

    def read(self) -> list[LogEvent]:
        return _events(self._log)

    def read_again(self) -> list[LogEvent]:
        process: Any = None
        return _events(FakeNodesLog(self._world, process))


class RealSide:
    """A file."""

    def __init__(self, path: Path, *, bindings_only: bool) -> None:
        self._path = str(path)
        self._bindings_only = bindings_only
        self.truncate()

    def truncate(self) -> None:
        self._log = NodesLog(self._path, bindings_only=self._bindings_only)
        self._log.open(truncate=True)

    def append(self, action: Any) -> None:
        self._log.append(text_of(action))

    def read(self) -> list[LogEvent]:
        return _events(self._log)

    def read_again(self) -> list[LogEvent]:
        log = NodesLog(self._path, bindings_only=self._bindings_only)
        log.open(truncate=False)
        return _events(log)


def text_of(action: Any) -> str:
    """The event as it stands in a log."""
    name = DAG.names[action.node]
    if isinstance(action, do.AppendJournalRecord):
        return own_events.record_event(WHEN, name, action)
    if isinstance(action, do.AppendPostEnded):
        return own_events.post_ended(
            WHEN, name, action.status,
            cluster=action.cluster, proc=action.proc, subproc=action.subproc,
        )  # fmt: skip
    if isinstance(action, do.AppendPreSkip):
        return own_events.pre_skip(WHEN, name, action.subproc)
    return own_events.noop(WHEN, name, action.subproc)


def _events(log: ports.NodesLog) -> list[LogEvent]:
    events = [event for _ in range(100) for event in log.read()]
    assert all(isinstance(event, LogEvent) for event in events)
    return [event for event in events if isinstance(event, LogEvent)]


@pytest.fixture(params=["fake", "real", "real, by the bindings"])
def side(request: pytest.FixtureRequest, tmp_path: Path) -> Side:
    if request.param == "fake":
        return FakeSide()
    return RealSide(tmp_path / "t.dag.nodes.log", bindings_only=request.param != "real")


def timeless(events: list[LogEvent]) -> list[LogEvent]:
    return [event._replace(time=0.0, stamp="") for event in events]


def told(action: Any) -> list[LogEvent]:
    """What the engine is to be told of an action of its own."""
    return make.appended(DAG, action)


@pytest.mark.parametrize("action", APPENDS, ids=lambda action: type(action).__name__)
def test_what_was_appended_is_read_back_exactly(side: Side, action: Any) -> None:
    side.append(action)
    assert timeless(side.read()) == told(action)


def test_events_come_once_and_in_order(side: Side) -> None:
    seen: list[LogEvent] = []
    for action in APPENDS:
        side.append(action)
        seen += side.read()
        assert side.read() == []
    assert timeless(seen) == [event for action in APPENDS for event in told(action)]


def test_a_later_dagman_reads_it_all_again(side: Side) -> None:
    for action in APPENDS:
        side.append(action)
    first = side.read()
    assert side.read_again() == first
    assert side.read() == []


def test_a_new_run_begins_with_an_empty_log(side: Side) -> None:
    side.append(APPENDS[0])
    side.truncate()
    assert side.read() == []
    side.append(APPENDS[4])
    assert [event.kind for event in side.read()] == [EventKind.POST_SCRIPT_TERMINATED]
