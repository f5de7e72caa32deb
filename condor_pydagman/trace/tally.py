"""Numbers of a run, kept up to date with each event: nodes by state, what is in the queue, how many
nodes end in a time.

To count the nodes of a large DAG anew for each picture would take longer than all else.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable

from condor_pydagman import features
from condor_pydagman.graph.model import Dag
from condor_pydagman.names import logged_name
from condor_pydagman.trace.countdown import Countdown
from condor_pydagman.trace.dag_events import DagEvent
from condor_pydagman.trace.run_history import NodeRun, Run
from condor_pydagman.vocabulary import NodeKind, NodeStatus

WINDOW_S = 600.0  # of which the rate is told
_ENDED = (NodeStatus.DONE, NodeStatus.ERROR)
MAX_FAILURES = 50  # that are kept


class Tally:
    """Numbers of one run.

    Args:
        run: how it stands; events that are taken later have been counted in it.
        dag: the DAG, None if it is not at hand.
        let_go_before: how many nodes had been let go before the run began: it does not know them.

    Attributes:
        run, dag, let_go_before: as given.
        ready: nodes that wait for no parent and have not begun; with those of by_status, all that
            are ready.
        by_status: how many nodes are in each state.
        in_queue: the nodes with jobs in the queue, by name.
        failures: nodes that have failed for good, the newest last.
        ends: when nodes were done, of the last WINDOW_S before the newest, oldest first.
    """

    def __init__(self, run: Run, dag: Dag | None = None, let_go_before: int = 0) -> None:
        self.run = run
        self.dag = dag
        self.let_go_before = let_go_before
        self._countdown = self._new_countdown()
        self._counted: set[str] = set()  # nodes whose end the countdown knows
        self._stale = False
        self.ready = self._find_ready() if dag is not None else set()
        self._services = _services(dag)
        nodes = [node for name, node in run.nodes.items() if name not in self._services]
        self.by_status = Counter(node.status for node in nodes)
        self.in_queue: dict[str, NodeRun] = {}
        self.failures: deque[NodeRun] = deque(maxlen=MAX_FAILURES)
        self.ends: deque[float] = deque()
        ended = []
        for node in nodes:
            if node.status is NodeStatus.SUBMITTED:
                self.in_queue[node.name] = node
            elif node.since:
                ended.append(node)
        for node in sorted(ended, key=lambda node: node.since):
            self._ended(node, node.status, node.since)

    def _new_countdown(self) -> Countdown | None:
        return Countdown(self.dag, self.run) if self.dag is not None else None

    def _find_ready(self) -> set[str]:
        """Counts all anew."""
        nodes = self.run.nodes
        for name, node in nodes.items():
            self._freed_by(name, node.status)
        return {name for name in nodes if self._waits_for_nothing(name)}

    def _waits_for_nothing(self, name: str) -> bool:
        if self._countdown is None or self.run.nodes[name].status is not NodeStatus.NOT_READY:
            return False
        node = self._countdown.dag.find(name)
        return node is not None and self._countdown.is_free(node)

    def _freed_by(self, name: str, status: NodeStatus) -> set[str]:
        """The nodes that wait for nothing any more, if a node has ended."""
        if self._countdown is None or status not in _ENDED or name in self._counted:
            return set()
        dag = self._countdown.dag
        node = dag.find(name)
        if node is None:
            return set()
        self._counted.add(name)
        freed = self._countdown.ended(node, failed=status is NodeStatus.ERROR)
        names = (logged_name(dag.names[one]) for one in freed)
        return {name for name in names if self._waits_for_nothing(name)}

    def take(self, events: Iterable[DagEvent]) -> None:
        """Count what has happened."""
        for event in events:
            if event.name == "node.state":
                self._change(event)
            self._stale |= any(event.name in names for names in features.told("trace", "OPENS"))
        if self._stale:
            self._stale = False
            self._countdown = self._new_countdown()
            self._counted.clear()
            self.ready = self._find_ready()

    def _change(self, event: DagEvent) -> None:
        node = self.run.nodes.get(event.node)
        if node is None or node.name in self._services:
            return
        was, status = (NodeStatus[event.data[key]] for key in ("was", "status"))
        if self.by_status[was]:
            self.by_status[was] -= 1
        self.by_status[status] += 1
        self._stale |= was in _ENDED  # it runs again, and its children wait for it
        self.ready.discard(node.name)
        self.ready |= self._freed_by(node.name, status)
        if was is NodeStatus.SUBMITTED:
            self.in_queue.pop(node.name, None)
        if was is NodeStatus.ERROR and node in self.failures:
            self.failures.remove(node)
        if status is NodeStatus.SUBMITTED:
            self.in_queue[node.name] = node
        self._ended(node, status, event.time)

    def _ended(self, node: NodeRun, status: NodeStatus, time: float) -> None:
        if status is NodeStatus.ERROR:
            self.failures.append(node)
        elif status is NodeStatus.DONE:
            self.ends.append(time)
            while self.ends[0] < time - WINDOW_S:
                self.ends.popleft()

    def per_second(self, now: float) -> float:
        """How many nodes are done in a second, over the last WINDOW_S; 0.0 if fewer than five are.

        Args:
            now: seconds since the epoch.
        """
        recent = sum(time >= now - WINDOW_S for time in self.ends)
        since = max(now - WINDOW_S, min(self.run.begun or now, now))
        return recent / (now - since) if recent >= 5 and now > since else 0.0


def _services(dag: Dag | None) -> set[str]:
    """The SERVICE nodes: DAGMan does not count them either."""
    found = dag.of_kind(NodeKind.SERVICE) if dag is not None else ()
    return {logged_name(dag.names[node]) for node in found} if dag is not None else set()
