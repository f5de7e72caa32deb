"""Where each node of a DAG stands, and what stands before it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from condor_pydagman import feature_table
from condor_pydagman.follow.run_model import NodeRun, Run
from condor_pydagman.graph.model import JOIN, Dag
from condor_pydagman.names import logged_name
from condor_pydagman.vocabulary import NodeStatus

_WAIT = (NodeStatus.NOT_READY, NodeStatus.FUTILE)


class GraphState:
    """The nodes of a DAG and their states."""

    def __init__(self, dag: Dag, run: Run) -> None:
        self.dag = dag  # the graph
        self._runs = run.nodes
        self.status = [self._told(number) for number in range(len(dag))]  # of each node
        # how many nodes can't run because of a failed one; a node that several stand before counts
        # for one of them
        self.futile = self._count_futile()
        self.of: dict[str, Any] = {}  # what features have counted, by their names

    def run_of(self, node: int) -> NodeRun | None:
        """What has happened to a node, None if nothing has."""
        return self._runs.get(logged_name(self.dag.names[node]))

    def names_of(self, nodes: Iterable[int]) -> list[str]:
        """Their names, without nodes that DAGMan has made for PARENT lines."""
        dag = self.dag
        return [dag.names[node] for node in nodes if not dag.flags[node] & JOIN]

    def of_status(self, *wanted: NodeStatus) -> Iterator[int]:
        """The nodes in one of these states."""
        return (node for node, status in enumerate(self.status) if status in wanted)

    def unmet(self, node: int) -> list[int]:
        """The parents that a node waits for."""
        parents = dict.fromkeys(self.dag.parents(node))
        return [parent for parent in parents if not self._has_ended_for(parent, node)]

    @cached_property
    def unreachable(self) -> Mapping[int, str]:
        """Nodes that can't run, by what features have counted, whatever else becomes of the nodes
        before them; and why, in words."""
        return {
            node: why
            for find in feature_table.told("explain", "unreachable")
            for node, why in find(self).items()
        }

    def is_unneeded(self, node: int) -> bool:
        """Whether it counts as done since an ENOUGH does not need it."""
        run = self.run_of(node)
        return run is not None and run.is_unneeded

    def _has_ended_for(self, parent: int, node: int) -> bool:
        status = self.status[parent]
        if status is NodeStatus.FUTILE:
            return self.dag.is_decided(node)
        ended_badly = status is NodeStatus.ERROR and self.dag.waits_for_end_only(parent, node)
        return status is NodeStatus.DONE or ended_badly

    def blockers(self, node: int) -> list[list[int]]:
        """Chains from a node upwards, by parents that it waits for, to each node that waits for
        none: the node itself first."""
        before: dict[int, int] = {node: -1}
        waiting, ends = deque([node]), []
        while waiting:
            now = waiting.popleft()
            waits = self.status[now] in _WAIT and now not in self.unreachable
            unmet = self.unmet(now) if waits else []
            if not unmet:
                ends.append(now)
            for parent in unmet:
                if parent not in before:
                    before[parent] = now
                    waiting.append(parent)
        return [self._chain(end, before) for end in ends]

    def _chain(self, end: int, before: dict[int, int]) -> list[int]:
        chain = [end]
        while before[chain[-1]] >= 0:
            chain.append(before[chain[-1]])
        return chain[::-1]

    def is_before_futile(self, node: int) -> bool:
        """Whether one of its children can't run."""
        return any(self.status[child] is NodeStatus.FUTILE for child in self.dag.children(node))

    def _told(self, node: int) -> NodeStatus:
        run = self.run_of(node)
        return run.counted if run is not None else NodeStatus.NOT_READY

    def _count_futile(self) -> dict[int, int]:
        """How many nodes can't run because of each that has failed."""
        seen: set[int] = set()
        return {node: self._futile_below(node, seen) for node in self.of_status(NodeStatus.ERROR)}

    def _futile_below(self, failed: int, seen: set[int]) -> int:
        count, dag = 0, self.dag
        marked = zip(dag.successors(failed), dag.edges.weak_marks(failed))
        todo = [vertex for vertex, weak in marked if not weak]
        while todo:
            vertex = todo.pop()
            is_futile = vertex < 0 or self.status[vertex] is NodeStatus.FUTILE
            if is_futile and vertex not in seen:
                seen.add(vertex)
                count += vertex >= 0
                todo += dag.successors(vertex)
        return count
