"""For how long a slot has no job between two: what a job costs it beside the time that it runs.

A slot whose job has ended goes to another one that waits.  Which one is not known; but as many
begin as have ended, so that in turn is right on average.
"""

from __future__ import annotations

from collections import deque

LONGEST_S = 2.0  # of a gap. What begins later has another slot, or this one had another job
REMEMBERED = 8  # values of which a mean is


class Usual:
    """A mean of the last values, so that no single one decides."""

    def __init__(self, value: float) -> None:
        self.value = value  # a guess, until there is a first one
        self._seen = 0

    def add(self, value: float) -> None:
        """There is another value."""
        self._seen = min(self._seen + 1, REMEMBERED)
        self.value += (value - self.value) / self._seen


class SlotGaps:
    """The gaps of a run."""

    def __init__(self) -> None:
        self._usual = Usual(0.0)
        self._free: deque[float] = deque()  # since when slots are, for which jobs wait

    @property
    def usual_s(self) -> float:
        """How long they are, in seconds; 0.0 as long as there was none."""
        return self._usual.value

    def ended(self, now: float, waiting: int) -> None:
        """A job has ended, while so many wait."""
        if waiting > len(self._free):
            self._free.append(now)

    def began(self, now: float) -> None:
        """A job has begun to run."""
        while self._free:
            gap_s = now - self._free.popleft()
            if gap_s <= LONGEST_S:
                self._usual.add(max(0.0, gap_s))
                return
