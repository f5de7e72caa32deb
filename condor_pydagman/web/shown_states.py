"""The state of each node as the page shows it: a number, whose word is in LEGEND."""

from __future__ import annotations

from collections.abc import Container, Iterable

from condor_pydagman.graph.model import Dag
from condor_pydagman.trace.run_history import NodeRun
from condor_pydagman.vocabulary import NodeStatus

# Words of `condor_pydagman watch`, and "retry" for a node that has failed and waits for its next
# attempt.  One byte tells the state of a node: its place here.
LEGEND = (
    "waiting",
    "ready",
    "pre",
    "idle",
    "running",
    "held",
    "post",
    "retry",
    "done",
    "failed",
    "futile",
)
WAITING, READY, PRE, IDLE, RUNNING, HELD, POST, RETRY, DONE, FAILED, FUTILE = range(len(LEGEND))

_SHOWN = {
    NodeStatus.NOT_READY: WAITING,
    NodeStatus.PRERUN: PRE,
    NodeStatus.POSTRUN: POST,
    NodeStatus.DONE: DONE,
    NodeStatus.ERROR: FAILED,
    NodeStatus.FUTILE: FUTILE,
}


def shown_state(node: NodeRun, ready: Container[str]) -> int:
    """The state of a node, but for FUTILE.

    Args:
        ready: names of the nodes that have not begun and wait for no parent.
    """
    if node.status is NodeStatus.SUBMITTED:
        attempt = node.attempts[-1] if node.attempts else None
        if attempt is None or attempt.running:
            return RUNNING
        return HELD if attempt.held else IDLE
    if node.status is NodeStatus.READY:
        return RETRY if node.attempts and node.attempts[-1].over else READY
    if node.status is NodeStatus.NOT_READY and node.name in ready:
        return READY
    return _SHOWN[node.status]


class FutileNodes:
    """Nodes that can't run because one before them has failed; no log tells of them.

    Attributes:
        nodes: their numbers.
    """

    def __init__(self, dag: Dag) -> None:
        self.nodes: set[int] = set()
        self._dag = dag
        self._seen: set[int] = set()

    def begin(self, failed: Iterable[int], states: bytearray) -> None:
        """Count all anew: one that had failed runs again."""
        self.nodes.clear()
        self._seen.clear()
        for node in failed:
            self.add(node, states)

    def add(self, failed: int, states: bytearray) -> list[int]:
        """Take in a node that has failed; returns the nodes that can't run because of it.

        Args:
            states: of all nodes, as in LEGEND; a child by a weak edge runs all the same.
        """
        found = []
        vertices = list(self._dag.strong_successors(failed))
        while vertices:
            vertex = vertices.pop()
            if vertex in self._seen:
                continue
            self._seen.add(vertex)
            if vertex >= 0:
                if states[vertex] not in (WAITING, FUTILE):
                    continue
                found.append(vertex)
            vertices += self._dag.strong_successors(vertex)
        self.nodes.update(found)
        return found
