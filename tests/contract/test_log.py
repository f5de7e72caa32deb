"""The contract of a nodes log, kept by the real one on a disk and by the simulator's in memory:
what is appended comes back as an event, once, in order, and as it was.  The real one keeps it
whether it reads events itself or leaves that to the bindings.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import pytest

from condor_pydagman.adapters.joblog import NodesLog
from condor_pydagman.engine import actions as do
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.records import job_events
from condor_pydagman.vocabulary import EventKind, Note
from tests import make
from tests.contract import worlds

DAG = make.dag("A; B; C")
WHEN = "2026-11-21 11:56:29"

APPENDS = [
    do.AppendNote(Note.PRE_ENDED, 0, retry=0, value=0),
    do.AppendNote(Note.PRE_ENDED, 1, retry=3, value=-9),
    do.AppendNote(Note.SUBMIT_FAILED, 2, retry=1, text='it said: "no"\\ and\nmore'),
    do.AppendNote(Note.JOB_LOST, 0, retry=0, cluster=7, proc=2),
    do.AppendPostEnded(0, 7, 0, 0, 4),
    do.AppendPostEnded(1, -1, 0, 0, -15),
    do.AppendPreSkip(2, 5),
    do.AppendNoop(1, 6),
    do.AppendNote(Note.COMMON_INPUT, 2, retry=1, text="in/a,b c"),
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
        self._log = worlds.quiet()[0].log
        self._position = 0

    def truncate(self) -> None:
        self._log.truncate()
        self._position = 0

    def append(self, action: Any) -> None:
        for event in make.appended(DAG, action):
            self._log.append_own(event)

    def read(self) -> list[LogEvent]:
        events, self._position = self._log.read(self._position)
        return events

    def read_again(self) -> list[LogEvent]:
        return self._log.read(0, everything=True)[0]


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
        name = DAG.names[action.node]
        if isinstance(action, do.AppendNote):
            text = job_events.note_event(WHEN, name, action)
        elif isinstance(action, do.AppendPostEnded):
            text = job_events.post_ended(
                WHEN, name, action.status,
                cluster=action.cluster, proc=action.proc, subproc=action.subproc,
            )  # fmt: skip
        elif isinstance(action, do.AppendPreSkip):
            text = job_events.pre_skip(WHEN, name, action.subproc)
        else:
            text = job_events.noop(WHEN, name, action.subproc)
        self._log.append(text)

    def read(self) -> list[LogEvent]:
        return _events(self._log)

    def read_again(self) -> list[LogEvent]:
        log = NodesLog(self._path, bindings_only=self._bindings_only)
        log.open(truncate=False)
        return _events(log)


def _events(log: NodesLog) -> list[LogEvent]:
    events = log.read()
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
