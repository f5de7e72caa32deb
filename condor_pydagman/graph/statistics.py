"""Numbers that describe a DAG's shape, as condor_dag_checker prints them.

All take time and memory linear in what the Dag holds: a PARENT line with many on both sides is kept
as a junction (see `graph.edges`), and is counted, not written out.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import NodeKind

NO_START = "No initial nodes discovered"

_IN_GRAPH = (NodeKind.JOB, NodeKind.SUBDAG)  # other kinds have no place among parents and children


def count_arcs(dag: Dag) -> int:
    """How many pairs of a parent and a child there are; a pair that two lines name counts once."""
    nodes = len(dag)
    if dag.vertex_count == nodes:
        return len(dag.edges)
    total = 0
    mixed: dict[tuple[int, ...], list[int]] = {}
    for node in range(nodes):
        near = dag.successors(node)
        if not near or min(near) >= 0:
            total += len(near)
            continue
        junctions = tuple(sorted(vertex for vertex in near if vertex < 0))
        mixed.setdefault(junctions, []).append(node)
    for junctions, parents in mixed.items():
        total += _arcs_of_group(dag, junctions, parents)
    return total


def _arcs_of_group(dag: Dag, junctions: tuple[int, ...], parents: list[int]) -> int:
    """Arcs of parents that have the same junctions, and perhaps children of their own."""
    shared = {child for junction in junctions for child in dag.successors(junction)}
    own = sum(
        1
        for parent in parents
        for child in dag.successors(parent)
        if child >= 0 and child not in shared
    )
    return len(shared) * len(parents) + own


class Shape(NamedTuple):
    """How wide a DAG is at each depth, or what keeps it from being a DAG."""

    # number of nodes at each depth, those without parents first.  As in the stock tool, a node's
    # depth is that of the way on which it is met first, when each node's children are tried in the
    # order of their definition; it need not be the longest way.
    widths: list[int]
    # '', or the way from a node without parents to the first node that is met twice, or the nodes
    # that no such way leads to, in stock's words; then there are no widths
    cycle: str = ""


def shape(dag: Dag) -> Shape:
    """Walk through the DAG, depth first.  FINAL, PROVISIONER and SERVICE nodes are left out."""
    starts = dag.edges.roots()
    in_graph = sum(map(dag.kinds.count, _IN_GRAPH))
    if in_graph < len(dag):
        starts = [node for node in starts if dag.kinds[node] in _IN_GRAPH]
    if in_graph and not starts:
        return Shape([], NO_START)
    by_parent = dag.edges.by_parent()
    walk = _WalkOfJunctions(dag) if by_parent is None else _Walk(dag, *by_parent)
    path = walk.from_starts(starts)
    if path:
        return Shape([], " -> ".join(dag.names[node] for node in path))
    if in_graph > sum(walk.widths):
        missed = (n for n in range(len(dag)) if dag.kinds[n] in _IN_GRAPH and not walk.seen[n])
        return Shape([], "Failed to visit nodes " + ",".join(dag.names[node] for node in missed))
    return Shape(walk.widths)


class _Walk:
    """A walk from parents to children that enters each node once, in a DAG without junctions."""

    def __init__(self, dag: Dag, first: array[int], children: array[int]) -> None:
        self.seen = bytearray(len(dag))  # by vertex, 1 on the way, 2 done
        self.widths: list[int] = []  # nodes met so far, by depth
        self._first, self._children = first, children

    def from_starts(self, starts: Sequence[int]) -> list[int]:
        """Walk to all that they lead to; [] or nodes up to one that is on the way already."""
        if not starts:
            return []
        widths, seen, first = self.widths, self.seen, self._first
        widths.append(len(starts))
        for start in starts:
            if first[start] == first[start + 1]:
                seen[start] = 2
                continue
            path = self._from_start(start)
            if path:
                return path
        return []

    def _from_start(self, start: int) -> list[int]:
        # All in one function: it handles each edge of DAGs of millions.
        seen, widths, first, children = self.seen, self.widths, self._first, self._children
        seen[start] = 1
        path, ways = [start], [iter(sorted(children[first[start] : first[start + 1]]))]
        while ways:
            for node in ways[-1]:
                if not seen[node]:
                    break
                if seen[node] == 1:
                    return [*path, node]
            else:
                ways.pop()
                seen[path.pop()] = 2
                continue
            depth = len(ways)
            if depth == len(widths):
                widths.append(0)
            widths[depth] += 1
            begin, end = first[node], first[node + 1]
            if begin == end:
                seen[node] = 2
                continue
            seen[node] = 1
            path.append(node)
            near = children[begin:end]
            ways.append(iter(near if end - begin == 1 else sorted(near)))
        return []


class _WalkOfJunctions:
    """As `_Walk`, in a DAG with junctions."""

    def __init__(self, dag: Dag) -> None:
        self.seen = bytearray(dag.vertex_count)  # by vertex, 1 on the way, 2 done
        self.widths: list[int] = []  # nodes met so far, by depth
        self._dag = dag

    def from_starts(self, starts: Sequence[int]) -> list[int]:
        """As `_Walk.from_starts`."""
        return next(filter(None, map(self._from_start, starts)), [])

    def _from_start(self, start: int) -> list[int]:
        seen = self.seen
        path, ways = [start], [self._enter(start, 0)]
        while path:
            node = next(ways[-1], None)
            if node is None:
                self._leave(path.pop())
                ways.pop()
            elif seen[node] == 1:
                return [*path, node]
            elif not seen[node]:
                path.append(node)
                ways.append(self._enter(node, len(ways)))
        return []

    def _enter(self, node: int, depth: int) -> Iterator[int]:
        self.seen[node] = 1
        if depth == len(self.widths):
            self.widths.append(0)
        self.widths[depth] += 1
        return iter(self._children(self._dag.successors(node)))

    def _children(self, near: Sequence[int]) -> list[int]:
        """Nodes behind `near`, in order; a junction that is done leads to nothing new."""
        children = sorted(near)
        if children and children[0] < 0:
            behind = {vertex for vertex in children if vertex >= 0}
            for vertex in children:
                if vertex < 0 and not self.seen[vertex]:
                    behind.update(self._dag.successors(vertex))
            children = sorted(behind)
        return children

    def _leave(self, node: int) -> None:
        self.seen[node] = 2
        for vertex in self._dag.successors(node):
            if vertex < 0:
                self.seen[vertex] = 2
