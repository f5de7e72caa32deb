"""When each kind of output is to be published next; the caller gives the time."""

from __future__ import annotations

PUBLISH_DELAY_S = (
    0.2  # seconds from a change to its publishing, so that many changes make one update
)
COST_FACTOR = 10.0  # intervals per duration: one kind of output takes at most a tenth of the time


class Timetable:
    """Kinds of output that become due, each with a minimum interval of its own.

    What takes long (the status file of 100,000 nodes: half a second) gets a longer interval than it
    asks for, so that DAGMan has time for its other work.
    """

    def __init__(self) -> None:
        self._due: dict[str, float] = {}
        self._last: dict[str, float] = {}
        self._cost: dict[str, float] = {}  # seconds that it took last time

    def plan(self, what: str, now: float, interval_s: float) -> None:
        """It has changed: due soon, but not before `interval_s` seconds after the last time."""
        if what in self._last:
            interval_s = max(interval_s, self._cost[what] * COST_FACTOR)
            earliest = max(now + PUBLISH_DELAY_S, self._last[what] + interval_s)
        else:
            earliest = now + PUBLISH_DELAY_S
        self._due[what] = min(self._due.get(what, earliest), earliest)

    def remind(self, what: str, now: float, delay_s: float) -> None:
        """Due `delay_s` seconds from now unless due already, even if nothing has changed."""
        later = now + max(delay_s, self._cost.get(what, 0.0) * COST_FACTOR)
        self._due.setdefault(what, later)

    def next(self) -> float | None:
        """When something is due; None if nothing is planned."""
        return min(self._due.values(), default=None)

    def pop_due(self, now: float) -> list[str]:
        """Remove and return what is due by now."""
        found = [what for what, when in self._due.items() if when <= now]
        for what in found:
            del self._due[what]
        return found

    def done(self, what: str, begun: float, ended: float) -> None:
        """It has been published, and took that long."""
        self._last[what] = ended
        self._cost[what] = ended - begun

    def drop(self, what: str) -> None:
        """It is no longer planned."""
        self._due.pop(what, None)

    def clear(self) -> None:
        """Nothing is planned any more."""
        self._due.clear()
