"""Nodes that can't run any more because one before them has failed: no log names them.

The same as `engine.nodes` makes of it: what is below a failed node can't run, but for its children
by weak edges; nor can a node of whose parents enough (ENOUGH PARENTS) can't be done any more, and
what is below it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from condor_pydagman.engine.node_states import State
from condor_pydagman.features.enough.counts import FOLLOWS, EnoughCounts
from condor_pydagman.features.enough.graph import EnoughsOfDag
from condor_pydagman.graph.model import Dag
from condor_pydagman.names import logged_name
from condor_pydagman.trace.run_history import NodeRun, Run
from condor_pydagman.vocabulary import NodeStatus


class FutileNodes:
    """Finds them, one failed node after the other.

    Args:
        dag: the DAG.
        waits: whether a node has not begun.

    Attributes:
        nodes: those that have been found, by number.
    """

    def __init__(self, dag: Dag, waits: Callable[[int], bool]) -> None:
        self.nodes: set[int] = set()
        self._dag, self._waits = dag, waits
        self._seen: set[int] = set()
        self._enough = EnoughCounts(dag) if EnoughsOfDag.of(dag).enough_of else None

    def fail(self, node: int) -> list[int]:
        """A node has failed; returns those that can't run because of it."""
        self._lose(node, State.FAILED)
        return [*self._below(self._dag.strong_successors(node)), *self._hopeless()]

    def leave(self, node: int) -> list[int]:
        """A node is not needed; returns those that can't run because they would need it."""
        if self._enough is not None:
            self._enough.mark(node, FOLLOWS)
            self._lose(node, State.DONE)
        return list(self._hopeless())

    def _lose(self, node: int, state: State) -> None:
        """It will not be done well."""
        if self._enough is not None and node in self._enough.of:
            self._enough.moved(node, State.WAITING, state)

    def _below(self, vertices: Iterable[int]) -> Iterator[int]:
        todo = list(vertices)
        while todo:
            vertex = todo.pop()
            if vertex in self._seen or (vertex >= 0 and self._dag.is_decided(vertex)):
                continue
            self._seen.add(vertex)
            if vertex >= 0 and self._waits(vertex):
                yield self._found(vertex)
            todo += self._dag.successors(vertex)

    def _hopeless(self) -> Iterator[int]:
        while self._enough is not None:
            children = list(filter(self._waits, self._enough.pop_hopeless()))
            if not set(children) - self.nodes:
                return
            for child in set(children) - self.nodes:
                yield self._found(child)
                yield from self._below(self._dag.successors(child))

    def _found(self, node: int) -> int:
        self.nodes.add(node)
        self._lose(node, State.FUTILE)
        return node


def is_unneeded(dag: Dag, node: int, run: NodeRun | None) -> bool:
    """Whether a node that is done has not ended well, since an ENOUGH is reached, in this run or in
    an earlier one."""
    if run is not None and (run.attempts or run.why or run.status is not NodeStatus.DONE):
        return run.is_unneeded
    return node in EnoughsOfDag.of(dag).not_needed


def mark_futile(run: Run, dag: Dag) -> None:
    """Give such nodes their state."""

    def run_of(node: int) -> NodeRun | None:
        return run.nodes.get(logged_name(dag.names[node]))

    def waits(node: int) -> bool:
        found = run_of(node)
        return found is not None and found.status is NodeStatus.NOT_READY

    futile = FutileNodes(dag, waits)
    for number in range(len(dag) if EnoughsOfDag.of(dag).enough_of else 0):
        if is_unneeded(dag, number, run_of(number)):
            futile.leave(number)
    failed = [name for name, node in run.nodes.items() if node.status is NodeStatus.ERROR]
    for place in map(dag.find, failed):
        if place is not None:
            futile.fail(place)
    for number in futile.nodes:
        run.nodes[logged_name(dag.names[number])].status = NodeStatus.FUTILE
