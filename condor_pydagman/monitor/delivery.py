"""When events are delivered, tried again, and given up; the time is passed in.

What waits is delivered together.  After a failure the next try comes after 1, 2, 4 ... 60 seconds;
what has waited longer than its limit is given up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.trace.dag_events import DagEvent

FIRST_DELAY_S, MAX_DELAY_S = 1.0, 60.0  # before a try after a failure
GIVE_UP_S = 3600.0  # after which an event is given up while the DAG runs
GIVE_UP_AT_END_S = 60.0  # after the end of the DAG
MAX_BATCH = 100  # events that are delivered together
MAX_WAITING = 10_000  # events; of more, the oldest are given up


class Waiting(NamedTuple):
    """An event that is to be delivered, since when."""

    event: DagEvent
    since: float


class Delivery:
    """The events for one target, in order.

    Attributes:
        delivered: id of the last event that was delivered or given up, '' if none.
        given_up: how many events were given up.
        failures: tries that have failed in a row.
    """

    def __init__(self) -> None:
        self.delivered = ""
        self.given_up = 0
        self.failures = 0
        self._waiting: deque[Waiting] = deque()
        self._next_try = 0.0
        self._ending_since: float | None = None

    @property
    def empty(self) -> bool:
        """Whether nothing waits."""
        return not self._waiting

    def add(self, events: Sequence[DagEvent], now: float) -> None:
        """Take events that are to be delivered."""
        self._waiting.extend(Waiting(event, now) for event in events)
        while len(self._waiting) > MAX_WAITING:
            self._give_up_first()

    def end(self, now: float) -> None:
        """The DAG has ended: what waits is given up soon."""
        if self._ending_since is None:
            self._ending_since = now

    def go_on(self) -> None:
        """The DAG has not ended, or runs again."""
        self._ending_since = None

    def batch(self, now: float) -> list[DagEvent]:
        """The events that are to be tried now, oldest first; [] if it is not time."""
        while self._waiting and self._is_too_old(self._waiting[0], now):
            self._give_up_first()
        if now < self._next_try:
            return []
        return [waiting.event for _, waiting in zip(range(MAX_BATCH), self._waiting)]

    def succeeded(self, count: int) -> None:
        """So many events have been delivered."""
        for _ in range(count):
            self.delivered = self._waiting.popleft().event.id
        self.failures, self._next_try = 0, 0.0

    def failed(self, now: float) -> float:
        """A try has failed; returns when the next one comes."""
        delay = min(FIRST_DELAY_S * 2.0 ** min(self.failures, 10), MAX_DELAY_S)
        self.failures += 1
        self._next_try = now + delay
        return self._next_try

    def _is_too_old(self, waiting: Waiting, now: float) -> bool:
        ending = self._ending_since
        if ending is not None and now - ending >= GIVE_UP_AT_END_S:
            return True
        return now - waiting.since >= GIVE_UP_S

    def _give_up_first(self) -> None:
        self.delivered = self._waiting.popleft().event.id
        self.given_up += 1
