"""In which order the nodes of a DAG can run: the step of each, if all nodes took the same time."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from condor_pydagman.features.common.first_nodes import FirstNodes
from condor_pydagman.graph.model import DONE, Dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import ORDINARY_KINDS


class Steps(NamedTuple):
    """What is left of a DAG to be run, nodes that are done left out.

    FINAL, PROVISIONER and SERVICE nodes have no place among parents and children, and no step.
    """

    # number of nodes of each step; a node's step is one behind the last of its parents'
    widths: list[int]
    first: list[int]  # the nodes that start before all others, in the order of the DAG
    done: int  # how many nodes are done
    of: Sequence[int] = ()  # the step of each node; that of one which is done has no meaning


def steps(dag: Dag) -> Steps:
    """The steps in which the rest of a DAG without cycles can run.

    Time and memory are linear in the number of nodes and edges.
    """
    step = array("i", bytes(4 * dag.vertex_count))
    waiting = dag.edges.predecessor_counts()
    free = [vertex for vertex in dag.vertices() if not waiting[vertex]]
    widths: list[int] = []
    while free:
        vertex = free.pop()
        if _counts(dag, vertex):
            if step[vertex] == len(widths):
                widths.append(0)
            widths[step[vertex]] += 1
        behind = step[vertex] + 1
        if not _counts(dag, vertex):  # what waits for a node that is done waits no more
            behind = step[vertex] if vertex < 0 else 0
        for child in dag.successors(vertex):
            step[child] = max(step[child], behind)
            waiting[child] -= 1
            if not waiting[child]:
                free.append(child)
    firsts, left = FirstNodes(dag), (n for n, flags in enumerate(dag.flags) if not flags & DONE)
    first = [node for node in left if firsts.starts_first(node)]
    done = sum(bool(flags & DONE) for flags in dag.flags)
    return Steps(widths, first, done, step[: len(dag)])


def _counts(dag: Dag, vertex: int) -> bool:
    """Whether it is a node to be run, not a junction, and none that is done."""
    return vertex >= 0 and dag.kinds[vertex] in ORDINARY_KINDS and not dag.flags[vertex] & DONE
