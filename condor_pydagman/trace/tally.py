"""Numbers of a run, kept up to date with each event: nodes by state, what is in the queue, how many
nodes end in a time.

To count the nodes of a large DAG anew for each picture would take longer than all else.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable

from condor_pydagman.trace.dag_events import DagEvent
from condor_pydagman.trace.run_history import NodeRun, Run
from condor_pydagman.vocabulary import NodeStatus

WINDOW_S = 600.0  # of which the rate is told
MAX_FAILURES = 50  # that are kept


class Tally:
    """Numbers of one run.

    Attributes:
        by_status: how many nodes are in each state.
        in_queue: the nodes with jobs in the queue, by name.
        failures: nodes that have failed for good, the newest last.
        ends: when nodes were done, of the last WINDOW_S before the newest, oldest first.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.by_status = Counter(node.status for node in run.nodes.values())
        self.in_queue: dict[str, NodeRun] = {}
        self.failures: deque[NodeRun] = deque(maxlen=MAX_FAILURES)
        self.ends: deque[float] = deque()
        ended = []
        for node in run.nodes.values():
            if node.status is NodeStatus.SUBMITTED:
                self.in_queue[node.name] = node
            elif node.since:
                ended.append(node)
        for node in sorted(ended, key=lambda node: node.since):
            self._ended(node, node.status, node.since)

    def take(self, events: Iterable[DagEvent]) -> None:
        """Count what has happened."""
        for event in events:
            if event.name == "node.state":
                self._change(event)

    def _change(self, event: DagEvent) -> None:
        node = self.run.nodes.get(event.node)
        if node is None:
            return
        was, status = (NodeStatus[event.data[key]] for key in ("was", "status"))
        if self.by_status[was]:
            self.by_status[was] -= 1
        self.by_status[status] += 1
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
