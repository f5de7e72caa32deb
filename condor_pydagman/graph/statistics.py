"""Numbers that describe a DAG's shape, as condor_dag_checker prints them.

All take time and memory linear in what the Dag holds: a PARENT line with many on both sides is kept
as a junction (see `graph.edges`), and is counted, not written out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from condor_pydagman.graph.model import Dag
from condor_pydagman.vocabulary import NodeKind

NO_START = "No initial nodes discovered"

_IN_GRAPH = (NodeKind.JOB, NodeKind.SUBDAG)  # other kinds have no place among parents and children


def count_arcs(dag: Dag) -> int:
    """How many pairs of a parent and a child there are; a pair that two lines name counts once."""
    nodes = len(dag)
    total = 0
    mixed: dict[tuple[int, ...], list[int]] = {}
    for node in range(nodes):
        near = dag.successors(node)
        if dag.vertex_count == nodes or not near or max(near) < nodes:
            total += len(near)
            continue
        junctions = tuple(sorted(vertex for vertex in near if vertex >= nodes))
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
        if child < len(dag) and child not in shared
    )
    return len(shared) * len(parents) + own


class Shape(NamedTuple):
    """How wide a DAG is at each depth, or what keeps it from being a DAG.

    Attributes:
        widths: number of nodes at each depth, those without parents first.  As in the stock tool,
            a node's depth is that of the way on which it is met first, when each node's children
            are tried in the order of their definition; it need not be the longest way.
        cycle: '', or the way from a node without parents to the first node that is met twice, or
            the nodes that no such way leads to, in stock's words; then there are no widths.
    """

    widths: list[int]
    cycle: str = ""


def shape(dag: Dag) -> Shape:
    """Walk through the DAG, depth first.  FINAL, PROVISIONER and SERVICE nodes are left out."""
    nodes = [node for node in range(len(dag)) if dag.kinds[node] in _IN_GRAPH]
    starts = [node for node in nodes if not dag.predecessor_count(node)]
    if nodes and not starts:
        return Shape([], NO_START)
    walk = _Walk(dag)
    for start in starts:
        path = walk.from_start(start)
        if path:
            return Shape([], " -> ".join(dag.names[node] for node in path))
    missed = [dag.names[node] for node in nodes if not walk.seen[node]]
    if missed:
        return Shape([], "Failed to visit nodes " + ",".join(missed))
    return Shape(walk.widths)


class _Walk:
    """A walk from parents to children that enters each node once.

    Attributes:
        seen: by vertex, 1 on the way, 2 done.
        widths: nodes met so far, by depth.
    """

    def __init__(self, dag: Dag) -> None:
        self.seen = bytearray(dag.vertex_count)
        self.widths: list[int] = []
        self._dag = dag
        self._nodes = len(dag)

    def from_start(self, start: int) -> list[int]:
        """Walk to all that `start` leads to; [] or nodes up to one that is on the way already."""
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
        near = self._dag.successors(node)
        if len(near) < 2 and self._nodes == len(self.seen):
            return iter(near)
        return iter(self._children(near))

    def _children(self, near: Sequence[int]) -> list[int]:
        """Nodes behind `near`, in order; a junction that is done leads to nothing new."""
        children = sorted(near)
        if children and children[-1] >= self._nodes:
            behind = {vertex for vertex in children if vertex < self._nodes}
            for vertex in children:
                if vertex >= self._nodes and not self.seen[vertex]:
                    behind.update(self._dag.successors(vertex))
            children = sorted(behind)
        return children

    def _leave(self, node: int) -> None:
        self.seen[node] = 2
        if self._nodes < len(self.seen):
            for vertex in self._dag.successors(node):
                if vertex >= self._nodes:
                    self.seen[vertex] = 2
