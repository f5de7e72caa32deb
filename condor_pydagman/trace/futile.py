"""Nodes that can't run any more because one before them has failed: no log names them.

The same as `engine.nodes` makes of it: what is below a failed node can't run, but for its children
by weak edges; nor can a node of whose parents, as a feature counts them, too few can be done, and
what is below it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from condor_pydagman import features
from condor_pydagman.engine.node_states import State
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
        made = (make(dag) for make in features.told("trace", "limits_parents"))
        self._limits = [one for one in made if one is not None]

    def fail(self, node: int) -> list[int]:
        """A node has failed; returns those that can't run because of it."""
        self._lose(node, State.FAILED)
        return [*self._below(self._dag.strong_successors(node)), *self._hopeless()]

    def leave(self, node: int) -> list[int]:
        """A node is not needed; returns those that can't run because they would need it."""
        for limit in self._limits:
            limit.leave(node)
        return list(self._hopeless())

    def leave_all(self, is_left: Callable[[int], bool]) -> None:
        """All nodes of which that holds are not needed."""
        for node in filter(is_left, range(len(self._dag) if self._limits else 0)):
            self.leave(node)

    def _lose(self, node: int, state: State) -> None:
        """It will not be done well."""
        for limit in self._limits:
            limit.lose(node, state)

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
        while found := self._pop_hopeless():
            for child in found:
                yield self._found(child)
                yield from self._below(self._dag.successors(child))

    def _pop_hopeless(self) -> set[int]:
        found = {node for limit in self._limits for node in limit.pop_hopeless()}
        return set(filter(self._waits, found)) - self.nodes

    def _found(self, node: int) -> int:
        self.nodes.add(node)
        self._lose(node, State.FUTILE)
        return node


def is_unneeded(dag: Dag, node: int, run: NodeRun | None) -> bool:
    """Whether a node that is done has not ended well, since an ENOUGH is reached, in this run or in
    an earlier one."""
    if run is not None and (run.attempts or run.why or run.status is not NodeStatus.DONE):
        return run.is_unneeded
    return any(was(dag, node) for was in features.told("trace", "was_unneeded"))


def mark_futile(run: Run, dag: Dag) -> None:
    """Give such nodes their state."""

    def run_of(node: int) -> NodeRun | None:
        return run.nodes.get(logged_name(dag.names[node]))

    def waits(node: int) -> bool:
        found = run_of(node)
        return found is not None and found.status is NodeStatus.NOT_READY

    futile = FutileNodes(dag, waits)
    futile.leave_all(lambda node: is_unneeded(dag, node, run_of(node)))
    failed = [name for name, node in run.nodes.items() if node.status is NodeStatus.ERROR]
    for place in map(dag.find, failed):
        if place is not None:
            futile.fail(place)
    for number in futile.nodes:
        run.nodes[logged_name(dag.names[number])].status = NodeStatus.FUTILE
