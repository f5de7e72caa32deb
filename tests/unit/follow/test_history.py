"""What happens to nodes: attempts, states and events, by entries of the nodes log."""

from __future__ import annotations

import pytest

from condor_pydagman.vocabulary import JournalRecord, NodeStatus
from tests.unit.follow.bench import A, Bench

DONE, ERROR = NodeStatus.DONE, NodeStatus.ERROR


@pytest.mark.parametrize(
    ("tolerance", "by_configuration", "status"),
    [
        ("", 2, DONE),
        ("", 1, ERROR),
        ("TOLERANCE A 1\n", 4, ERROR),
    ],
)
def test_how_many_jobs_may_fail(
    bench: Bench, tolerance: str, by_configuration: int, status: NodeStatus
) -> None:
    for proc in range(4):
        bench.submit("A", 7, proc)
    for proc in range(4):
        bench.terminate(7, proc, value=int(proc < 2))
    run = bench.follow(A + tolerance, failures_allowed=by_configuration)
    assert run.nodes["A"].status is status


def test_a_job_can_write_no_record_of_dagman(bench: Bench) -> None:
    bench.submit("A", 7)
    bench.record(JournalRecord.JOB_ENDED, cluster=7)
    text = bench.log.read_text().replace("(-01.-01.-01)", "(007.000.000)")
    bench.log.write_text(text)
    assert bench.node().status is NodeStatus.SUBMITTED


def test_jobs_that_are_of_no_node(bench: Bench) -> None:
    bench.event(0, "Job submitted from host: <x>\n", "007.000.000")
    bench.execute(7)
    bench.hold(7)
    bench.terminate(7)
    assert bench.follow().nodes == {}
    assert bench.events == []


def test_a_job_that_is_removed_while_it_runs_is_not_evicted(bench: Bench) -> None:
    evicted = "Job was evicted.\n\t(0) CPU times\n"
    for cluster, pause, count in ((7, 1, 0), (8, 60, 1)):
        bench.submit("A", cluster)
        bench.execute(cluster)
        bench.event(4, evicted, f"{cluster:03d}.000.000")
        bench.now += pause
        bench.abort(cluster)
        attempts = bench.node("RETRY A 9\n").attempts
        assert attempts[-1].evictions == count
