"""Where each node of a DAG stands: the states of its run, and what the edges add to them.

The logs do not tell that a node has become ready, or that it can't run any more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator

from condor_pydagman.engine.node_states import State
from condor_pydagman.features.enough.counts import FOLLOWS, EnoughCounts
from condor_pydagman.features.enough.graph import EnoughsOfDag
from condor_pydagman.graph.model import JOIN, Dag
from condor_pydagman.names import logged_name
from condor_pydagman.trace.countdown import Countdown
from condor_pydagman.trace.futile import FutileNodes, is_unneeded
from condor_pydagman.trace.run_history import NodeRun, Run
from condor_pydagman.vocabulary import NodeStatus

_ENDED = (NodeStatus.DONE, NodeStatus.ERROR)
_COUNTED = {
    NodeStatus.DONE: State.DONE,
    NodeStatus.ERROR: State.FAILED,
    NodeStatus.FUTILE: State.FUTILE,
}
_WAIT = (NodeStatus.NOT_READY, NodeStatus.FUTILE)


class GraphState:
    """The nodes of a DAG and their states.

    Attributes:
        dag: the graph.
        status: of each node; READY if all its parents have ended well, FUTILE if a failed node
            stands before it.
        futile: how many nodes can't run because of a failed one; a node that several stand before
            counts for one of them.
        enough: how many nodes of each ENOUGH are done, not needed, or can't be done.
    """

    def __init__(self, dag: Dag, run: Run) -> None:
        self.dag = dag
        self._runs = run.nodes
        self.status = [self._told(number) for number in range(len(dag))]
        self._mark_ready(run.enough)
        self.futile = self._mark_futile()
        self.enough = self._count_enough()

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

    def is_hopeless(self, node: int) -> bool:
        """Whether enough of its parents (ENOUGH PARENTS) can't be done any more."""
        number = EnoughsOfDag.of(self.dag).enough_of.get(node)
        is_futile = self.status[node] is NodeStatus.FUTILE
        return number is not None and is_futile and self.enough.is_hopeless(number)

    def is_unneeded(self, node: int) -> bool:
        """Whether it counts as done since an ENOUGH does not need it."""
        return self.status[node] is NodeStatus.DONE and is_unneeded(
            self.dag, node, self.run_of(node)
        )

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
            waits = self.status[now] in _WAIT and not self.is_hopeless(now)
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
        return run.status if run is not None else NodeStatus.NOT_READY

    def _mark_ready(self, enough: Collection[str]) -> None:
        countdown, status = Countdown(self.dag, enough), self.status
        for node, now in enumerate(status):
            if now in _ENDED:
                countdown.ended(node, failed=now is NodeStatus.ERROR)
        for node, now in enumerate(status):
            if now is NodeStatus.NOT_READY and countdown.is_free(node):
                status[node] = NodeStatus.READY

    def _mark_futile(self) -> dict[int, int]:
        """FUTILE for all that a failed node stands before; how many for each of these."""
        found = FutileNodes(self.dag, lambda node: self.status[node] is NodeStatus.NOT_READY)
        any_of_parents = EnoughsOfDag.of(self.dag).enough_of
        for node in filter(self.is_unneeded, range(len(self.dag) if any_of_parents else 0)):
            found.leave(node)
        counts = {node: len(found.fail(node)) for node in self.of_status(NodeStatus.ERROR)}
        for node in found.nodes:
            self.status[node] = NodeStatus.FUTILE
        return counts

    def _count_enough(self) -> EnoughCounts:
        counts = EnoughCounts(self.dag)
        for node in counts.of:
            if self.is_unneeded(node):
                counts.mark(node, FOLLOWS)
            counts.moved(node, State.WAITING, _COUNTED.get(self.status[node], State.WAITING))
        return counts
