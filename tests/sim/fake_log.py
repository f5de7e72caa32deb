"""A nodes log in memory.  It outlives DAGMan, and it may double, delay, cut and garble events."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from condor_pydagman.engine.inputs import LogBroken, LogEvent
from condor_pydagman.errors import FileError
from condor_pydagman.records.event_text import CommonEvents
from condor_pydagman.vocabulary import EventKind
from tests.sim.ports import LOG

if TYPE_CHECKING:
    from tests.sim.process import Process
    from tests.sim.world import World

_YEAR = re.compile(r"(?<=\) )19(?=[67]\d-)")  # the world begins with the epoch

_DOUBLED_LATE = (
    EventKind.SUBMIT,
    EventKind.EXECUTE,
    EventKind.JOB_HELD,
    EventKind.JOB_TERMINATED,
    EventKind.JOB_ABORTED,
    EventKind.CLUSTER_SUBMIT,
    EventKind.CLUSTER_REMOVE,
)


class Entry(NamedTuple):
    """One event; it can be read from `ready_at` on, or never if it is garbled."""

    event: LogEvent
    ready_at: float
    garbled: bool


class FakeLog:
    """Append-only until it is truncated.

    Attributes:
        generation: how often it has been truncated.
        misled: whether an event came once more that makes jobs look other than they are.
        held_back: how many events have happened and are not written yet.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.entries: list[Entry] = []
        self.generation = 0
        self.misled = False
        self.held_back = 0
        self._dark_until = 0.0
        self._behind: dict[int, tuple[float, int]] = {}  # until when, how many, by cluster

    def truncate(self) -> None:
        self.entries = []
        self.generation += 1
        self.misled = False
        self._dark_until = 0.0

    def forget(self) -> None:
        """The last events are lost, of whomever they were."""
        world = self._world
        kept = world.rng.randrange(len(self.entries) + 1)
        kept = max(kept, len(self.entries) - world.rng.choice((1, 3, 10, len(self.entries))))
        world.trace("forgotten", f"{len(self.entries) - kept} of {len(self.entries)} events")
        del self.entries[kept:]
        world.ever_garbled = True

    def append_own(self, event: LogEvent) -> None:
        """An event of DAGMan's: durable and readable, but it may be there twice, and a piece of
        somebody else's may make it unreadable."""
        garbled = self._world.hit("garble")
        self._add(event, 0.0, garbled)
        if garbled:
            self._world.trace("garbled", f"{event.kind} {event.cluster}.{event.proc}")
            self._world.ever_garbled = True
        if self._world.hit("double"):
            self._add(event, 0.0, False)

    def append(self, event: LogEvent, then: Callable[[], object] | None = None) -> None:
        """An event of the schedd's; `then` is called when it is completely written.

        It may come after later events of other clusters, never after one of its own.
        """
        world, cluster = self._world, event.cluster
        until, count = self._behind.get(cluster, (0.0, 0))
        if world.hit("reorder"):
            until = max(until, world.now) + world.rng.uniform(1.0, 20.0)
        if not count and until <= world.now:
            self._land(event, then)
            return
        self._behind[cluster] = until, count + 1
        self.held_back += 1
        generation = self.generation

        def land() -> None:
            until, count = self._behind[cluster]
            self._behind[cluster] = until, count - 1
            self.held_back -= 1
            if self.generation == generation:
                self._land(event, then)
            elif then is not None:
                then()

        world.at(until, land)

    def _land(self, event: LogEvent, then: Callable[[], object] | None) -> None:
        world = self._world
        garbled = world.hit("garble")
        if garbled:
            world.trace("garbled", f"{event.kind} {event.cluster}.{event.proc}")
            world.ever_garbled = True
        ready = self._add(event, world.rng.uniform(0.1, 8.0) if world.hit("cut") else 0.0, garbled)
        if world.hit("double"):
            ready = self._add(event, 0.0, False) if not garbled else ready
        if event.kind in _DOUBLED_LATE and not garbled and world.hit("late_double"):
            self._double_later(event)
        if world.hit("lag"):
            self._dark_until = world.now + world.rng.uniform(1.0, 15.0)
            world.at(self._dark_until, world.nothing)
        if then is not None and ready <= world.now:
            then()
        elif then is not None:
            world.at(ready, then)

    def events(self) -> list[LogEvent]:
        """All that can be read."""
        return [e.event for e in self.entries[: self.readable_to(0)] if not e.garbled]

    def readable_to(self, start: int) -> int:
        """The entry behind the last that a reader can read who has come to entry `start`."""
        now, end = self._world.now, start
        if self.complete_at() <= now:  # as it mostly is
            return max(start, len(self.entries))
        while end < len(self.entries) and self.entries[end].ready_at <= now:
            end += 1
        return end

    def grew_beyond(self, position: int) -> bool:
        """Whether a reader that has come so far is told of something new; it may be told late."""
        return self._world.now >= self._dark_until and self.readable_to(position) > position

    def complete_at(self) -> float:
        """When no event is half written any more."""
        return self.entries[-1].ready_at if self.entries else 0.0

    def _add(self, event: LogEvent, delay: float, garbled: bool) -> float:
        world = self._world
        ready = max(world.now + delay, self.complete_at())
        self.entries.append(Entry(event, ready, garbled))
        if not garbled:
            world.oracles.in_log(event)
        if ready > world.now:
            world.at(ready, world.nothing)
        return ready

    def _double_later(self, event: LogEvent) -> None:
        generation = self.generation

        def again() -> None:
            if self.generation == generation:
                self._world.trace("late double", f"{event.kind} {event.cluster}.{event.proc}")
                self.misled |= event.kind in (EventKind.EXECUTE, EventKind.JOB_HELD)
                self._add(event, 0.0, False)

        self._world.after(self._world.rng.uniform(1.0, 300.0), again)


class FakeNodesLog:
    """What one DAGMan process reads of the log, and appends to it.

    Attributes:
        position: entry of the log that is read next.
        broken: what every read says once the log can't be followed.
        watch: tells that there is something to read.
    """

    path = "t.dag.nodes.log"

    def __init__(self, world: World, process: Process) -> None:
        self._world = world
        self._process = process
        self._batch = world.rng.choice((1, 3, 500))
        self._text = CommonEvents(lambda stamp: 0.0)
        self.position = 0
        self.broken: LogBroken | None = None
        self._told = False  # whether somebody has read that it is
        self.more = False
        self.watch = _LogWatch()

    @property
    def is_read(self) -> bool:
        """Whether all that has happened has been read."""
        log = self._world.log
        return self.position == len(log.entries) and not log.held_back

    @property
    def readable(self) -> bool:
        """Whether the kernel tells of something new."""
        log = self._world.log
        if self.broken is not None:
            return not self._told
        return log.grew_beyond(self.position)

    @property
    def torn(self) -> bool:
        entries = self._world.log.entries
        behind = self.position < len(entries)
        return behind and entries[self.position].ready_at > self._world.now

    def read(self) -> list[LogEvent | LogBroken]:
        if self.broken is not None:
            self.more, self._told = False, True
            return [self.broken]
        log = self._world.log
        end = min(log.readable_to(self.position), self.position + self._batch)
        entries, self.position = log.entries[self.position : end], end
        self.more = log.readable_to(end) > end
        return [entry.event for entry in entries if not entry.garbled]

    def to_end(self) -> Iterator[list[LogEvent | LogBroken]]:
        while True:
            yield self.read()
            self._world.boundary()
            if not self.more:
                return

    def append(self, text: str) -> None:
        world = self._world
        world.boundary()
        if world.disk_is_full():
            raise FileError("can't write the nodes log: disk full")
        data = _YEAR.sub("20", text).encode()
        events, end = self._text.read(data, 0, 10_000)
        assert end == len(data), text
        for place, event in enumerate(events):
            if place > 1:
                world.boundary()  # of a long text, a part may be written
            world.log.append_own(event._replace(time=world.clock(), stamp=""))
        world.oracles.written(self._process, events)
        world.boundary()


class _LogWatch:
    def fileno(self) -> int:
        return LOG

    def clear(self) -> None:
        """What is unread stays ready."""
