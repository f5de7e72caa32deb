"""Looking for a cycle.  Iterative and linear: a chain of a million nodes is ordinary."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

from condor_pydagman.graph.model import Dag

MAX_SHOWN = 20


def find_cycle(dag: Dag) -> list[int] | None:
    """A cycle: nodes of which each is a parent of the next, the last of the first; else None."""
    left = _left_after_peeling(dag)
    return _cycle_among(dag, left) if left is not None else None


def describe_cycle(dag: Dag, cycle: Sequence[int]) -> str:
    """The cycle's node names, the first again at the end; the middle of a long one is left out."""
    names = [dag.names[node] for node in (*cycle, cycle[0])]
    if len(names) > MAX_SHOWN:
        half = MAX_SHOWN // 2
        names[half:-half] = [f"... {len(names) - 2 * half} more nodes ..."]
    return " -> ".join(names)


def cycle_refusal(dag: Dag, cycle: Sequence[int]) -> str:
    """Why a DAG with this cycle is refused, at the start or when nothing else is left to do."""
    return f"a cycle exists in the dag, please check input: {describe_cycle(dag, cycle)}"


def _left_after_peeling(dag: Dag) -> bytearray | None:
    """Mark the vertices that never get rid of all their predecessors; None if there is none."""
    waiting = dag.edges.predecessor_counts()
    free = array("i", (vertex for vertex in dag.vertices() if not waiting[vertex]))
    peeled = len(free)
    while free:
        for child in dag.successors(free.pop()):
            waiting[child] -= 1
            if not waiting[child]:
                free.append(child)
                peeled += 1
    if peeled == dag.vertex_count:
        return None
    return bytearray(1 if count else 0 for count in waiting)


def _cycle_among(dag: Dag, left: bytearray) -> list[int]:
    """A cycle among the vertices marked 1; depth first, each vertex entered once."""
    for start in dag.vertices():
        if left[start] != 1:
            continue
        path, ways = [start], [_marked(dag, start, left)]
        left[start] = 2  # on the path
        while path:
            vertex = next(ways[-1], None)
            if vertex is None:
                left[path.pop()] = 0
                ways.pop()
            elif left[vertex] == 2:
                return [on_cycle for on_cycle in path[path.index(vertex) :] if on_cycle >= 0]
            else:
                left[vertex] = 2
                path.append(vertex)
                ways.append(_marked(dag, vertex, left))
    raise AssertionError("vertices wait for each other, but not in a cycle")


def _marked(dag: Dag, vertex: int, left: bytearray) -> Iterator[int]:
    return (child for child in dag.successors(vertex) if left[child])
