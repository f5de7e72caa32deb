"""TIMEOUT: clocks of procs, the note, what follows; the same after a restart."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs, removals
from condor_pydagman.graph.model import Retry, Timeout, Tolerance
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, EventKind, NodeKind, Note
from tests import make

QUIET = Config(check_queue_interval=0, pending_report_interval=0)


def bench_of(
    timeout: Timeout, *, procs: int = 1, config: Config = QUIET, **more: object
) -> make.Bench:
    made = make.dag("A -> B", timeouts={"A": timeout}, **more)  # type: ignore[arg-type]
    bench = make.Bench(made, config).begin()
    bench.take("A", 5, procs)
    return bench


def tell(bench: make.Bench, kind: EventKind, proc: int = 0) -> None:
    bench.tell(make.of_job(kind, 5, proc))


def notes(bench: make.Bench) -> list[tuple[int, str]]:
    """Proc and text of each TIMED_OUT note of the last input(s)."""
    asked = bench.asked(do.AppendNote)
    return [(note.proc, note.text) for note in asked if note.note is Note.TIMED_OUT]


def test_queued() -> None:
    bench = bench_of(Timeout(queued=60))
    assert bench.engine.next_deadline() == 1060.0
    assert not bench.wait(59.0)
    bench.wait(1.0)
    assert bench.asked(do.AppendNote) == [
        do.AppendNote(
            Note.TIMED_OUT,
            0,
            0,
            RETURN_JOB_ABORTED,
            5,
            0,
            "waited for 60 s (TIMEOUT QUEUED 60)",
        )
    ]
    assert not bench.asked(do.RemoveJobs)  # not before the note has been read back
    bench.read_back()
    assert bench.said("job proc (5.0.0) waited for 60 s (TIMEOUT QUEUED 60): removing its jobs")
    (removal,) = bench.asked(do.RemoveJobs)
    assert removal.cluster == 5
    assert "Node Timeout: DAG node A (5.0.0) waited for 60 s" in removal.reason
    bench.tell(make.of_job(EventKind.JOB_ABORTED, 5))
    assert bench.states() == "A=FAILED B=FUTILE"
    assert bench.engine.nodes.values[0] == RETURN_JOB_ABORTED
    assert bench.engine.nodes.errors[0] == "Job proc (5.0.0) waited for 60 s (TIMEOUT QUEUED 60)"


def test_a_job_that_runs_waits_no_longer() -> None:
    bench = bench_of(Timeout(queued=60))
    bench.now += 59
    tell(bench, EventKind.EXECUTE)
    bench.wait(1.0)
    assert not notes(bench)
    assert bench.engine.next_deadline() is None


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
    bench = bench_of(Timeout(queued=60))
    bench.now += 50
    tell(bench, EventKind.EXECUTE)
    bench.now += 30
    tell(bench, event)
    bench.wait(59.0)
    assert not notes(bench)
    bench.wait(1.0)
    assert notes(bench) == [(0, "waited for 60 s (TIMEOUT QUEUED 60)")]


def test_to_be_held_is_to_wait() -> None:
    bench = bench_of(Timeout(queued=60))
    bench.now += 30
    tell(bench, EventKind.JOB_HELD)
    bench.now += 20
    tell(bench, EventKind.JOB_RELEASED)
    bench.wait(10.0)
    assert notes(bench) == [(0, "waited for 60 s (TIMEOUT QUEUED 60)")]


def test_running() -> None:
    bench = bench_of(Timeout(running=60))
    assert bench.engine.next_deadline() is None
    bench.wait(1000.0)
    assert not notes(bench)
    tell(bench, EventKind.EXECUTE)
    bench.wait(59.0)
    tell(bench, EventKind.EXECUTE)  # doubled
    bench.wait(1.0)
    assert notes(bench) == [(0, "ran for 60 s (TIMEOUT RUNNING 60)")]


def test_an_eviction_restarts_running() -> None:
    bench = bench_of(Timeout(running=60))
    tell(bench, EventKind.EXECUTE)
    bench.now += 50
    tell(bench, EventKind.JOB_EVICTED)
    bench.now += 5
    tell(bench, EventKind.EXECUTE)
    bench.wait(55.0)
    assert not notes(bench)
    bench.wait(5.0)
    assert notes(bench) == [(0, "ran for 60 s (TIMEOUT RUNNING 60)")]


def test_total_counts_through_everything() -> None:
    bench = bench_of(Timeout(total=100))
    for event in (EventKind.EXECUTE, EventKind.JOB_EVICTED, EventKind.JOB_HELD):
        bench.now += 30
        tell(bench, event)
    bench.wait(10.0)
    assert notes(bench) == [(0, "has been in the queue for 100 s (TIMEOUT TOTAL 100)")]


def test_the_first_clock_counts() -> None:
    bench = bench_of(Timeout(queued=60, running=20, total=70))
    bench.now += 55
    tell(bench, EventKind.EXECUTE)
    bench.wait(15.0)
    assert notes(bench) == [(0, "has been in the queue for 70 s (TIMEOUT TOTAL 70)")]
    bench.wait(10.0)
    assert not notes(bench)  # once is enough


def test_a_job_that_ends_in_time() -> None:
    bench = bench_of(Timeout(queued=60, running=60, total=60))
    tell(bench, EventKind.EXECUTE)
    bench.tell(make.terminated(5))
    bench.wait(100.0)
    assert not notes(bench)
    assert bench.state("A").name == "DONE"


def test_a_job_that_ends_between_note_and_removal() -> None:
    bench = bench_of(Timeout(queued=60))
    first = bench.wait(60.0)
    bench.tell(make.terminated(5))  # before the note in the log
    bench.tell(*bench.echo(first))
    assert bench.state("A").name == "DONE"
    assert not bench.ever(do.RemoveJobs)
    bench.same_replay()


def test_a_job_that_ends_after_the_note_has_failed_all_the_same() -> None:
    bench = bench_of(Timeout(queued=60))
    bench.wait(60.0)
    bench.read_back()
    bench.tell(make.terminated(5))
    assert bench.state("A").name == "FAILED"
    assert bench.engine.nodes.values[0] == RETURN_JOB_ABORTED


def test_one_proc_takes_the_others_with_it() -> None:
    bench = bench_of(Timeout(queued=60), procs=3)
    tell(bench, EventKind.EXECUTE, 0)
    tell(bench, EventKind.EXECUTE, 2)
    bench.wait(60.0)
    assert notes(bench) == [(1, "waited for 60 s (TIMEOUT QUEUED 60)")]
    bench.read_back()
    assert len(bench.asked(do.RemoveJobs)) == 1
    for proc in range(3):
        tell(bench, EventKind.JOB_ABORTED, proc)
    assert bench.state("A").name == "FAILED"
    assert bench.engine.nodes.errors[0].startswith("Job proc (5.1.0) waited")


def test_several_procs_at_once_are_one_note() -> None:
    bench = bench_of(Timeout(queued=60), procs=3)
    bench.wait(60.0)
    assert len(notes(bench)) == 1
    bench.wait(1.0)
    assert not notes(bench)


@pytest.mark.parametrize("fail_fast", [None, False, True])
def test_tolerance_does_not_help(fail_fast: bool | None) -> None:
    bench = bench_of(Timeout(queued=60), procs=2)
    bench.dag.tolerances[0] = Tolerance(5, fail_fast=fail_fast)
    tell(bench, EventKind.EXECUTE, 0)
    bench.wait(60.0)
    bench.read_back()
    assert bench.asked(do.RemoveJobs)
    bench.tell(make.terminated(5, 0), make.of_job(EventKind.JOB_ABORTED, 5, 1))
    assert bench.state("A").name == "FAILED"


def test_the_post_script_decides() -> None:
    bench = bench_of(Timeout(queued=60), post={"A": "q $RETURN $SUCCESS"})
    bench.wait(60.0)
    bench.read_back()
    tell(bench, EventKind.JOB_ABORTED)
    assert bench.asked(do.RunScript)[0].words == ("q", "-1002", "False")
    bench.post_ends("A", 0)
    assert bench.states() == "A=DONE B=SUBMITTING"


def test_it_is_retried_and_the_next_run_has_clocks_of_its_own() -> None:
    bench = bench_of(Timeout(queued=60), retries={"A": Retry(1, only_if=(-1002,))})
    bench.wait(60.0)
    bench.read_back()
    tell(bench, EventKind.JOB_ABORTED)
    assert bench.submits() == ["A"]
    bench.now += 30
    bench.take("A", 6)
    assert bench.engine.next_deadline() == bench.now + 60
    bench.wait(60.0)
    assert [note.retry for note in bench.asked(do.AppendNote)] == [1]


def test_unless_exit_knows_the_value() -> None:
    bench = bench_of(Timeout(queued=60), retries={"A": Retry(3, unless_exit=(-1002,))})
    bench.wait(60.0)
    bench.read_back()
    tell(bench, EventKind.JOB_ABORTED)
    assert bench.states() == "A=FAILED B=WAITING"


def test_a_restart_does_not_set_the_clock_back() -> None:
    bench = bench_of(Timeout(queued=60, running=300))
    bench.now += 40
    other = bench.restart()
    assert other.engine.next_deadline() == 1060.0
    other.wait(20.0)
    assert notes(other) == [(0, "waited for 60 s (TIMEOUT QUEUED 60)")]


def test_a_restart_after_the_time() -> None:
    bench = bench_of(Timeout(running=60))
    tell(bench, EventKind.EXECUTE)
    bench.now += 500
    other = bench.replay()
    assert not other.ever(do.AppendNote)
    other.tell(inputs.LogCaughtUp())
    assert not other.ever(do.AppendNote)  # it may have ended: the schedd is asked first
    other.tell(inputs.QueueListed(other.queue()))
    assert notes(other) == [(0, "ran for 60 s (TIMEOUT RUNNING 60)")]


def test_a_restart_after_the_note_removes_again() -> None:
    bench = bench_of(Timeout(queued=60))
    bench.wait(60.0)
    bench.read_back()
    other = bench.same_replay()
    other.tell(inputs.LogCaughtUp(), inputs.QueueListed(other.queue()))
    assert [removal.cluster for removal in other.asked(do.RemoveJobs)] == [5]
    assert not other.ever(do.AppendNote)


def test_whole_life_replayed() -> None:
    bench = bench_of(Timeout(queued=60), retries={"A": 1})
    for cluster in (5, 6):
        bench.wait(60.0)
        bench.read_back()
        bench.tell(make.of_job(EventKind.JOB_ABORTED, cluster))
        if cluster == 5:
            bench.same_replay()
            bench.take("A", 6)
    assert bench.state("A").name == "FAILED"
    bench.same_replay()


def test_a_note_that_is_lost_is_written_again() -> None:
    bench = bench_of(Timeout(queued=60))
    bench.wait(60.0)
    bench.wait(60.0)
    assert len(notes(bench)) == 1
    bench.read_back()
    assert bench.asked(do.RemoveJobs)


def test_a_doubled_note_changes_nothing() -> None:
    bench = bench_of(Timeout(queued=60))
    first = bench.wait(60.0)
    bench.tell(*bench.echo(first), *bench.echo(first))
    assert len(bench.asked(do.RemoveJobs)) == 1


def test_a_note_about_an_earlier_run() -> None:
    bench = bench_of(Timeout(queued=60), retries={"A": 1})
    first = bench.wait(60.0)
    bench.tell(make.terminated(5, value=1))
    bench.take("A", 6)
    bench.tell(*bench.echo(first))
    assert not bench.asked(do.RemoveJobs)


@pytest.mark.parametrize("ahead", [10.0, 1000.0])
@pytest.mark.parametrize("timeout", [Timeout(queued=60), Timeout(total=60)])
def test_events_from_a_clock_that_is_ahead(ahead: float, timeout: Timeout) -> None:
    """The time of the log is ahead of ours: the clock starts when we read it, and does fire."""
    bench = make.Bench(make.dag("A", timeouts={"A": timeout}), QUIET).begin()
    event = make.submit("A", 5)._replace(time=bench.now + ahead)
    bench.tell(event, inputs.Submitted(0, 5, 1))
    assert bench.engine.next_deadline() == bench.now + 60
    bench.wait(60.0)
    assert len(notes(bench)) == 1


def test_a_clock_that_steps_back() -> None:
    bench = bench_of(Timeout(queued=60))
    bench.now -= 500
    tell(bench, EventKind.EXECUTE)
    bench.wait(600.0)
    assert not notes(bench)


def test_events_from_a_clock_that_is_behind() -> None:
    bench = make.Bench(make.dag("A", timeouts={"A": Timeout(queued=60)}), QUIET).begin()
    event = make.submit("A", 5)._replace(time=bench.now - 100)
    bench.tell(inputs.Submitted(0, 5, 1), event)
    assert not notes(bench)
    assert bench.engine.next_deadline() == bench.now + 60


def test_no_clocks_for_a_noop() -> None:
    made = make.dag("A", timeouts={"A": Timeout(1, 1, 1)}, noop="A")
    bench = make.Bench(made, QUIET).begin()
    bench.wait(10.0)
    assert not notes(bench)


def test_a_service_node_has_clocks_too() -> None:
    made = make.dag("A; S", timeouts={"S": Timeout(running=60)}, kinds={"S": NodeKind.SERVICE})
    bench = make.Bench(made, QUIET).begin()
    bench.take("S", 5)
    bench.take("A", 6)
    tell(bench, EventKind.EXECUTE)
    bench.wait(60.0)
    bench.read_back()
    assert [removal.cluster for removal in bench.asked(do.RemoveJobs)] == [5]
    tell(bench, EventKind.JOB_ABORTED)
    bench.tell(make.terminated(6))
    assert bench.asked(do.Exit) == [do.Exit(0)]


def test_late_materialization() -> None:
    bench = make.Bench(make.dag("A", timeouts={"A": Timeout(queued=60)}), QUIET).begin()
    bench.tell(make.cluster_submit("A", 5), inputs.Submitted(0, 5, 0))
    bench.wait(100.0)
    assert not notes(bench)  # no proc yet
    bench.tell(make.submit("A", 5, 0))
    bench.now += 30
    bench.tell(make.terminated(5, 0), make.submit("A", 5, 1))
    bench.wait(30.0)
    assert not notes(bench)
    bench.wait(30.0)
    assert notes(bench) == [(1, "waited for 60 s (TIMEOUT QUEUED 60)")]


def test_halted_it_still_counts() -> None:
    bench = bench_of(Timeout(queued=60))
    bench.tell(inputs.Halt())
    bench.wait(60.0)
    assert len(notes(bench)) == 1


def test_paused_nothing_happens_until_the_dag_goes_on() -> None:
    bench = bench_of(Timeout(queued=60))
    bench.tell(inputs.Halt(pause=True))
    bench.wait(60.0)
    assert not notes(bench)
    assert bench.engine.next_deadline() is None
    bench.tell(inputs.Resume())
    assert len(notes(bench)) == 1


def test_a_node_that_is_being_removed_already() -> None:
    bench = bench_of(Timeout(queued=60), procs=2)
    bench.tell(make.terminated(5, 0, value=1))
    bench.wait(removals.GRACE)
    assert bench.asked(do.RemoveJobs)
    bench.wait(60.0)
    assert not notes(bench)


def test_a_job_that_was_submitted_on_hold_waits_for_a_person_as_long_as_it_takes() -> None:
    config = Config(put_failed_jobs_on_hold=True, check_queue_interval=0, pending_report_interval=0)
    bench = bench_of(Timeout(queued=60, running=60, total=60), config=config)
    bench.tell(make.terminated(5, value=1))
    assert bench.asked(do.SubmitNode)[0].on_hold
    bench.take("A", 6)
    bench.wait(100_000.0)
    assert not notes(bench)
    bench.tell(make.of_job(EventKind.EXECUTE, 6))  # somebody has released it
    bench.wait(60.0)
    assert notes(bench) == [(0, "ran for 60 s (TIMEOUT RUNNING 60)")]


def test_live_they_count_from_now_whatever_the_clock_of_the_log_says() -> None:
    made = make.dag("A", timeouts={"A": Timeout(queued=60)})
    bench = make.Bench(made, QUIET).begin()
    bench.tell(make.submit("A", 5)._replace(time=bench.now - 500.0))
    assert bench.engine.next_deadline() == bench.now + 60.0


def test_a_job_that_waits_on_hold_for_a_person_may_wait() -> None:
    config = Config(check_queue_interval=0, pending_report_interval=0, put_failed_jobs_on_hold=True)
    bench = bench_of(Timeout(queued=60, running=30, total=90), config=config)
    bench.tell(make.terminated(5, value=1))
    assert bench.asked(do.SubmitNode)[0].on_hold
    bench.take("A", 6)
    bench.wait(1000.0)
    assert not notes(bench)
    bench.tell(make.of_job(EventKind.EXECUTE, 6))
    bench.wait(31.0)
    assert notes(bench)
