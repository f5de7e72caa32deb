"""TIMEOUT: clocks of procs, the record, what follows; the same after a restart."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs, queues
from condor_pydagman.engine.inputs import QueuedJob, QueueListed
from condor_pydagman.engine.queues import Clocks
from condor_pydagman.features.timeout.commands import Timeout
from condor_pydagman.graph.model import Tolerance
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, EventKind
from tests import make
from tests.make import QUIET


def with_timeout(
    timeout: str, *, procs: int = 1, config: Config = QUIET, commands: str = ""
) -> make.EngineHarness:
    """A has the timeout, and the schedd has taken its jobs."""
    return make.harness_of(f"A -> B\nTIMEOUT A {timeout}\n{commands}", config, procs=procs)


def tell(harness: make.EngineHarness, kind: EventKind, proc: int = 0) -> None:
    harness.tell(make.of_job(kind, 5, proc))


def records(harness: make.EngineHarness) -> list[tuple[int, str]]:
    """Proc and text of each TIMED_OUT record of the last input(s)."""
    asked = harness.asked(do.AppendJournalRecord)
    return [(record.proc, record.text) for record in asked if record.record == "TIMED_OUT"]


def test_a_job_that_waits_too_long_fails() -> None:
    harness = with_timeout("QUEUED 60")
    assert harness.engine.next_deadline() == 1060.0
    assert not harness.wait(59.0)
    harness.wait(1.0)
    assert harness.asked(do.AppendJournalRecord) == [
        do.AppendJournalRecord(
            "TIMED_OUT",
            0,
            0,
            RETURN_JOB_ABORTED,
            5,
            0,
            "waited for 60 s (TIMEOUT QUEUED 60)",
        )
    ]
    assert not harness.asked(do.RemoveJobs)  # not before the record has been read back
    harness.read_back()
    assert harness.said("job proc (5.0.0) waited for 60 s (TIMEOUT QUEUED 60): removing its jobs")
    (removal,) = harness.asked(do.RemoveJobs)
    assert removal.cluster == 5
    assert "Node Timeout: DAG node A (5.0.0) waited for 60 s" in removal.reason
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 5))
    assert harness.states() == "A=FAILED B=FUTILE"
    assert harness.engine.run.nodes.values[0] == RETURN_JOB_ABORTED
    assert (
        harness.engine.run.nodes.errors[0] == "Job proc (5.0.0) waited for 60 s (TIMEOUT QUEUED 60)"
    )


def test_a_job_that_runs_waits_no_longer() -> None:
    harness = with_timeout("QUEUED 60")
    harness.now += 59
    tell(harness, EventKind.EXECUTE)
    harness.wait(1.0)
    assert not records(harness)
    assert harness.engine.next_deadline() is None


@pytest.mark.parametrize(
    "event",
    [
        EventKind.JOB_EVICTED,
        EventKind.SHADOW_EXCEPTION,
        EventKind.JOB_RECONNECT_FAILED,
        EventKind.JOB_SUSPENDED,
        EventKind.JOB_HELD,
    ],
)
def test_a_job_that_waits_again_waits_anew(event: EventKind) -> None:
    harness = with_timeout("QUEUED 60")
    harness.now += 50
    tell(harness, EventKind.EXECUTE)
    harness.now += 30
    tell(harness, event)
    harness.wait(59.0)
    assert not records(harness)
    harness.wait(1.0)
    assert records(harness) == [(0, "waited for 60 s (TIMEOUT QUEUED 60)")]


def test_to_be_held_is_to_wait() -> None:
    harness = with_timeout("QUEUED 60")
    harness.now += 30
    tell(harness, EventKind.JOB_HELD)
    harness.now += 20
    tell(harness, EventKind.JOB_RELEASED)
    harness.wait(10.0)
    assert records(harness) == [(0, "waited for 60 s (TIMEOUT QUEUED 60)")]


def test_a_job_that_runs_too_long_fails() -> None:
    harness = with_timeout("RUNNING 60")
    assert harness.engine.next_deadline() is None
    harness.wait(1000.0)
    assert not records(harness)
    tell(harness, EventKind.EXECUTE)
    harness.wait(59.0)
    tell(harness, EventKind.EXECUTE)  # doubled
    harness.wait(1.0)
    assert records(harness) == [(0, "ran for 60 s (TIMEOUT RUNNING 60)")]


@pytest.mark.parametrize("event", [EventKind.JOB_EVICTED, EventKind.JOB_HELD])
def test_what_ends_running_restarts_its_clock(event: EventKind) -> None:
    harness = with_timeout("RUNNING 60")
    tell(harness, EventKind.EXECUTE)
    harness.now += 50
    tell(harness, event)
    harness.wait(500.0)
    tell(harness, EventKind.EXECUTE)
    harness.wait(55.0)
    assert not records(harness)
    harness.wait(5.0)
    assert records(harness) == [(0, "ran for 60 s (TIMEOUT RUNNING 60)")]


def test_total_counts_through_everything() -> None:
    harness = with_timeout("TOTAL 100")
    for event in (EventKind.EXECUTE, EventKind.JOB_EVICTED, EventKind.JOB_HELD):
        harness.now += 30
        tell(harness, event)
    harness.wait(10.0)
    assert records(harness) == [(0, "has been in the queue for 100 s (TIMEOUT TOTAL 100)")]


def test_the_first_clock_counts() -> None:
    harness = with_timeout("QUEUED 60 RUNNING 20 TOTAL 70")
    harness.now += 55
    tell(harness, EventKind.EXECUTE)
    harness.wait(15.0)
    assert records(harness) == [(0, "has been in the queue for 70 s (TIMEOUT TOTAL 70)")]
    harness.wait(10.0)
    assert not records(harness)  # once is enough


def test_a_job_that_ends_in_time() -> None:
    harness = with_timeout("QUEUED 60 RUNNING 60 TOTAL 60")
    tell(harness, EventKind.EXECUTE)
    harness.tell(make.terminated(5))
    harness.wait(100.0)
    assert not records(harness)
    assert harness.state("A").name == "DONE"


def test_a_job_that_ends_between_record_and_removal() -> None:
    harness = with_timeout("QUEUED 60")
    first = harness.wait(60.0)
    harness.tell(make.terminated(5))  # before the record in the log
    harness.tell(*harness.echo(first))
    assert harness.state("A").name == "DONE"
    assert not harness.ever(do.RemoveJobs)
    harness.same_replay()


def test_a_job_that_ends_after_the_record_has_failed_all_the_same() -> None:
    harness = with_timeout("QUEUED 60")
    harness.wait(60.0)
    harness.read_back()
    harness.tell(make.terminated(5))
    assert harness.state("A").name == "FAILED"
    assert harness.engine.run.nodes.values[0] == RETURN_JOB_ABORTED


def test_one_proc_takes_the_others_with_it() -> None:
    harness = with_timeout("QUEUED 60", procs=3)
    tell(harness, EventKind.EXECUTE, 0)
    tell(harness, EventKind.EXECUTE, 2)
    harness.wait(60.0)
    assert records(harness) == [(1, "waited for 60 s (TIMEOUT QUEUED 60)")]
    harness.read_back()
    assert len(harness.asked(do.RemoveJobs)) == 1
    for proc in range(3):
        tell(harness, EventKind.JOB_ABORTED, proc)
    assert harness.state("A").name == "FAILED"
    assert harness.engine.run.nodes.errors[0].startswith("Job proc (5.1.0) waited")


def test_several_procs_at_once_are_one_record() -> None:
    harness = with_timeout("QUEUED 60", procs=3)
    harness.wait(60.0)
    assert len(records(harness)) == 1
    harness.wait(1.0)
    assert not records(harness)


@pytest.mark.parametrize("fail_fast", [None, False, True])
def test_tolerance_does_not_help(fail_fast: bool | None) -> None:
    harness = with_timeout("QUEUED 60", procs=2)
    harness.dag.tolerances[0] = Tolerance(5, fail_fast=fail_fast)
    tell(harness, EventKind.EXECUTE, 0)
    harness.wait(60.0)
    harness.read_back()
    assert harness.asked(do.RemoveJobs)
    harness.tell(make.terminated(5, 0), make.of_job(EventKind.JOB_ABORTED, 5, 1))
    assert harness.state("A").name == "FAILED"


def test_the_post_script_decides() -> None:
    harness = with_timeout("QUEUED 60", commands="SCRIPT POST A q $RETURN $SUCCESS")
    harness.wait(60.0)
    harness.read_back()
    tell(harness, EventKind.JOB_ABORTED)
    assert harness.asked(do.RunScript)[0].words == ("q", "-1002", "False")
    harness.post_ends("A", 0)
    assert harness.states() == "A=DONE B=SUBMITTING"


def test_it_is_retried_and_the_next_run_has_clocks_of_its_own() -> None:
    harness = with_timeout("QUEUED 60", commands="RETRY A 1 ONLY-IF -1002")
    harness.wait(60.0)
    harness.read_back()
    tell(harness, EventKind.JOB_ABORTED)
    assert harness.submits() == ["A"]
    harness.now += 30
    harness.take("A", 6)
    assert harness.engine.next_deadline() == harness.now + 60
    harness.wait(60.0)
    assert [record.retry for record in harness.asked(do.AppendJournalRecord)] == [1]


def test_unless_exit_knows_the_value() -> None:
    harness = with_timeout("QUEUED 60", commands="RETRY A 3 UNLESS-EXIT -1002")
    harness.wait(60.0)
    harness.read_back()
    tell(harness, EventKind.JOB_ABORTED)
    assert harness.states() == "A=FAILED B=WAITING"


def test_a_restart_does_not_set_the_clock_back() -> None:
    harness = with_timeout("QUEUED 60 RUNNING 300")
    harness.now += 40
    other = harness.restart()
    assert other.engine.next_deadline() == 1060.0
    other.wait(20.0)
    assert records(other) == [(0, "waited for 60 s (TIMEOUT QUEUED 60)")]


def test_a_restart_after_the_time() -> None:
    harness = with_timeout("RUNNING 60")
    tell(harness, EventKind.EXECUTE)
    harness.now += 500
    other = harness.replay()
    assert not other.ever(do.AppendJournalRecord)
    other.tell(inputs.LogCaughtUp())
    assert not other.ever(do.AppendJournalRecord)  # it may have ended: the schedd is asked first
    other.tell(inputs.QueueListed(other.queue()))
    assert records(other) == [(0, "ran for 60 s (TIMEOUT RUNNING 60)")]


def test_a_restart_after_the_record_removes_again() -> None:
    harness = with_timeout("QUEUED 60")
    harness.wait(60.0)
    harness.read_back()
    other = harness.same_replay()
    other.tell(inputs.LogCaughtUp(), inputs.QueueListed(other.queue()))
    assert [removal.cluster for removal in other.asked(do.RemoveJobs)] == [5]
    assert not other.ever(do.AppendJournalRecord)


def test_whole_life_replayed() -> None:
    harness = with_timeout("QUEUED 60", commands="RETRY A 1")
    for cluster in (5, 6):
        harness.wait(60.0)
        harness.read_back()
        harness.tell(make.of_job(EventKind.JOB_ABORTED, cluster))
        if cluster == 5:
            harness.same_replay()
            harness.take("A", 6)
    assert harness.state("A").name == "FAILED"
    harness.same_replay()


def test_a_record_that_is_lost_is_written_again() -> None:
    harness = with_timeout("QUEUED 60")
    harness.wait(60.0)
    harness.wait(60.0)
    assert len(records(harness)) == 1
    harness.read_back()
    assert harness.asked(do.RemoveJobs)


def test_a_doubled_record_changes_nothing() -> None:
    harness = with_timeout("QUEUED 60")
    first = harness.wait(60.0)
    harness.tell(*harness.echo(first), *harness.echo(first))
    assert len(harness.asked(do.RemoveJobs)) == 1


def test_a_record_about_an_earlier_run() -> None:
    harness = with_timeout("QUEUED 60", commands="RETRY A 1")
    first = harness.wait(60.0)
    harness.tell(make.terminated(5, value=1))
    harness.take("A", 6)
    harness.tell(*harness.echo(first))
    assert not harness.asked(do.RemoveJobs)


@pytest.mark.parametrize("ahead", [10.0, 1000.0])
@pytest.mark.parametrize("timeout", ["QUEUED 60", "TOTAL 60"])
def test_events_from_a_clock_that_is_ahead(ahead: float, timeout: Timeout) -> None:
    """The time of the log is ahead of ours: the clock starts when we read it, and does fire."""
    harness = make.harness_of(f"A\nTIMEOUT A {timeout}", QUIET)
    event = make.submit("A", 5)._replace(time=harness.now + ahead)
    harness.tell(event, inputs.Submitted(0, 5, 1))
    assert harness.engine.next_deadline() == harness.now + 60
    harness.wait(60.0)
    assert len(records(harness)) == 1


def test_a_clock_that_steps_back() -> None:
    harness = with_timeout("QUEUED 60")
    harness.now -= 500
    tell(harness, EventKind.EXECUTE)
    harness.wait(600.0)
    assert not records(harness)


def test_events_from_a_clock_that_is_behind() -> None:
    harness = make.harness_of("A\nTIMEOUT A QUEUED 60", QUIET)
    event = make.submit("A", 5)._replace(time=harness.now - 100)
    harness.tell(inputs.Submitted(0, 5, 1), event)
    assert not records(harness)
    assert harness.engine.next_deadline() == harness.now + 60


def test_no_clocks_for_a_noop() -> None:
    harness = make.harness_of("JOB A n.sub NOOP\nTIMEOUT A QUEUED 1 RUNNING 1 TOTAL 1", QUIET)
    harness.wait(10.0)
    assert not records(harness)


def test_a_service_node_has_clocks_too() -> None:
    harness = make.harness_of("A\nSERVICE S n.sub\nTIMEOUT S RUNNING 60", QUIET)
    harness.take("S", 5)
    harness.take("A", 6)
    tell(harness, EventKind.EXECUTE)
    harness.wait(60.0)
    harness.read_back()
    assert [removal.cluster for removal in harness.asked(do.RemoveJobs)] == [5]
    tell(harness, EventKind.JOB_ABORTED)
    harness.tell(make.terminated(6))
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_late_materialization() -> None:
    harness = make.harness_of("A\nTIMEOUT A QUEUED 60", QUIET)
    harness.tell(make.cluster_submit("A", 5), inputs.Submitted(0, 5, 0))
    harness.wait(100.0)
    assert not records(harness)  # no proc yet
    harness.tell(make.submit("A", 5, 0))
    harness.now += 30
    harness.tell(make.terminated(5, 0), make.submit("A", 5, 1))
    harness.wait(30.0)
    assert not records(harness)
    harness.wait(30.0)
    assert records(harness) == [(1, "waited for 60 s (TIMEOUT QUEUED 60)")]


def test_halted_it_still_counts() -> None:
    harness = with_timeout("QUEUED 60")
    harness.tell(inputs.Halt())
    harness.wait(60.0)
    assert len(records(harness)) == 1


def test_paused_nothing_happens_until_the_dag_goes_on() -> None:
    harness = with_timeout("QUEUED 60")
    harness.tell(inputs.Halt(pause=True))
    harness.wait(60.0)
    assert not records(harness)
    assert harness.engine.next_deadline() is None
    harness.tell(inputs.Resume())
    assert len(records(harness)) == 1


def test_a_node_that_is_being_removed_already() -> None:
    harness = with_timeout("QUEUED 60", procs=2)
    harness.tell(make.terminated(5, 0, value=1))
    harness.wait(queues.REMOVAL_GRACE_S)
    assert harness.asked(do.RemoveJobs)
    harness.wait(60.0)
    assert not records(harness)


def test_a_job_that_was_submitted_on_hold_waits_for_a_person_as_long_as_it_takes() -> None:
    config = make.quiet(put_failed_jobs_on_hold=True)
    harness = with_timeout("QUEUED 60 RUNNING 60 TOTAL 60", config=config)
    harness.tell(make.terminated(5, value=1))
    assert harness.asked(do.SubmitNode)[0].on_hold
    harness.take("A", 6)
    harness.wait(100_000.0)
    assert not records(harness)
    harness.tell(make.of_job(EventKind.EXECUTE, 6))  # somebody has released it
    harness.wait(60.0)
    assert records(harness) == [(0, "ran for 60 s (TIMEOUT RUNNING 60)")]


def test_live_they_count_from_now_whatever_the_clock_of_the_log_says() -> None:
    harness = make.harness_of("A\nTIMEOUT A QUEUED 60", QUIET)
    harness.tell(make.submit("A", 5)._replace(time=harness.now - 500.0))
    assert harness.engine.next_deadline() == harness.now + 60.0


# TIMEOUT: which clocks are kept, which start, and how much work they are (counted, not timed).


LOST = inputs.SubmitFailed(0, "lost", permanent=False, unknown=True)


def begun_with_timeout(timeout: str) -> make.EngineHarness:
    return make.harness_of(f"A -> B\nTIMEOUT A {timeout}", QUIET)


def clocks(harness: make.EngineHarness) -> int:
    """How many clocks are kept, those included that will never strike."""
    return len(harness.engine.run.features["timeout"].clocks._heap)


# Work.


class Watched(dict[int, int]):
    """Flags of procs, which count how many of them are looked at one after the other."""

    looked = 0

    def items(self) -> Any:
        self.looked += len(self)
        return super().items()


def test_a_clock_that_does_not_count_any_more_is_no_reason_to_look_at_all_procs() -> None:
    harness = begun_with_timeout("QUEUED 60")
    harness.take("A", 5, procs=50)
    harness.tell(*(make.of_job(EventKind.EXECUTE, 5, proc) for proc in range(50)))
    jobs = harness.engine.run.job_table.by_node[0]
    harness.engine.check = None
    jobs.procs = watched = Watched(jobs.procs)
    harness.wait(100.0)
    assert not records(harness)
    assert watched.looked == 0
    assert clocks(harness) == 0


def test_clocks_of_ended_procs_are_no_reason_to_wake() -> None:
    harness = begun_with_timeout("QUEUED 60 RUNNING 60 TOTAL 90")
    harness.take("A", 5)
    harness.tell(make.of_job(EventKind.EXECUTE, 5), make.terminated(5))
    harness.take("B", 6)
    assert harness.engine.next_deadline() is None
    assert clocks(harness) == 0


def test_clocks_of_a_long_dag_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"n{number}" for number in range(300)]
    timeout = "TIMEOUT ALL_NODES QUEUED 9000 RUNNING 9000 TOTAL 9000"
    made = make.dag(f"{' '.join(names)}\n{timeout}")
    harness = make.EngineHarness(made, QUIET)
    harness.engine.check = None
    monkeypatch.setattr(Clocks, "MIN_COMPACT_LENGTH", 20)
    harness.begin()
    harness.take(names[0], 1)  # its clocks are due first: those of the others are behind them
    most = 0
    for cluster, name in enumerate(names[1:], 2):
        harness.now += 1
        harness.take(name, cluster)
        harness.tell(make.of_job(EventKind.EXECUTE, cluster), make.terminated(cluster))
        most = max(most, clocks(harness))
    assert most <= 22


def test_evictions_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = begun_with_timeout("RUNNING 9000")
    monkeypatch.setattr(Clocks, "MIN_COMPACT_LENGTH", 20)
    harness.take("A", 5, procs=2)
    harness.tell(make.of_job(EventKind.EXECUTE, 5, 0))  # its clock is due first
    begun = harness.now
    for _ in range(200):
        harness.now += 1
        harness.tell(make.of_job(EventKind.EXECUTE, 5, 1), make.of_job(EventKind.JOB_EVICTED, 5, 1))
    assert clocks(harness) <= 22
    harness.wait(begun + 8999 - harness.now)
    assert not records(harness)
    harness.wait(1.0)
    assert records(harness) == [(0, "ran for 9000 s (TIMEOUT RUNNING 9000)")]


def test_few_clocks_are_not_looked_through() -> None:
    assert Clocks.MIN_COMPACT_LENGTH >= 100


# Which start.


@pytest.mark.parametrize(
    ("timeout", "text"),
    [
        ("QUEUED 60", "waited for 60 s (TIMEOUT QUEUED 60)"),
        ("TOTAL 60", "has been in the queue for 60 s (TIMEOUT TOTAL 60)"),
    ],
)
@pytest.mark.parametrize("restarted", [False, True])
def test_an_adopted_job_has_clocks(timeout: Timeout, text: str, restarted: bool) -> None:
    harness = begun_with_timeout(timeout)
    harness.tell(LOST)
    harness.wait(1.0)
    harness.happens(QueueListed([QueuedJob(5, 0, "A", 0)]))
    begun = harness.now
    if restarted:
        harness.now += 30  # nobody runs
        harness = harness.restart()
    harness.wait(begun + 59 - harness.now)
    assert not records(harness)
    harness.wait(1.0)
    assert records(harness) == [(0, text)]
    harness.read_back()
    assert [removal.cluster for removal in harness.asked(do.RemoveJobs)] == [5]


def test_its_submit_event_that_comes_after_all_does_not_set_them_back() -> None:
    harness = begun_with_timeout("QUEUED 60 TOTAL 60")
    harness.tell(LOST)
    harness.wait(1.0)
    harness.happens(QueueListed([QueuedJob(5, 0, "A", 0)]))
    harness.now += 30
    harness.tell(make.submit("A", 5))
    harness.wait(29.0)
    assert not records(harness)
    harness.wait(1.0)
    assert len(records(harness)) == 1


def test_a_proc_that_ended_before_the_record_of_its_adoption_was_read_has_none() -> None:
    harness = begun_with_timeout("QUEUED 60 TOTAL 60")
    harness.tell(LOST)
    harness.wait(1.0)
    harness.tell(QueueListed([QueuedJob(5, 0, "A", 0), QueuedJob(5, 1, "A", 0)]))
    record = harness.echo(harness.last)
    harness.tell(make.terminated(5, 0), *record, *record)
    harness.now += 50
    harness.tell(make.of_job(EventKind.EXECUTE, 5, 1))
    harness.wait(10.0)
    assert records(harness) == [(1, "has been in the queue for 60 s (TIMEOUT TOTAL 60)")]


def test_a_proc_that_ended_before_its_submit_event_has_none() -> None:
    harness = begun_with_timeout("QUEUED 60")
    harness.tell(inputs.Submitted(0, 5, 2), make.terminated(5, 0))
    harness.tell(make.submit("A", 5, 0), make.submit("A", 5, 1))
    harness.tell(make.of_job(EventKind.EXECUTE, 5, 1))
    harness.wait(60.0)
    assert not records(harness)


def test_a_proc_that_ran_before_its_submit_event() -> None:
    harness = begun_with_timeout("QUEUED 30 TOTAL 60")
    harness.tell(inputs.Submitted(0, 5, 1), make.of_job(EventKind.EXECUTE, 5))
    harness.tell(make.submit("A", 5))
    harness.wait(59.0)
    assert not records(harness)  # it does not wait
    harness.wait(1.0)
    assert records(harness) == [(0, "has been in the queue for 60 s (TIMEOUT TOTAL 60)")]
