"""RETRY: whether a node runs again, how often, and when; ours and the stock options."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import QueuedJob
from condor_pydagman.engine.lifecycle import say_why_none, verdict_of
from condor_pydagman.engine.queues import RetryQueue
from condor_pydagman.engine.rules import REMOVED, RetryVerdict
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.graph.model import Retry
from condor_pydagman.timers import DRAINED_GRACE_S
from condor_pydagman.vocabulary import EventKind, JournalRecord, NodeStatus, ScriptKind
from tests import make
from tests.make import QUIET


def with_retry(
    retry: str, text: str = "A -> B", config: Config = QUIET, commands: str = ""
) -> make.EngineHarness:
    """`retry` is what a RETRY command of A says."""
    return make.harness_of(f"{text}\nRETRY A {retry}\n{commands}", config)


def failed_once(
    retry: str, text: str = "A -> B", config: Config = QUIET, commands: str = ""
) -> make.EngineHarness:
    """The same, and A's job has failed with 1."""
    harness = with_retry(retry, text, config, commands)
    harness.run_node("A", 1, value=1)
    return harness


def due(harness: make.EngineHarness, name: str = "A") -> float:
    when = harness.engine.run.retrying.queue.due(harness.dag.ids[name])
    assert when is not None
    return when


# The queue.


def test_retries_start_in_the_order_in_which_they_are_due() -> None:
    queue = RetryQueue()
    assert queue.next_time() is None
    queue.add(1, 20.0)
    queue.add(2, 10.0)
    assert queue.next_time() == 10.0
    assert queue.pop(9.9) is None
    assert queue.pop(10.0) == 2
    assert queue.pop(15.0) is None
    assert queue.pop(99.0) == 1
    assert queue.pop(99.0) is None


def test_a_discarded_retry_does_not_start() -> None:
    queue = RetryQueue()
    queue.add(1, 10.0)
    queue.add(2, 10.0)
    queue.discard(1)
    queue.discard(7)
    assert queue.due(1) is None
    assert queue.pop(10.0) == 2
    queue.add(1, 5.0)
    queue.discard(1)
    queue.add(1, 30.0)  # waits anew
    assert queue.next_time() == 30.0
    assert queue.pop(29.0) is None
    assert queue.pop(30.0) == 1


# Values.


@pytest.mark.parametrize("value", [1, 2, 3, -9])
def test_unless_exit_and_only_if(value: int) -> None:
    harness = with_retry("5 UNLESS-EXIT 2,3 ONLY-IF 1,2")
    harness.run_node("A", 1, value=value)
    again = value == 1
    assert harness.state("A").name == ("SUBMITTING" if again else "FAILED")
    if not again:
        assert harness.said(f"Aborting further retries of node A (last attempt returned {value})")


def test_unless_exit_makes_no_node_futile_but_only_if_does() -> None:
    harness = with_retry("5 UNLESS-EXIT 2")
    harness.run_node("A", 1, value=2)
    assert harness.state("B").name == "WAITING"
    harness = failed_once("5 ONLY-IF 2")
    assert harness.state("B").name == "FUTILE"
    assert "(after 0 node retries)" in harness.engine.run.nodes.errors[0]


def test_unless_exit_and_only_if_count_only_while_retries_are_left() -> None:
    harness = failed_once("1 UNLESS-EXIT 2")
    harness.run_node("A", 2, value=2)
    assert not harness.said("Aborting further retries")
    assert harness.state("B").name == "FUTILE"


def test_the_post_scripts_value_decides_about_a_retry() -> None:
    harness = failed_once("5 ONLY-IF 7", commands="SCRIPT POST A q")
    harness.post_ends("A", 7)
    assert harness.submits() == ["A"]
    harness.run_node("A", 2, value=7)
    harness.post_ends("A", 1)
    assert harness.state("A").name == "FAILED"


def test_the_pre_scripts_status_decides_about_a_retry() -> None:
    harness = with_retry("5 ONLY-IF 7", commands="SCRIPT PRE A p")
    harness.pre_ends("A", 7)
    assert harness.asked(do.RunScript)
    harness.pre_ends("A", 1)
    assert harness.state("A").name == "FAILED"


def test_the_value_of_a_removed_job_decides_about_a_retry() -> None:
    harness = with_retry("1 ONLY-IF -1002")
    harness.take("A", 1)
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 1))
    assert harness.submits() == ["A"]


def test_abort_dag_on_beats_retries() -> None:
    harness = with_retry("5 DELAY 60", commands="ABORT-DAG-ON A 3")
    harness.run_node("A", 1, value=3)
    assert harness.asked(do.Exit) == [do.Exit(3)]
    assert harness.state("A").name == "FAILED"


def test_a_failed_submission_uses_up_all_retries() -> None:
    harness = with_retry("5 DELAY 60")
    harness.happens(inputs.SubmitFailed(0, "no such file", permanent=True))
    assert harness.state("A").name == "FAILED"
    harness.same_replay()


# Delay.


def test_a_retry_waits_for_its_delay() -> None:
    harness = failed_once("2 DELAY 100")
    assert harness.state("A").name == "RETRY_WAIT"
    assert harness.said("Retrying node A (retry #1 of 2)...")
    when = due(harness)
    assert harness.engine.next_deadline() == when
    assert 90 <= when - harness.now <= 110
    harness.wait(89.0)
    assert not harness.submits()
    harness.now = when
    harness.wait(0.0)
    assert harness.submits() == ["A"]
    harness.run_node("A", 2)
    assert harness.states() == "A=DONE B=SUBMITTING"


def test_backoff_and_its_limit() -> None:
    harness = with_retry("4 DELAY 100 BACKOFF 3 MAX-DELAY 500")
    waits = []
    for cluster in range(1, 5):
        harness.run_node("A", cluster, value=1)
        waits.append(due(harness) - harness.now)
        harness.wait(due(harness) - harness.now)
        assert harness.submits() == ["A"]
    for wait, want in zip(waits, (100, 300, 500, 500)):
        assert 0.9 * want <= wait <= 1.1 * want


def test_nodes_that_failed_together_do_not_come_back_together() -> None:
    names = [f"N{number}" for number in range(50)]
    harness = make.harness_of(f"{' '.join(names)}\nRETRY ALL_NODES 1 DELAY 100", QUIET)
    for cluster, name in enumerate(names, 1):
        harness.run_node(name, cluster, value=1)
    times = {round(due(harness, name)) for name in names}
    assert len(times) > 12


@pytest.mark.parametrize("off", [-5000.0, 5000.0])
def test_the_clock_of_the_log_does_not_matter_while_we_watch_it(off: float) -> None:
    harness = with_retry("2 DELAY 100")
    harness.take("A", 1)
    harness.tell(make.terminated(1, value=1)._replace(time=harness.now + off))
    assert 90 <= due(harness) - harness.now <= 110


def test_in_an_old_log_the_delay_counts_from_the_event_that_ended_the_run() -> None:
    harness = failed_once("2 DELAY 100")
    harness.now += 50
    assert 40 <= due(harness.replay()) - harness.now <= 60
    harness.log[-1] = harness.log[-1]._replace(time=harness.now + 5000)  # a clock that was ahead
    assert due(harness.replay()) - harness.now <= 110


def test_a_restart_does_not_change_when_a_retry_is_due() -> None:
    harness = failed_once("2 DELAY 100")
    harness.now += 30
    other = harness.same_replay()
    assert due(other) == due(harness)
    other.tell(inputs.LogCaughtUp(), inputs.QueueListed([]))
    assert not other.submits()
    assert other.engine.next_deadline() == due(harness)
    other.wait(due(harness) - other.now)
    assert other.submits() == ["A"]
    assert other.asked(do.SubmitNode)[0].retry == 1


def test_a_restart_after_the_delay_starts_the_retry_at_once() -> None:
    harness = failed_once("2 DELAY 100")
    harness.now += 500
    assert harness.restart().submits() == ["A"]


def test_a_restart_when_the_next_run_had_begun() -> None:
    harness = failed_once("2 DELAY 100")
    harness.wait(200.0)
    harness.take("A", 2)
    other = harness.same_replay()
    assert other.state("A").name == "SUBMITTED"
    assert other.engine.run.retrying.queue.next_time() is None


@pytest.mark.parametrize("status", [0, 1])
def test_a_restart_when_the_next_runs_pre_script_had_ended(status: int) -> None:
    harness = with_retry("2 DELAY 100", commands="SCRIPT PRE A p")
    harness.pre_ends("A")
    harness.run_node("A", 1, value=1)
    harness.wait(200.0)
    assert harness.state("A").name == "PRE_RUN"
    harness.pre_ends("A", status)
    other = harness.same_replay()
    assert other.state("A").name == ("READY" if status == 0 else "RETRY_WAIT")
    if status:
        assert due(other) == due(harness)


def test_a_restart_when_the_next_run_was_skipped() -> None:
    harness = with_retry("2 DELAY 100", commands="SCRIPT PRE A p\nPRE_SKIP A 4")
    harness.pre_ends("A")
    harness.run_node("A", 1, value=1)
    harness.wait(200.0)
    harness.pre_ends("A", 4)
    assert harness.same_replay().state("A").name == "DONE"


def test_a_restart_when_the_next_run_could_not_be_submitted() -> None:
    harness = failed_once("2 DELAY 100")
    harness.wait(200.0)
    harness.happens(inputs.SubmitFailed(0, "no such file", permanent=True))
    assert harness.same_replay().state("A").name == "FAILED"


def test_a_restart_finds_the_job_of_the_next_run_in_the_queue() -> None:
    """Submitted, but DAGMan died before the log showed it."""
    harness = failed_once("2 DELAY 100")
    harness.now += 200
    other = harness.replay()
    other.tell(inputs.LogCaughtUp(), inputs.QueueListed([QueuedJob(2, 0, "A", 1)]))
    assert other.state("A").name == "SUBMITTED"
    assert [record.record for record in other.asked(do.AppendJournalRecord)] == [
        JournalRecord.ADOPTED
    ]
    assert not other.ever(do.SubmitNode)


def test_a_job_of_the_run_that_failed_does_not_end_the_delay() -> None:
    harness = failed_once("2 DELAY 100")
    other = harness.replay()
    other.tell(inputs.LogCaughtUp(), inputs.QueueListed([QueuedJob(1, 0, "A", 0)]))
    assert other.state("A").name == "RETRY_WAIT"
    harness.tell(make.submit("A", 1), make.terminated(1))  # late doubles
    assert harness.state("A").name == "RETRY_WAIT"
    harness.same_replay()


def test_a_waiting_node_holds_no_throttle() -> None:
    made = make.dag("""
        A C; D
        RETRY A 1 DELAY 100
        CATEGORY A one
        CATEGORY C one
        MAXJOBS one 1
    """)
    harness = make.EngineHarness(made, QUIET, Throttles(jobs=1)).begin()
    assert harness.submits() == ["A"]
    harness.run_node("A", 1, value=1)
    assert harness.submits() == ["C"]
    harness.run_node("C", 2)
    harness.take("D", 3)
    harness.wait(200.0)
    assert harness.state("A").name == "READY"  # -MaxJobs 1, and D is in the queue
    harness.tell(make.terminated(3))
    assert harness.submits() == ["A"]


def test_the_dag_waits_for_a_delayed_retry() -> None:
    harness = failed_once("1 DELAY 100", "A; B")
    harness.run_node("B", 2)
    assert not harness.ever(do.Exit)
    harness.wait(200.0)
    harness.run_node("A", 3)
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_a_waiting_retry_is_shown_with_the_time_left() -> None:
    harness = failed_once("2 DELAY 100")
    (shown, _) = harness.engine.node_reports()
    left = due(harness) - harness.now
    assert shown.status is NodeStatus.READY
    assert shown.details == f"retry #1 starts in {left:.0f} seconds"
    assert shown.retries_done == 1
    assert harness.engine.report().ready == 1
    harness.wait(200.0)
    assert next(harness.engine.node_reports()).details == ""


def test_a_halted_dag_starts_no_retry() -> None:
    harness = with_retry("2 DELAY 100", "A; B")
    harness.take("A", 1)
    harness.take("B", 2)
    harness.tell(make.terminated(1, value=1))
    harness.tell(inputs.Halt())
    assert harness.engine.next_deadline() is None  # else DAGMan would spin
    harness.wait(200.0)
    assert harness.state("A").name == "RETRY_WAIT"
    harness.tell(inputs.Resume())
    assert harness.submits() == ["A"]


def test_a_halted_dag_with_only_a_waiting_retry_ends() -> None:
    harness = failed_once("2 DELAY 100")
    harness.tell(inputs.Halt())
    harness.wait(DRAINED_GRACE_S)
    assert harness.asked(do.Exit) == [do.Exit(1)]


def test_condor_rm_does_not_wait_for_a_retry() -> None:
    harness = failed_once("2 DELAY 100")
    harness.tell(inputs.DagRemoved())
    assert harness.asked(do.Exit) == [do.Exit(2)]


def test_a_clock_that_steps_ahead_or_back() -> None:
    harness = failed_once("2 DELAY 100")
    harness.wait(-5000.0)
    assert harness.state("A").name == "RETRY_WAIT"
    harness.wait(6000.0)
    assert harness.submits() == ["A"]


def test_a_retry_has_no_save_point_and_no_old_values() -> None:
    harness = with_retry(
        "2 DELAY 100", commands="SCRIPT POST A q $RETURN\nSAVE_POINT_FILE A a.save"
    )
    harness.run_node("A", 1, value=5)
    harness.post_ends("A", 6)
    harness.wait(200.0)
    harness.run_node("A", 2)
    assert harness.asked(do.RunScript) == [do.RunScript(0, ScriptKind.POST, ("q", "0"))]
    assert len(harness.ever(do.WriteSavePoint)) == 1


def test_retry_node_first() -> None:
    made = make.dag("A; B; C\nRETRY A 1\nRETRY B 1 DELAY 10")
    harness = make.EngineHarness(made, Config(retry_node_first=True), Throttles(jobs=1)).begin()
    harness.run_node("A", 1, value=1)
    assert harness.submits() == ["A"]


# Failed jobs on hold.


def on_hold(commands: str = "", text: str = "A -> B") -> make.EngineHarness:
    config = Config(put_failed_jobs_on_hold=True, check_queue_interval=0)
    return make.harness_of(f"{text}\n{commands}", config)


def test_a_failed_job_is_put_on_hold() -> None:
    harness = on_hold("RETRY A 1")
    harness.run_node("A", 1, value=1)
    assert not harness.asked(do.SubmitNode)[0].on_hold
    harness.run_node("A", 2, value=1)
    assert harness.said("Retrying node A (retry #2 of 2)...")
    (action,) = harness.asked(do.SubmitNode)
    assert action.on_hold
    assert action.retry == 2
    assert harness.states() == "A=SUBMITTING B=WAITING"
    harness.same_replay()
    harness.run_node("A", 3, value=1)  # mended, but not well
    assert harness.asked(do.SubmitNode)[0].on_hold
    harness.run_node("A", 4)
    assert harness.states() == "A=DONE B=SUBMITTING"


def test_a_restart_puts_the_failed_job_on_hold_as_well() -> None:
    harness = on_hold()
    harness.run_node("A", 1, value=1)
    (action,) = harness.restart().asked(do.SubmitNode)
    assert action.on_hold
    assert action.retry == 1


def test_nodes_that_are_not_put_on_hold() -> None:
    harness = on_hold("SCRIPT POST A q")
    harness.run_node("A", 1, value=1)
    harness.post_ends("A", 1)
    assert harness.state("A").name == "FAILED"
    harness = on_hold("SCRIPT PRE A p")
    harness.pre_ends("A", 1)
    assert harness.state("A").name == "FAILED"
    harness = on_hold()
    harness.happens(inputs.SubmitFailed(0, "no such file", permanent=True))
    assert harness.state("A").name == "FAILED"
    harness = on_hold("RETRY A 3 UNLESS-EXIT 2")
    harness.run_node("A", 1, value=2)
    assert harness.state("A").name == "FAILED"
    harness = on_hold("ABORT-DAG-ON A 3")
    harness.run_node("A", 1, value=3)
    assert harness.asked(do.Exit) == [do.Exit(3)]


def test_a_pre_script_that_fails_in_a_retry_is_not_put_on_hold() -> None:
    harness = on_hold("SCRIPT PRE A p\nRETRY A 1")
    harness.pre_ends("A")
    harness.run_node("A", 1, value=1)
    harness.pre_ends("A", 1)
    assert harness.state("A").name == "FAILED"


def test_a_replay_tells_the_runs_of_a_noop_node_apart() -> None:
    made = make.dag("JOB A n.sub NOOP\nSCRIPT POST A q\nRETRY A 1 DELAY 60")
    harness = make.EngineHarness(made).begin(recovering=True)
    harness.tell(*make.noop("A", 1), make.post_ended("A", 1, 0, 0, 1))
    assert harness.state("A").name == "RETRY_WAIT"
    harness.tell(*make.noop("A", 1))
    assert harness.state("A").name == "RETRY_WAIT"
    harness.tell(*make.noop("A", 2), make.post_ended("A", 0, 0, 0, 2))
    assert harness.state("A").name == "DONE"


def test_live_the_delay_counts_from_now_whatever_the_clock_of_the_log_says() -> None:
    harness = make.harness_of("A\nRETRY A 1 DELAY 60")
    harness.take("A", 1)
    harness.tell(make.terminated(1, value=1)._replace(time=harness.now - 500.0))
    due = harness.engine.run.retrying.queue.due(0)
    assert due is not None
    assert due > harness.now + 50


def test_a_run_that_is_submitted_on_hold_has_no_delay() -> None:
    made = make.dag("A\nRETRY A 0 DELAY 60 BACKOFF 2")
    harness = make.EngineHarness(made, Config(put_failed_jobs_on_hold=True)).begin()
    harness.run_node("A", 1, value=1)
    assert [action.on_hold for action in harness.asked(do.SubmitNode)] == [True]


# Whether a node is retried in this run of the DAG.


def test_retries_as_the_dag_says() -> None:
    run = make.EngineHarness("A", QUIET).engine.run
    assert verdict_of(run, 0, Retry(1), 0, 7) is RetryVerdict.RETRY
    assert verdict_of(run, 0, Retry(1), 1, 7) is RetryVerdict.NO_RETRIES_LEFT
    assert verdict_of(run, 0, None, 0, 7) is RetryVerdict.NO_RETRIES_LEFT


def test_the_end_of_the_dag_goes_before_retries() -> None:
    run = make.EngineHarness("A", QUIET).engine.run
    run.end.wanted = REMOVED
    assert verdict_of(run, 0, Retry(1), 0, 7) is RetryVerdict.NO_RETRIES_LEFT


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (RetryVerdict.FINAL_RUNS, "because final node is running (last attempt returned 7)"),
        (RetryVerdict.UNLESS_EXIT, "of node A (last attempt returned 7)"),
        (RetryVerdict.NO_RETRIES_LEFT, ""),
    ],
)
def test_what_is_said(verdict: RetryVerdict, said: str) -> None:
    run = make.EngineHarness("A", QUIET).engine.run
    say_why_none(run, 0, verdict, 7)
    assert [said in str(action) for action in run.out] == [True] * bool(said)
