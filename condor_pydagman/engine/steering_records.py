"""What is known of people's commands for nodes: those on their way, and what they have left.

Data and its bookkeeping, as in `run_records`.
"""

from __future__ import annotations

from collections.abc import Iterable

from condor_pydagman.engine.node_settings import NOTHING, NodeSettings
from condor_pydagman.engine.node_states import CANCELLED
from condor_pydagman.engine.nodes import Nodes
from condor_pydagman.engine.run_records import Journal, Kind

COMMAND = Kind("command for a node", holds=True)  # by node and number


def commanded(journal: Journal) -> set[int]:
    """Nodes of which a command is on its way to the log and back."""
    return {node for node, _ in journal.of(COMMAND)}


class Steering:
    """What people have asked of nodes.  Written by `steering` alone, or by its own methods.

    Attributes:
        requests: those that have not been answered, by number.
        cancelled: nodes that have been marked as CANCELLED, and perhaps are so no more.
        settings: what was set for nodes, by node.
        dag_priority: what is added to the priority of each node; None: as the DAG was read.
        unprioritized: nodes whose jobs may have another priority in the queue than is in force.
    """

    __slots__ = (
        "_nodes",
        "_number",
        "cancelled",
        "dag_priority",
        "requests",
        "settings",
        "unprioritized",
    )

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self.requests: dict[int, SteeringRequest] = {}
        self.cancelled: set[int] = set()
        self.settings: dict[int, NodeSettings] = {}
        self.dag_priority: int | None = None
        self.unprioritized: set[int] = set()
        self._number = 0

    def number(self) -> int:
        """For a record; unique in this run of DAGMan."""
        self._number += 1
        return self._number

    def set(self, node: int, settings: NodeSettings) -> None:
        """More is set for a node."""
        self.settings[node] = self.settings.get(node, NOTHING).merged(settings)

    def set_dag_priority(self, priority: int) -> None:
        """Another priority is in force for the whole DAG."""
        self.dag_priority = priority

    def prioritize(self, nodes: Iterable[int]) -> None:
        """Jobs of these nodes may have another priority in the queue."""
        if self.dag_priority is not None:
            self.unprioritized.update(nodes)

    def prioritized(self, node: int) -> None:
        """The schedd is told of the node's jobs, or there are none."""
        self.unprioritized.discard(node)

    def cancel(self, node: int) -> None:
        """The node's present run is to fail."""
        self.cancelled.add(node)
        self._nodes.mark(node, CANCELLED)

    def let_go(self, node: int) -> None:
        """The node, which was done, has left the DAG."""
        self.cancelled.discard(node)
        self.settings.pop(node, None)
        self.unprioritized.discard(node)


class SteeringRequest:
    """How far a request is.  Written by `steering` alone.

    Attributes:
        awaited: numbers of its records that have not been read back.
        done: nodes for which it is in force.
        refused: nodes that it does not fit, and why.
        complete: whether all its parts have come.
        again: nodes that run again with their descendants, and these.
    """

    __slots__ = ("again", "awaited", "complete", "done", "refused")

    def __init__(self) -> None:
        self.awaited: set[int] = set()
        self.done = 0
        self.refused: list[tuple[int, str]] = []
        self.complete = False
        self.again: set[int] = set()
