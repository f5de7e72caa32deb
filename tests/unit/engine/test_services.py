"""SERVICE nodes: beside the DAG, in none of its counts."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.throttles import Throttles
from tests import make


def service(commands: str = "") -> make.EngineHarness:
    harness = make.harness_of(f"A -> B\nSERVICE S n.sub\n{commands}")
    harness.take("S", 3)
    return harness


def test_a_service_starts_first_and_is_in_no_count() -> None:
    harness = make.harness_of("A -> B\nSERVICE S n.sub")
    assert harness.said("Starting service node S...")
    assert harness.submits() == ["S"]
    report = harness.engine.report()
    assert (report.total, report.ready, report.unready, report.queued) == (2, 1, 1, 0)
    harness.take("S", 3)
    assert harness.engine.report().queued == 0
    assert harness.submits() == ["A"]


def test_a_service_is_removed_at_a_good_end_and_its_end_not_waited_for() -> None:
    harness = service()
    harness.run_node("A", 5)
    harness.run_node("B", 6)
    assert harness.asked(do.RemoveJobs) == [do.RemoveJobs("Removed by DAGMan", 3)]
    assert harness.asked(do.Exit) == [do.Exit(0)]


@pytest.mark.parametrize("value", [0, 1])
def test_a_service_that_ends_early_does_not_end_the_dag(value: int) -> None:
    harness = service()
    harness.tell(make.terminated(3, value=value))
    assert not harness.ever(do.Exit)
    report = harness.engine.report()
    assert (report.failed, report.done) == (0, 0)
    assert int(report.dag_status) == (2 if value else 0)
    harness.run_node("A", 5)
    harness.run_node("B", 6)
    assert harness.asked(do.Exit) == [do.Exit(0)]
    assert not harness.asked(do.RemoveJobs)


def test_a_services_script_is_waited_for() -> None:
    harness = make.harness_of("A\nSERVICE S n.sub\nSCRIPT PRE S p")
    harness.run_node("A", 5)
    assert not harness.ever(do.Exit)
    harness.pre_ends("S")
    assert not harness.ever(do.Exit)  # its job has just been submitted
    harness.take("S", 6)
    assert harness.ever(do.Exit) == [do.Exit(0)]
    assert [removal.cluster for removal in harness.ever(do.RemoveJobs)] == [6]


def test_a_services_post_script_is_waited_for() -> None:
    harness = service("SCRIPT POST S q")
    harness.tell(make.terminated(3))
    harness.run_node("A", 5)
    harness.run_node("B", 6)
    assert not harness.ever(do.Exit)
    harness.post_ends("S")
    assert harness.ever(do.Exit) == [do.Exit(0)]


def test_a_service_does_not_count_for_maxjobs() -> None:

    harness = make.harness_of("A B\nSERVICE S n.sub", limits=Throttles(jobs=1))
    harness.take("S", 3)
    assert harness.submits() == ["A"]
    harness.take("A", 5)
    assert not harness.submits()


def test_a_service_may_abort_the_dag() -> None:
    harness = service("ABORT-DAG-ON S 2")
    harness.tell(make.terminated(3, value=2))
    assert harness.ever(do.Exit) == [do.Exit(2)]


def test_a_dag_of_services_only_ends_at_once() -> None:
    harness = make.harness_of("SERVICE S n.sub")
    assert not harness.ever(do.Exit)
    harness.take("S", 3)
    assert [removal.cluster for removal in harness.ever(do.RemoveJobs)] == [3]
    assert harness.ever(do.Exit) == [do.Exit(0)]


def test_a_service_lives_through_final_and_is_removed_then() -> None:
    harness = make.harness_of("A\nSERVICE S n.sub\nFINAL F n.sub")
    harness.take("S", 3)
    harness.run_node("A", 5, value=1)
    assert harness.asked(do.RemoveJobs)[0].spare_services
    harness.read_back()
    harness.run_node("F", 9)
    assert harness.asked(do.RemoveJobs) == [do.RemoveJobs("Removed by DAGMan", 3)]
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_a_service_that_fails_while_final_runs() -> None:
    harness = make.harness_of("A\nSERVICE S n.sub\nFINAL F n.sub")
    harness.take("S", 3)
    harness.run_node("A", 5)
    harness.read_back()
    harness.tell(make.terminated(3, value=1))
    harness.run_node("F", 9)
    assert harness.asked(do.Exit) == [do.Exit(0)]
    assert int(harness.engine.run.shown_status) == 2


def test_a_service_after_a_restart_is_the_one_that_runs() -> None:
    other = service().restart()
    assert other.state("S").name == "SUBMITTED"
    assert other.submits() == ["A"]


def test_a_services_job_whose_reply_was_lost_is_not_left_behind() -> None:
    harness = make.harness_of("A\nSERVICE S n.sub")
    harness.tell(inputs.SubmitFailed(1, "timeout", permanent=False, unknown=True))
    harness.wait(1.0)
    harness.run_node("A", 5)
    assert not harness.ever(do.Exit)
    harness.tell(inputs.QueueListed([inputs.QueuedJob(3, 0, "S", 0)]))
    assert [removal.cluster for removal in harness.ever(do.RemoveJobs)] == [3]
    assert harness.ever(do.Exit) == [do.Exit(0)]


def test_a_lost_service_job_is_noticed() -> None:
    harness = service()
    harness.take("A", 5)
    other = harness.replay()
    other.tell(inputs.LogCaughtUp())
    for _ in range(2):
        other.happens(inputs.QueueListed([inputs.QueuedJob(5, 0, "A", 0)]))
        other.wait(20.0)
    assert other.state("S").name == "FAILED"
    assert not other.ever(do.Exit)
