"""Scripts of one kind: those that wait for a free place, and those put off by DEFER."""

from __future__ import annotations

import heapq
from collections import deque


class ScriptQueue:
    """First come, first served; a deferred script joins the queue when its time has come."""

    def __init__(self) -> None:
        self._waiting: deque[int] = deque()
        self._queued: set[int] = set()
        self._put_off: dict[int, float] = {}  # until when, by node
        self._deferred: list[tuple[float, int]] = []  # the same as a heap, and some that are over

    def __len__(self) -> int:
        """How many scripts want to start, without those put off."""
        return len(self._queued) - len(self._put_off)

    def __bool__(self) -> bool:
        """Whether any of them wants to start, now or later."""
        return bool(self._queued)

    def add(self, node: int) -> None:
        """The node's script is to be started."""
        self._queued.add(node)
        self._waiting.append(node)

    def defer(self, node: int, until: float) -> None:
        """The node's script is to be started again at `until` (seconds since the epoch)."""
        self._queued.add(node)
        self._put_off[node] = until
        heapq.heappush(self._deferred, (until, node))

    def discard(self, node: int) -> None:
        """The node needs no script any more."""
        self._queued.discard(node)
        self._put_off.pop(node, None)

    def clear(self) -> None:
        """Start none of them."""
        self._queued.clear()
        self._put_off.clear()

    def pop(self, now: float) -> int | None:
        """The next node whose script may start, or None."""
        while self._deferred and self._deferred[0][0] <= now:
            until, node = heapq.heappop(self._deferred)
            if self._put_off.get(node) == until:
                del self._put_off[node]
                self._waiting.append(node)
        while self._waiting:
            node = self._waiting.popleft()  # perhaps of a time before it was discarded
            if node in self._queued and node not in self._put_off:
                self._queued.discard(node)
                return node
        return None

    def next_time(self) -> float | None:
        """When the next deferred script is due."""
        while self._deferred and self._put_off.get(self._deferred[0][1]) != self._deferred[0][0]:
            heapq.heappop(self._deferred)
        return self._deferred[0][0] if self._deferred else None
