"""The priority of the whole DAG, which a person changes while it runs.

It is added to each node's own, as -Priority is, and counts for jobs in the queue as well.  The job
ad keeps it, as it keeps throttles, so a restarted DAGMan goes on with it.
"""

from __future__ import annotations

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.inputs import PriorityWanted
from condor_pydagman.engine.node_states import IN_QUEUE, State
from condor_pydagman.engine.state import RunState

MOST_AT_ONCE = 200  # jobs of one request to the schedd


def on_wanted(run: RunState, wanted: PriorityWanted) -> None:
    """The priority counts from now on.  The jobs in the queue are told between other things."""
    by = f", set by {wanted.by}" if wanted.by else ""
    restored = "Restoring the priority" if wanted.restored else "Priority"
    run.say(f"{restored} of the DAG: {wanted.priority}{by}")
    run.steering.set_dag_priority(wanted.priority)
    if not wanted.restored:
        run.emit(do.PublishPriority(wanted.priority))
    tell_all_jobs(run)


def tell_all_jobs(run: RunState) -> None:
    """Jobs in the queue may have another priority, if a person has set it."""
    run.steering.prioritize(run.nodes.in_state(*IN_QUEUE))


def tell_jobs(run: RunState) -> None:
    """Give the jobs in the queue the priority in force, as soon as their ids are known."""
    by_priority: dict[int, list[tuple[int, int]]] = {}
    for node in sorted(run.steering.unprioritized):
        state = run.nodes.states[node]
        if state in (State.SUBMITTING, State.UNKNOWN):
            continue  # its ids are not known yet
        run.steering.prioritized(node)
        jobs = run.job_table.by_node.get(node)
        if state == State.SUBMITTED and jobs is not None and jobs.cluster > 0:
            by_priority.setdefault(run.priority(node), []).append(jobs.target)
    for priority, targets in by_priority.items():
        for begin in range(0, len(targets), MOST_AT_ONCE):
            run.emit(do.SetJobPriorities(priority, tuple(targets[begin : begin + MOST_AT_ONCE])))
