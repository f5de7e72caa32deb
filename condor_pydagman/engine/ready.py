"""The ready queue: which node is submitted next.

Order: highest effective priority first; among equals first come, first served, except that a
*prepended* node goes before all that were appended, last come first (stock rule).
"""

from __future__ import annotations

import heapq


class ReadyQueue:
    """A priority queue of nodes.  A node that left it early is dropped when its turn comes."""

    FEW = 1000  # entries that are not worth looking through

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, int]] = []
        self._tickets: dict[int, int] = {}
        self._last = 0
        self._first = 0

    def __len__(self) -> int:
        return len(self._tickets)

    def __bool__(self) -> bool:
        return bool(self._tickets)

    def __contains__(self, node: int) -> bool:
        return node in self._tickets

    def add(self, node: int, priority: int, *, first: bool = False) -> None:
        """Queue a node that is not in the queue."""
        assert node not in self._tickets
        if first:
            self._first -= 1
            ticket = self._first
        else:
            self._last += 1
            ticket = self._last
        self._tickets[node] = ticket
        heapq.heappush(self._heap, (-priority, ticket, node))

    def discard(self, node: int) -> None:
        """The node needs no submission any more."""
        self._tickets.pop(node, None)
        if len(self._heap) > self.FEW and len(self._heap) > 2 * len(self._tickets):
            self._heap = [entry for entry in self._heap if self._tickets.get(entry[2]) == entry[1]]
            heapq.heapify(self._heap)

    def clear(self) -> None:
        """Nobody needs a submission any more."""
        self._tickets.clear()

    def pop(self) -> int | None:
        """Take the next node out; None if the queue is empty."""
        while self._heap:
            _, ticket, node = heapq.heappop(self._heap)
            if self._tickets.get(node) == ticket:
                del self._tickets[node]
                return node
        return None
