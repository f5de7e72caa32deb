"""A directed graph in arrays, and what folding asks of one.  All iterative and linear."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Protocol

from condor_pydagman.graph.model import Splice


class Foldable(Protocol):
    """What pictures are made of: a Dag, or a part of one (`unfold`); see `graph.model.Dag`."""

    @property
    def names(self) -> Sequence[str]:
        """Of the nodes."""

    @property
    def submits(self) -> Sequence[str]:
        """Submit descriptions of the nodes."""

    @property
    def kinds(self) -> Sequence[int]:
        """Kinds of the nodes."""

    @property
    def flags(self) -> Sequence[int]:
        """Flags of the nodes."""

    @property
    def splices(self) -> Sequence[Splice]:
        """Those whose nodes are all there."""

    @property
    def vertex_count(self) -> int:
        """Nodes plus junctions."""

    def __len__(self) -> int:
        """How many nodes there are."""

    def successors_as_counted(self, vertex: int) -> Sequence[int]:
        """Vertices that wait for `vertex`."""

    @property
    def decided(self) -> Mapping[int, int]:
        """Nodes whose turn is decided by more than that all their parents are done, and when."""

    def is_weak(self, parent: int, child: int) -> bool:
        """Whether `child` waits for the end of `parent` only, by a weak edge."""


class Network:
    """Items numbered 0 up, and arrows between them."""

    def __init__(self, count: int, tails: array[int], heads: array[int]) -> None:
        """`tails` must be sorted; arrows are expected to differ."""
        self.count = count  # how many items there are
        self.tails, self.heads = tails, heads  # ends of every arrow
        # where the arrows of each item begin in `heads`; one more at the end
        self.first = _firsts(count, tails)
        self._back: tuple[array[int], array[int]] | None = None

    @classmethod
    def of_dag(cls, dag: Foldable) -> Network:
        """The vertices of a Dag: its nodes, then its junctions (see `graph.edges`)."""
        tails, heads = array("i"), array("i")
        for vertex in range(dag.vertex_count):
            near = dag.successors_as_counted(vertex)
            if near:
                heads.extend(near)
                tails.extend([vertex] * len(near))
        return cls(dag.vertex_count, tails, heads)

    def merged(self, group: Sequence[int], count: int) -> Network:
        """The network of groups: `group` has the number of each item's group, below `count`.

        Arrows within a group are gone.
        """
        pairs = {
            tail * count + head
            for tail, head in zip(
                *(map(group.__getitem__, ends) for ends in (self.tails, self.heads))
            )
            if tail != head
        }
        tails, heads = array("i"), array("i")
        for pair in sorted(pairs):
            tail, head = divmod(pair, count)
            tails.append(tail)
            heads.append(head)
        return Network(count, tails, heads)

    def children(self, item: int) -> Sequence[int]:
        """Items that arrows of `item` lead to."""
        return self.heads[self.first[item] : self.first[item + 1]]

    def parents(self, item: int) -> Sequence[int]:
        """Items with an arrow to `item`."""
        first, tails = self.backwards()
        return tails[first[item] : first[item + 1]]

    def backwards(self) -> tuple[array[int], array[int]]:
        """Where the parents of each item begin, and the parents."""
        if self._back is None:
            first = _firsts(self.count, self.heads)
            place = first[:]
            sorted_tails = array("i", bytes(4 * len(self.heads)))
            for tail, head in zip(self.tails, self.heads):
                sorted_tails[place[head]] = tail
                place[head] += 1
            self._back = (first, sorted_tails)
        return self._back

    def degrees(self) -> tuple[array[int], array[int]]:
        """How many parents, and how many children, each item has."""
        parents = array("i", bytes(4 * self.count))
        for head in self.heads:
            parents[head] += 1
        children = array("i", bytes(4 * self.count))
        for tail in self.tails:
            children[tail] += 1
        return parents, children


def layers(network: Network) -> tuple[array[int], bool]:
    """The length of the longest way to each item, and whether there is a cycle.

    In a cycle the item with the lowest number is taken for the first; so every item has a layer.
    """
    waiting, _ = network.degrees()
    layer = array("i", bytes(4 * network.count))
    free = [item for item in range(network.count) if not waiting[item]]
    seen, stuck, has_cycle = 0, 0, False
    while seen < network.count:
        while free:
            item = free.pop()
            seen += 1
            below = layer[item] + 1
            for child in network.children(item):
                if layer[child] < below and waiting[child] > 0:
                    layer[child] = below
                waiting[child] -= 1
                if not waiting[child]:
                    free.append(child)
        if seen < network.count:
            has_cycle = True
            while waiting[stuck] <= 0:
                stuck += 1
            waiting[stuck] = 0
            free.append(stuck)
    return layer, has_cycle


def knots(network: Network) -> array[int]:
    """For each item on a cycle the number of its knot, 1 up; 0 for all others.

    Two items are in one knot if arrows lead from each to the other.  (Tarjan's algorithm: strongly
    connected components, here without recursion.)
    """
    knot = array("i", bytes(4 * network.count))
    index = array("i", bytes(4 * network.count))  # 0: not entered yet
    low = array("i", bytes(4 * network.count))
    on_stack = bytearray(network.count)
    stack: list[int] = []
    found = entered = 0
    for start in range(network.count):
        if index[start]:
            continue
        path: list[tuple[int, Iterator[int]]] = []
        entered = _enter(network, start, entered, index, low, on_stack, stack, path)
        while path:
            item, ways = path[-1]
            child = next(ways, None)
            if child is None:
                path.pop()
                if path:
                    above = path[-1][0]
                    low[above] = min(low[above], low[item])
                if low[item] == index[item]:
                    found += _leave(network, item, found + 1, on_stack, stack, knot)
            elif not index[child]:
                entered = _enter(network, child, entered, index, low, on_stack, stack, path)
            elif on_stack[child]:
                low[item] = min(low[item], index[child])
    return knot


def _enter(
    network: Network,
    item: int,
    entered: int,
    index: array[int],
    low: array[int],
    on_stack: bytearray,
    stack: list[int],
    path: list[tuple[int, Iterator[int]]],
) -> int:
    index[item] = low[item] = entered + 1
    on_stack[item] = 1
    stack.append(item)
    path.append((item, iter(network.children(item))))
    return entered + 1


def _leave(
    network: Network,
    item: int,
    number: int,
    on_stack: bytearray,
    stack: list[int],
    knot: array[int],
) -> int:
    """Take a whole component off the stack; 1 if it is a knot, 0 if it is an item by itself."""
    members = [stack.pop()]
    while members[-1] != item:
        members.append(stack.pop())
    for member in members:
        on_stack[member] = 0
    if len(members) == 1 and item not in network.children(item):
        return 0
    for member in members:
        knot[member] = number
    return 1


def _firsts(count: int, keys: array[int]) -> array[int]:
    counts = array("i", bytes(4 * (count + 1)))
    for key in keys:
        counts[key + 1] += 1
    return array("i", accumulate(counts))
