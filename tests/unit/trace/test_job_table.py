"""Jobs in the queue, by the attempts that they are of."""

from __future__ import annotations

from condor_pydagman.trace.job_table import JobTable
from condor_pydagman.trace.nodes_log_text import NodesLogEvent
from condor_pydagman.trace.run_history import Attempt, Hold, NodeRun


def event(cluster: int, proc: int = 0, time: float = 1.0) -> NodesLogEvent:
    return NodesLogEvent(0, cluster, proc, 0, time, "", 0)


def test_a_cluster_is_of_one_node_unless_it_is_shared() -> None:
    table = JobTable()
    a, b = (NodeRun("A"), Attempt(0)), (NodeRun("B"), Attempt(0))
    table.add(event(7), *a, shared=False)
    table.add(event(8, 0), *a, shared=True)
    table.add(event(8, 1), *b, shared=True)
    assert [table.find(event(*job)) for job in ((7, 3), (8, 0), (8, 1), (8, 2), (9, 0))] == [
        a, a, b, None, None
    ]  # fmt: skip


def test_jobs_that_run_are_held_and_end_are_counted_once() -> None:
    table, attempt = JobTable(), Attempt(0)
    attempt.procs = 2
    table.add(event(7), NodeRun("A"), attempt, shared=False)
    for _ in range(2):
        table.set_running(event(7), attempt)
    assert attempt.running == 1
    assert not table.set_released(event(7), attempt)
    attempt.holds.append(Hold(1.0, "r", 1, 0, "7.0"))
    table.set_held(event(7), attempt)
    assert (attempt.running, attempt.held) == (0, 1)
    assert table.end(event(7, time=4.0), attempt)
    assert (attempt.held, attempt.holds[0].released) == (0, 4.0)
    assert not table.end(event(7), attempt)
