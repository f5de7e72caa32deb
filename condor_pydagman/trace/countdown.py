"""Which nodes wait for no parent any more: no log says so, the edges of the DAG do."""

from __future__ import annotations

from condor_pydagman import features
from condor_pydagman.graph.model import Dag
from condor_pydagman.trace.run_history import Run
from condor_pydagman.vocabulary import ORDINARY_KINDS


class Countdown:
    """Counts for each node the parents that have not ended.

    Each node may be counted as ended once: with success, or as failed for those that wait for no
    more than its end (weak edges).

    Args:
        dag: the DAG.
        run: what is known of its run: features may have nodes wait for no parent any more.
    """

    def __init__(self, dag: Dag, run: Run) -> None:
        self.dag = dag
        self._left = dag.edges.predecessor_counts()
        self._open = {
            node for opened in features.told("trace", "opened") for node in opened(dag, run)
        }

    def is_free(self, node: int) -> bool:
        """Whether DAGMan may start it as far as its parents go; nodes such as FINAL, which have no
        parents and wait all the same, are not free."""
        if node in self._open:
            return True
        free = not self.dag.is_decided(node)  # which a log tells
        return not self._left[node] and self.dag.kinds[node] in ORDINARY_KINDS and free

    def ended(self, node: int, *, failed: bool) -> list[int]:
        """Count a node as ended; returns the nodes that wait for no parent any more."""
        vertices = self._weak_successors(node) if failed else list(self.dag.successors(node))
        freed = []
        while vertices:
            vertex = vertices.pop()
            self._left[vertex] -= 1
            if self._left[vertex]:
                continue
            if self.dag.is_decided(vertex):
                continue
            if vertex >= 0:
                freed.append(vertex)
            else:
                vertices += self.dag.successors(vertex)
        return freed

    def _weak_successors(self, node: int) -> list[int]:
        marks = self.dag.edges.weak_marks(node)
        return [vertex for vertex, weak in zip(self.dag.successors(node), marks) if weak]
