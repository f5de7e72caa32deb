"""The queues of what is to start in a DAG whose nodes keep to limits that DAGs share.

As `queues.ReadyQueue` and `queues.ScriptQueue`, but nodes with the same limits, a class, have a
queue of their own, and the next node is the first of those whose class has room.  So nodes that
wait for a limit are neither looked at nor in the way of others.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from typing import Generic, TypeVar

from condor_pydagman.engine.queues import ReadyQueue, ScriptQueue
from condor_pydagman.named_tuple import NamedTuple

Room = Callable[[int], bool]
Entry = TypeVar("Entry", tuple[int, int, int], tuple[int, int])


class _ByClass(Generic[Entry]):
    """What is in a queue, by class.

    Args:
        class_of: the class of each node.
        classes: how many there are.
        room: whether a node of this class may be submitted, or its script be started, now.
    """

    def __init__(self, class_of: Sequence[int], classes: int, room: Room) -> None:
        super().__init__()
        self._class_of = class_of
        self._room = room
        self._heaps: list[list[Entry]] = []
        self._counts: list[int] = []
        self.grow(classes)

    def grow(self, classes: int) -> None:
        """There are so many classes now."""
        self._heaps.extend([] for _ in range(classes - len(self._heaps)))
        self._counts.extend(repeat(0, classes - len(self._counts)))

    def waiting(self, number: int) -> int:
        """How many nodes of a class are in the queue, without those put off."""
        return self._counts[number]


class LimitedReadyQueue(_ByClass[tuple[int, int, int]], ReadyQueue):
    """The ready queue."""

    def _push(self, entry: tuple[int, int, int]) -> None:
        number = self._class_of[entry[2]]
        self._counts[number] += 1
        heapq.heappush(self._heaps[number], entry)

    def discard(self, node: int) -> None:
        """The node needs no submission any more."""
        if node not in self:
            return
        super().discard(node)
        number = self._class_of[node]
        self._counts[number] -= 1
        heap = self._heaps[number]
        if len(heap) > self.MIN_COMPACT_LENGTH and len(heap) > 2 * self._counts[number]:
            heap = [entry for entry in heap if self.tickets.get(entry[2]) == entry[1]]
            heapq.heapify(heap)
            self._heaps[number] = heap

    def clear(self) -> None:
        """No node needs a submission any more."""
        super().clear()
        self._counts = [0] * len(self._counts)

    def first(self) -> int | None:
        """The next node that may be submitted; None if there is none."""
        best = _best(self._heaps, self._counts, self._room, self.tickets)
        return None if best is None else best[2]

    def _drop(self, node: int) -> None:
        number = self._class_of[node]
        heapq.heappop(self._heaps[number])
        self._counts[number] -= 1


class LimitedScriptQueue(_ByClass[tuple[int, int]], ScriptQueue):
    """PRE or POST scripts that are to start."""

    def __init__(self, class_of: Sequence[int], classes: int, room: Room) -> None:
        super().__init__(class_of, classes, room)
        self._places: dict[int, int] = {}
        self._taken = 0

    def _enter(self, node: int) -> None:
        if node not in self._places:
            self._taken += 1
            self._places[node] = self._taken
            number = self._class_of[node]
            self._counts[number] += 1
            heapq.heappush(self._heaps[number], (self._taken, node))

    def _leave(self, node: int) -> None:
        if self._places.pop(node, None) is not None:
            self._counts[self._class_of[node]] -= 1

    def defer(self, node: int, until: float) -> None:
        """The node's script is to be started again at `until` (seconds since the epoch)."""
        self._leave(node)
        super().defer(node, until)

    def discard(self, node: int) -> None:
        """The node needs no script any more."""
        self._leave(node)
        super().discard(node)

    def clear(self) -> None:
        """Start none of them."""
        super().clear()
        self._places.clear()
        self._counts = [0] * len(self._counts)

    def _take(self) -> int | None:
        best = _best(self._heaps, self._counts, self._room, self._places)
        if best is None:
            return None
        heapq.heappop(self._heaps[self._class_of[best[1]]])
        self._leave(best[1])
        return best[1]


def _best(
    heaps: Sequence[list[Entry]], counts: Sequence[int], room: Room, tickets: Mapping[int, int]
) -> Entry | None:
    """The first entry of the classes that have room.

    Args:
        tickets: by node, that of its entry; entries end in ticket and node.
    """
    best: Entry | None = None
    for number, heap in enumerate(heaps):
        if counts[number] and room(number):
            while heap and tickets.get(heap[0][-1]) != heap[0][-2]:
                heapq.heappop(heap)
            if heap and (best is None or heap[0] < best):
                best = heap[0]
    return best


class LimitedQueues(NamedTuple):
    """The three of them."""

    ready: LimitedReadyQueue
    pre: LimitedScriptQueue
    post: LimitedScriptQueue

    def grow(self, classes: int) -> None:
        """There are so many classes now."""
        for queue in self:
            queue.grow(classes)

    def take_over(self, ready: ReadyQueue, pre: ScriptQueue, post: ScriptQueue) -> None:
        """What is in these queues is in those instead."""
        self.ready.take_over(ready)
        self.pre.take_over(pre)
        self.post.take_over(post)
