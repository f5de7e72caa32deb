"""SERVICE nodes: beside the DAG, in none of its counts."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.vocabulary import NodeKind
from tests import make


def service(**more: object) -> make.Bench:
    kinds = {"S": NodeKind.SERVICE}
    bench = make.Bench(make.dag("A -> B; S", kinds=kinds, **more)).begin()  # type: ignore[arg-type]
    bench.take("S", 3)
    return bench


def test_a_service_starts_first_and_is_in_no_count() -> None:
    bench = make.Bench(make.dag("A -> B; S", kinds={"S": NodeKind.SERVICE})).begin()
    assert bench.said("Starting service node S...")
    assert bench.submits() == ["S"]
    report = bench.engine.report()
    assert (report.total, report.ready, report.unready, report.queued) == (2, 1, 1, 0)
    bench.take("S", 3)
    assert bench.engine.report().queued == 0
    assert bench.submits() == ["A"]


def test_a_service_is_removed_at_a_good_end_and_its_end_not_waited_for() -> None:
    bench = service()
    bench.run_node("A", 5)
    bench.run_node("B", 6)
    assert bench.asked(do.RemoveJobs) == [do.RemoveJobs("Removed by DAGMan", 3)]
    assert bench.asked(do.Exit) == [do.Exit(0)]


@pytest.mark.parametrize("value", [0, 1])
def test_a_service_that_ends_early_does_not_end_the_dag(value: int) -> None:
    bench = service()
    bench.tell(make.terminated(3, value=value))
    assert not bench.ever(do.Exit)
    report = bench.engine.report()
    assert (report.failed, report.done) == (0, 0)
    assert int(report.dag_status) == (2 if value else 0)
    bench.run_node("A", 5)
    bench.run_node("B", 6)
    assert bench.asked(do.Exit) == [do.Exit(0)]
    assert not bench.asked(do.RemoveJobs)


def test_a_services_script_is_waited_for() -> None:
    bench = make.Bench(make.dag("A; S", kinds={"S": NodeKind.SERVICE}, pre={"S": "p"})).begin()
    bench.run_node("A", 5)
    assert not bench.ever(do.Exit)
    bench.pre_ends("S")
    assert not bench.ever(do.Exit)  # its job has just been submitted
    bench.take("S", 6)
    assert bench.ever(do.Exit) == [do.Exit(0)]
    assert [removal.cluster for removal in bench.ever(do.RemoveJobs)] == [6]


def test_a_services_post_script_is_waited_for() -> None:
    bench = service(post={"S": "q"})
    bench.tell(make.terminated(3))
    bench.run_node("A", 5)
    bench.run_node("B", 6)
    assert not bench.ever(do.Exit)
    bench.post_ends("S")
    assert bench.ever(do.Exit) == [do.Exit(0)]


def test_a_service_does_not_count_for_maxjobs() -> None:

    made = make.dag("A B; S", kinds={"S": NodeKind.SERVICE})
    bench = make.Bench(made, limits=Throttles(jobs=1)).begin()
    bench.take("S", 3)
    assert bench.submits() == ["A"]
    bench.take("A", 5)
    assert not bench.submits()


def test_a_service_may_abort_the_dag() -> None:
    bench = service(aborts={"S": 2})
    bench.tell(make.terminated(3, value=2))
    assert bench.ever(do.Exit) == [do.Exit(2)]


def test_a_dag_of_services_only_ends_at_once() -> None:
    bench = make.Bench(make.dag("S", kinds={"S": NodeKind.SERVICE})).begin()
    assert not bench.ever(do.Exit)
    bench.take("S", 3)
    assert [removal.cluster for removal in bench.ever(do.RemoveJobs)] == [3]
    assert bench.ever(do.Exit) == [do.Exit(0)]


def test_a_service_lives_through_final_and_is_removed_then() -> None:
    kinds = {"S": NodeKind.SERVICE, "F": NodeKind.FINAL}
    bench = make.Bench(make.dag("A; S; F", kinds=kinds)).begin()
    bench.take("S", 3)
    bench.run_node("A", 5, value=1)
    assert bench.asked(do.RemoveJobs)[0].spare_services
    bench.read_back()
    bench.run_node("F", 9)
    assert bench.asked(do.RemoveJobs) == [do.RemoveJobs("Removed by DAGMan", 3)]
    assert bench.asked(do.Exit) == [do.Exit(0)]


def test_a_service_that_fails_while_final_runs() -> None:
    kinds = {"S": NodeKind.SERVICE, "F": NodeKind.FINAL}
    bench = make.Bench(make.dag("A; S; F", kinds=kinds)).begin()
    bench.take("S", 3)
    bench.run_node("A", 5)
    bench.read_back()
    bench.tell(make.terminated(3, value=1))
    bench.run_node("F", 9)
    assert bench.asked(do.Exit) == [do.Exit(0)]
    assert int(bench.engine.shown_status) == 2


def test_a_service_after_a_restart_is_the_one_that_runs() -> None:
    other = service().restart()
    assert other.state("S").name == "SUBMITTED"
    assert other.submits() == ["A"]


def test_a_services_job_whose_reply_was_lost_is_not_left_behind() -> None:
    bench = make.Bench(make.dag("A; S", kinds={"S": NodeKind.SERVICE})).begin()
    bench.tell(inputs.SubmitFailed(1, "timeout", permanent=False, unknown=True))
    bench.wait(1.0)
    bench.run_node("A", 5)
    assert not bench.ever(do.Exit)
    bench.tell(inputs.QueueListed([inputs.QueuedJob(3, 0, "S", 0)]))
    assert [removal.cluster for removal in bench.ever(do.RemoveJobs)] == [3]
    assert bench.ever(do.Exit) == [do.Exit(0)]


def test_a_lost_service_job_is_noticed() -> None:
    bench = service()
    bench.take("A", 5)
    other = bench.replay()
    other.tell(inputs.LogCaughtUp())
    for _ in range(2):
        other.tell(inputs.QueueListed([inputs.QueuedJob(5, 0, "A", 0)]))
        other.read_back()
        other.wait(20.0)
    assert other.state("S").name == "FAILED"
    assert not other.ever(do.Exit)
