"""Clusters that are to be removed: asked for once, and again if the schedd was not told."""

from __future__ import annotations

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.removals import AGAIN as REMOVE_AGAIN
from condor_pydagman.engine.removals import GRACE, has_ended
from condor_pydagman.vocabulary import EventKind
from tests import make

QUIET = Config(check_queue_interval=0, pending_report_interval=0)


def removing(procs: int = 2) -> make.Bench:
    """The first proc of a node has failed, and the others have been told to go."""
    bench = make.Bench(make.dag("A; B", retries={"A": 1}), QUIET).begin()
    bench.take("A", 5, procs=procs)
    bench.take("B", 6)
    bench.tell(make.terminated(5, 0, value=1))
    bench.wait(GRACE)
    return bench


def clusters(bench: make.Bench) -> list[int]:
    return [action.cluster for action in bench.asked(do.RemoveJobs)]


def test_a_removal_that_failed_is_asked_for_again() -> None:
    bench = make.Bench("A").begin()
    bench.take("A", 5, procs=2)
    bench.tell(make.terminated(5, 0, value=1))
    bench.wait(GRACE)
    assert [action.cluster for action in bench.asked(do.RemoveJobs)] == [5]
    bench.tell(inputs.RemoveFailed(5, "no schedd"))
    assert not bench.asked(do.RemoveJobs)
    bench.wait(REMOVE_AGAIN)
    assert [action.cluster for action in bench.asked(do.RemoveJobs)] == [5]


def test_it_is_asked_for_once() -> None:
    bench = removing(4)
    assert clusters(bench) == [5]
    bench.tell(make.terminated(5, 1, value=1), make.of_job(EventKind.JOB_ABORTED, 5, 2))
    assert not clusters(bench)


def test_the_reason_stays_the_same() -> None:
    bench = removing()
    (first,) = bench.asked(do.RemoveJobs)
    bench.tell(inputs.RemoveFailed(5, "no schedd"))
    assert bench.said("Warning: could not remove cluster 5: no schedd")
    assert bench.engine.next_deadline() == bench.now + REMOVE_AGAIN
    bench.wait(REMOVE_AGAIN - 1)
    assert not clusters(bench)
    bench.wait(1.0)
    assert bench.asked(do.RemoveJobs) == [first]
    assert bench.engine.next_deadline() is None


def test_as_often_as_it_takes() -> None:
    bench = removing()
    for _ in range(5):
        bench.tell(inputs.RemoveFailed(5, "no schedd"))
        bench.wait(REMOVE_AGAIN)
        assert clusters(bench) == [5]


def test_jobs_that_have_ended_meanwhile_need_no_removal() -> None:
    bench = removing()
    bench.tell(inputs.RemoveFailed(5, "no schedd"))
    bench.tell(make.terminated(5, 1))
    assert bench.submits() == ["A"]
    bench.take("A", 7)
    bench.wait(REMOVE_AGAIN)
    assert not clusters(bench)  # above all not those of the retry
    assert bench.engine.next_deadline() is None


def test_a_failure_to_remove_what_is_not_ours() -> None:
    bench = removing()
    bench.tell(inputs.RemoveFailed(99, "no such job"), inputs.RemoveFailed(0, "no schedd"))
    bench.wait(REMOVE_AGAIN)
    assert not clusters(bench)


def test_a_failure_that_is_told_when_the_node_has_ended() -> None:
    bench = removing()
    bench.tell(make.terminated(5, 1))
    bench.tell(inputs.RemoveFailed(5, "no schedd"))
    bench.wait(REMOVE_AGAIN)
    assert not clusters(bench)


def test_a_paused_dag_goes_on_removing() -> None:
    bench = removing()
    bench.tell(inputs.RemoveFailed(5, "no schedd"), inputs.Halt(pause=True))
    bench.wait(REMOVE_AGAIN)
    assert clusters(bench) == [5]


def test_in_recovery_nothing_is_asked_before_the_schedd_has_been() -> None:
    other = removing().replay()
    other.tell(inputs.LogCaughtUp())
    assert not clusters(other)
    other.tell(inputs.QueueListed(other.queue()))
    assert clusters(other) == [5]


def test_what_the_old_log_goes_on_to_tell_strikes_it_out() -> None:
    bench = removing()
    bench.tell(make.of_job(EventKind.JOB_ABORTED, 5, 1))
    bench.take("A", 7)
    assert not bench.restart().ever(do.RemoveJobs)


def test_the_end_of_the_dag_removes_everything_at_once() -> None:
    bench = removing()
    bench.tell(inputs.Stop())
    assert clusters(bench) == [0]


def test_a_removal_that_fails_later_does_not_put_off_the_first() -> None:
    bench = make.Bench("A; B", QUIET).begin()
    bench.take("A", 5, procs=2)
    bench.take("B", 6, procs=2)
    bench.tell(make.terminated(5, 0, value=1))
    bench.wait(GRACE)
    bench.tell(inputs.RemoveFailed(5, "no schedd"))
    bench.tell(make.terminated(6, 0, value=1))
    bench.wait(REMOVE_AGAIN - 1)
    bench.tell(inputs.RemoveFailed(6, "no schedd"))
    bench.wait(1.0)
    assert clusters(bench) == [5, 6]


def test_procs_that_failed_for_the_same_reason_may_end_by_themselves() -> None:
    bench = make.Bench(make.dag("A; B"), QUIET).begin()
    bench.take("A", 5, procs=3)
    bench.take("B", 6)
    bench.tell(make.terminated(5, 0, value=1))
    assert not clusters(bench)
    assert bench.engine.next_deadline() == bench.now + GRACE
    bench.tell(make.terminated(5, 1, value=1))
    bench.wait(GRACE / 2)
    bench.tell(make.terminated(5, 2, value=1))
    bench.wait(GRACE)
    assert not bench.ever(do.RemoveJobs)


def test_a_proc_that_was_removed_takes_the_others_with_it_at_once() -> None:
    bench = make.Bench(make.dag("A; B"), QUIET).begin()
    bench.take("A", 5, procs=2)
    bench.tell(make.of_job(EventKind.JOB_ABORTED, 5))
    assert clusters(bench) == [5]


def job(cluster: int, proc: int, name: str) -> inputs.QueuedJob:
    return inputs.QueuedJob(cluster, proc, name, 0)


def test_whose_end_has_been_read() -> None:
    bench = removing(3)
    known = {proc: has_ended(bench.engine, job(5, proc, "A")) for proc in range(4)}
    assert known == {0: True, 1: False, 2: False, 3: False}
    assert not has_ended(bench.engine, job(6, 0, "B"))
    assert not has_ended(bench.engine, job(7, 0, "B"))  # not known (yet)
    assert not has_ended(bench.engine, job(8, 0, "nobody's"))


def test_whose_end_has_been_read_when_the_node_has_gone_on() -> None:
    bench = removing()
    bench.tell(make.of_job(EventKind.JOB_ABORTED, 5, 1))
    bench.take("A", 7)  # its retry
    bench.tell(make.terminated(6))  # B is done
    for engine in (bench.engine, bench.restart().engine):
        assert has_ended(engine, job(5, 0, "A"))
        assert has_ended(engine, job(6, 0, "B"))
        assert not has_ended(engine, job(7, 0, "A"))


def test_whose_end_has_been_read_though_the_log_has_lost_whose_it_is() -> None:
    bench = make.Bench("A").begin()
    bench.tell(make.terminated(7, 0), make.of_job(EventKind.EXECUTE, 7, 1))
    jobs = [inputs.QueuedJob(7, proc, "A", 0) for proc in (0, 1)]
    assert [has_ended(bench.engine, job) for job in jobs] == [True, False]
