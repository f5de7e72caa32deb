"""When what is to be published next.  It never looks at a clock: times are given to it."""

from __future__ import annotations

SETTLE = 0.2  # seconds after a change before it is published, so that one flurry is one update
SHARE = 10.0  # publishing of one kind takes no more than a tenth of the time


class Timetable:
    """Things that become due, each at its own shortest interval.

    What takes long (the status file of 100,000 nodes: half a second) comes more rarely than its
    interval says, lest it keep DAGMan from its work.
    """

    def __init__(self) -> None:
        self._due: dict[str, float] = {}
        self._last: dict[str, float] = {}
        self._cost: dict[str, float] = {}  # seconds that it took the last time

    def plan(self, what: str, now: float, interval: float) -> None:
        """It has changed: due soon, but not before `interval` seconds after the last time."""
        if what in self._last:
            interval = max(interval, self._cost[what] * SHARE)
            earliest = max(now + SETTLE, self._last[what] + interval)
        else:
            earliest = now + SETTLE
        self._due[what] = min(self._due.get(what, earliest), earliest)

    def remind(self, what: str, now: float, seconds: float) -> None:
        """Though nothing may have changed: due so many seconds from now, if it was not before."""
        later = now + max(seconds, self._cost.get(what, 0.0) * SHARE)
        self._due.setdefault(what, later)

    def next(self) -> float | None:
        """When something is due; None if nothing is planned."""
        return min(self._due.values(), default=None)

    def take(self, now: float) -> list[str]:
        """What is due by now, and no longer planned."""
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
