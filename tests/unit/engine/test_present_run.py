"""Which jobs are of the present run of a node."""

from __future__ import annotations

from condor_pydagman.engine import present_run
from condor_pydagman.engine.inputs import QueuedJob
from tests import make


def test_jobs_of_another_retry_are_not_of_the_present_run() -> None:
    harness = make.harness_of("A", retries={"A": 1}, procs=1)
    harness.tell(make.terminated(5, value=1))
    run, jobs = harness.engine.run, [QueuedJob(5, 0, "A", 0), QueuedJob(6, 0, "A", 1)]
    assert present_run.of_present_run(run, 0, jobs) == jobs[1:]
    assert present_run.is_of_previous_run(run, 0, 5)
    assert not present_run.is_of_previous_run(run, 0, 6)


def test_of_several_clusters_the_one_that_stays() -> None:
    jobs = [QueuedJob(5, 0, "A", 0), QueuedJob(6, 0, "A", 0, leaving=True)]
    assert present_run.best_cluster(jobs, []) == 5
    assert present_run.best_cluster([], []) is None
    assert not present_run.is_shared(jobs, 5)
