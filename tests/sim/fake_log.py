"""A nodes log in memory.  It outlives DAGMan, and it may double, delay, cut and garble events."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.vocabulary import EventKind

if TYPE_CHECKING:
    from tests.sim.world import World


_DOUBLED_LATE = (EventKind.SUBMIT, EventKind.JOB_TERMINATED, EventKind.JOB_ABORTED)


class Entry(NamedTuple):
    """One event; it can be read from `ready_at` on, or never if it is garbled."""

    event: LogEvent
    ready_at: float
    garbled: bool


class FakeLog:
    """Append-only until it is truncated.

    Attributes:
        generation: how often it has been truncated.
        garbled: whether any event of this generation is garbled.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.entries: list[Entry] = []
        self.generation = 0
        self.garbled = False
        self._dark_until = 0.0

    def truncate(self) -> None:
        self.entries = []
        self.generation += 1
        self._dark_until = 0.0

    def append_own(self, event: LogEvent) -> None:
        """An event of DAGMan's: durable and readable, at worst it is there twice."""
        self._add(event, 0.0, False)
        if self._world.hit("double"):
            self._add(event, 0.0, False)

    def append(self, event: LogEvent) -> float:
        """An event of the schedd's; returns when it is completely written."""
        world = self._world
        garbled = world.hit("garble")
        if garbled:
            world.trace("garbled", f"{event.kind} {event.cluster}.{event.proc}")
            self.garbled = True
            world.ever_garbled = True
        ready = self._add(event, world.rng.uniform(0.1, 8.0) if world.hit("cut") else 0.0, garbled)
        if world.hit("double"):
            ready = self._add(event, 0.0, False) if not garbled else ready
        if event.kind in _DOUBLED_LATE and not garbled and world.hit("late_double"):
            self._double_later(event)
        if world.hit("lag"):
            self._dark_until = world.now + world.rng.uniform(1.0, 15.0)
            world.at(self._dark_until, world.nothing)
        return ready

    def read(self, start: int, *, everything: bool = False) -> tuple[list[LogEvent], int]:
        """Events from entry `start` on, and where the next read starts.

        `everything` is what a reader gets that insists, as DAGMan does when it asks the schedd.
        """
        now = self._world.now
        if now < self._dark_until and not everything:
            return [], start
        end = start
        while end < len(self.entries) and self.entries[end].ready_at <= now:
            end += 1
        return [entry.event for entry in self.entries[start:end] if not entry.garbled], end

    def complete_at(self) -> float:
        """When no event is half written any more."""
        return self.entries[-1].ready_at if self.entries else 0.0

    def _add(self, event: LogEvent, delay: float, garbled: bool) -> float:
        world = self._world
        ready = max(world.now + delay, self.complete_at())
        self.entries.append(Entry(event, ready, garbled))
        if ready > world.now:
            world.at(ready, world.nothing)
        return ready

    def _double_later(self, event: LogEvent) -> None:
        generation = self.generation

        def again() -> None:
            if self.generation == generation:
                self._world.trace("late double", f"{event.kind} {event.cluster}.{event.proc}")
                self._add(event, 0.0, False)

        self._world.after(self._world.rng.uniform(1.0, 300.0), again)
