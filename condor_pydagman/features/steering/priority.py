"""The priority of the whole DAG, which a person changes while it runs.

It is added to each node's own, as -Priority is, and counts for jobs in the queue as well.  The job
ad keeps it, as it keeps throttles, so a restarted DAGMan goes on with it.
"""

from __future__ import annotations

from collections.abc import Iterable

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.node_states import IN_QUEUE, State
from condor_pydagman.engine.state import RunState
from condor_pydagman.features.steering.requests import PriorityWanted

MOST_AT_ONCE = 200  # jobs of one request to the schedd


class Priorities:
    """Of the jobs in the queue.

    Attributes:
        unsure: nodes whose jobs may have another priority there than is in force.
    """

    def __init__(self, run: RunState) -> None:
        self._run = run
        self.unsure: set[int] = set()

    def on_wanted(self, wanted: PriorityWanted) -> None:
        """It counts from now on.  The jobs in the queue are told between other things."""
        run = self._run
        by = f", set by {wanted.by}" if wanted.by else ""
        restored = "Restoring the priority" if wanted.restored else "Priority"
        run.say(f"{restored} of the DAG: {wanted.priority}{by}")
        run.set_dag_priority(wanted.priority)
        if not wanted.restored:
            run.emit(do.PublishPriority(wanted.priority))
        self.may_all_differ()

    def may_all_differ(self) -> None:
        """Jobs in the queue may have another priority, if a person has set it."""
        self.may_differ(self._run.nodes.in_state(*IN_QUEUE))

    def may_differ(self, nodes: Iterable[int]) -> None:
        """The same of these nodes."""
        if self._run.dag_priority_is_set:
            self.unsure.update(nodes)

    def tell(self) -> None:
        """Give the jobs in the queue the priority in force, as soon as their ids are known."""
        run = self._run
        by_priority: dict[int, list[tuple[int, int]]] = {}
        for node in sorted(self.unsure):
            state = run.nodes.states[node]
            if state in (State.SUBMITTING, State.UNKNOWN):
                continue  # its ids are not known yet
            self.unsure.discard(node)
            jobs = run.job_table.by_node.get(node)
            if state == State.SUBMITTED and jobs is not None and jobs.cluster > 0:
                by_priority.setdefault(run.priority(node), []).append(jobs.target)
        for priority, targets in by_priority.items():
            for begin in range(0, len(targets), MOST_AT_ONCE):
                some = tuple(targets[begin : begin + MOST_AT_ONCE])
                run.emit(do.SetJobPriorities(priority, some))

    def forget(self, node: int) -> None:
        """The node has left the DAG."""
        self.unsure.discard(node)
