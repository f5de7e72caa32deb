"""Numbers that describe a DAG's shape, as condor_dag_checker prints them.

All take time and memory linear in what the Dag holds: a PARENT line with many on both sides is kept
as a junction (see `graph.edges`), and is counted, not written out.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

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


def widths_by_depth(dag: Dag) -> list[int] | None:
    """How many nodes have no parent, how many a longest way of one edge to one of them, and so on.

    FINAL, PROVISIONER and SERVICE nodes are not counted.  None if there is a cycle.
    """
    nodes, vertices = len(dag), dag.vertex_count
    waiting = array("i", map(dag.predecessor_count, range(vertices)))
    depths = array("i", bytes(4 * vertices))
    widths: list[int] = []
    free = array("i", (vertex for vertex, count in enumerate(waiting) if not count))
    left = vertices
    while free:
        vertex = free.pop()
        left -= 1
        below = depths[vertex]
        if vertex < nodes:
            if dag.kinds[vertex] in _IN_GRAPH:
                if below >= len(widths):
                    widths.extend([0] * (below + 1 - len(widths)))
                widths[below] += 1
            below += 1
        for child in dag.successors(vertex):
            if depths[child] < below:
                depths[child] = below
            waiting[child] -= 1
            if not waiting[child]:
                free.append(child)
    return None if left else widths


def cycle_as_stock_tells(dag: Dag) -> str:
    """What stock condor_dag_checker says of a cycle; '' if there is none.

    That is the way from a node without parents to the first node that is met twice, each node's
    children tried in their order; or the nodes that no such way leads to.
    """
    nodes = [node for node in range(len(dag)) if dag.kinds[node] in _IN_GRAPH]
    starts = [node for node in nodes if not dag.predecessor_count(node)]
    if not starts:
        return NO_START if nodes else ""
    seen = bytearray(dag.vertex_count)
    for start in starts:
        path = _path_to_repeat(dag, start, seen)
        if path:
            return " -> ".join(dag.names[node] for node in path)
    missed = [dag.names[node] for node in nodes if not seen[node]]
    return "Failed to visit nodes " + ",".join(missed) if missed else ""


def _path_to_repeat(dag: Dag, start: int, seen: bytearray) -> list[int]:
    """Nodes from `start` to one that is on the way already, which stands at both places.

    Empty if there is none; then all that can be reached is marked in `seen` (1 on the way, 2 done).
    """
    path, ways = [start], [_ascending(dag, start)]
    seen[start] = 1
    while path:
        vertex = next(ways[-1], None)
        if vertex is None:
            seen[path.pop()] = 2
            ways.pop()
        elif seen[vertex] == 1:
            if vertex >= len(dag):  # the way goes on from the junction as it did before
                vertex = path[path.index(vertex) + 1]
            return [one for one in (*path, vertex) if one < len(dag)]
        elif not seen[vertex]:
            seen[vertex] = 1
            path.append(vertex)
            ways.append(_ascending(dag, vertex))
    return []


def _ascending(dag: Dag, vertex: int) -> Iterator[int]:
    return iter(sorted(dag.successors(vertex)))
