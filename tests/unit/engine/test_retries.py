"""RETRY: how often a node runs again, and when; ours and the stock options."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.halting import GRACE
from condor_pydagman.engine.inputs import QueuedJob
from condor_pydagman.engine.retries import RetryQueue
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.graph.model import Retry
from condor_pydagman.vocabulary import EventKind, NodeStatus, Note, ScriptKind
from tests import make

QUIET = Config(check_queue_interval=0, pending_report_interval=0)


def bench_of(
    retry: Retry, text: str = "A -> B", config: Config = QUIET, **more: object
) -> make.Bench:
    return make.Bench(make.dag(text, retries={"A": retry}, **more), config).begin()  # type: ignore[arg-type]


def due(bench: make.Bench, name: str = "A") -> float:
    when = bench.engine.retry_queue.due(bench.dag.ids[name])
    assert when is not None
    return when


# The queue.


def test_the_first_due_comes_first() -> None:
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


def test_a_node_that_waits_no_longer() -> None:
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
    bench = bench_of(Retry(5, unless_exit=(2, 3), only_if=(1, 2)))
    bench.run_node("A", 1, value=value)
    again = value == 1
    assert bench.state("A").name == ("SUBMITTING" if again else "FAILED")
    if not again:
        assert bench.said(f"Aborting further retries of node A (last attempt returned {value})")


def test_unless_exit_dooms_nobody_but_only_if_does_as_stock_does_when_none_are_left() -> None:
    bench = bench_of(Retry(5, unless_exit=(2,)))
    bench.run_node("A", 1, value=2)
    assert bench.state("B").name == "WAITING"
    bench = bench_of(Retry(5, only_if=(2,)))
    bench.run_node("A", 1, value=1)
    assert bench.state("B").name == "FUTILE"
    assert "(after 0 node retries)" in bench.engine.nodes.errors[0]


def test_the_values_are_looked_at_only_while_retries_are_left() -> None:
    bench = bench_of(Retry(1, unless_exit=(2,)))
    bench.run_node("A", 1, value=1)
    bench.run_node("A", 2, value=2)
    assert not bench.said("Aborting further retries")
    assert bench.state("B").name == "FUTILE"


def test_the_post_scripts_value_counts() -> None:
    bench = bench_of(Retry(5, only_if=(7,)), post={"A": "q"})
    bench.run_node("A", 1, value=1)
    bench.post_ends("A", 7)
    assert bench.submits() == ["A"]
    bench.run_node("A", 2, value=7)
    bench.post_ends("A", 1)
    assert bench.state("A").name == "FAILED"


def test_a_pre_script_counts_with_its_status() -> None:
    bench = bench_of(Retry(5, only_if=(7,)), pre={"A": "p"})
    bench.pre_ends("A", 7)
    assert bench.asked(do.RunScript)
    bench.pre_ends("A", 1)
    assert bench.state("A").name == "FAILED"


def test_a_removed_job_counts_with_its_value() -> None:
    bench = bench_of(Retry(1, only_if=(-1002,)))
    bench.take("A", 1)
    bench.tell(make.of_job(EventKind.JOB_ABORTED, 1))
    assert bench.submits() == ["A"]


def test_abort_dag_on_beats_retries() -> None:
    bench = bench_of(Retry(5, delay=60), aborts={"A": 3})
    bench.run_node("A", 1, value=3)
    assert bench.asked(do.Exit) == [do.Exit(3)]
    assert bench.state("A").name == "FAILED"


def test_a_failed_submission_uses_them_all_up() -> None:
    bench = bench_of(Retry(5, delay=60))
    bench.tell(inputs.SubmitFailed(0, "no such file", permanent=True))
    bench.read_back()
    assert bench.state("A").name == "FAILED"
    bench.same_replay()


# Delay.


def test_delay() -> None:
    bench = bench_of(Retry(2, delay=100))
    bench.run_node("A", 1, value=1)
    assert bench.state("A").name == "RETRY_WAIT"
    assert bench.said("Retrying node A (retry #1 of 2)...")
    when = due(bench)
    assert bench.engine.next_deadline() == when
    assert 90 <= when - bench.now <= 110
    bench.wait(89.0)
    assert not bench.submits()
    bench.now = when
    bench.wait(0.0)
    assert bench.submits() == ["A"]
    bench.run_node("A", 2)
    assert bench.states() == "A=DONE B=SUBMITTING"


def test_backoff_and_its_limit() -> None:
    bench = bench_of(Retry(4, delay=100, backoff=3.0, max_delay=500))
    waits = []
    for cluster in range(1, 5):
        bench.run_node("A", cluster, value=1)
        waits.append(due(bench) - bench.now)
        bench.wait(due(bench) - bench.now)
        assert bench.submits() == ["A"]
    for wait, want in zip(waits, (100, 300, 500, 500)):
        assert 0.9 * want <= wait <= 1.1 * want


def test_nodes_that_failed_together_do_not_come_back_together() -> None:
    names = [f"N{number}" for number in range(50)]
    made = make.dag(" ".join(names), retries=dict.fromkeys(names, Retry(1, delay=100)))
    bench = make.Bench(made, QUIET).begin()
    for cluster, name in enumerate(names, 1):
        bench.run_node(name, cluster, value=1)
    times = {round(due(bench, name)) for name in names}
    assert len(times) > 12


@pytest.mark.parametrize("off", [-5000.0, 5000.0])
def test_the_clock_of_the_log_does_not_matter_while_we_watch_it(off: float) -> None:
    bench = bench_of(Retry(2, delay=100))
    bench.take("A", 1)
    bench.tell(make.terminated(1, value=1)._replace(time=bench.now + off))
    assert 90 <= due(bench) - bench.now <= 110


def test_in_an_old_log_the_delay_counts_from_the_event_that_ended_the_run() -> None:
    bench = bench_of(Retry(2, delay=100))
    bench.run_node("A", 1, value=1)
    bench.now += 50
    assert 40 <= due(bench.replay()) - bench.now <= 60
    bench.log[-1] = bench.log[-1]._replace(time=bench.now + 5000)  # a clock that was ahead
    assert due(bench.replay()) - bench.now <= 110


def test_a_restart_changes_nothing_about_when() -> None:
    bench = bench_of(Retry(2, delay=100))
    bench.run_node("A", 1, value=1)
    bench.now += 30
    other = bench.same_replay()
    assert due(other) == due(bench)
    other.tell(inputs.LogCaughtUp(), inputs.QueueListed([]))
    assert not other.submits()
    assert other.engine.next_deadline() == due(bench)
    other.wait(due(bench) - other.now)
    assert other.submits() == ["A"]
    assert other.asked(do.SubmitNode)[0].retry == 1


def test_a_restart_after_it_is_over() -> None:
    bench = bench_of(Retry(2, delay=100))
    bench.run_node("A", 1, value=1)
    bench.now += 500
    assert bench.restart().submits() == ["A"]


def test_a_restart_when_the_next_run_had_begun() -> None:
    bench = bench_of(Retry(2, delay=100))
    bench.run_node("A", 1, value=1)
    bench.wait(200.0)
    bench.take("A", 2)
    other = bench.same_replay()
    assert other.state("A").name == "SUBMITTED"
    assert other.engine.retry_queue.next_time() is None


@pytest.mark.parametrize("status", [0, 1])
def test_a_restart_when_the_next_runs_pre_script_had_ended(status: int) -> None:
    bench = bench_of(Retry(2, delay=100), pre={"A": "p"})
    bench.pre_ends("A")
    bench.run_node("A", 1, value=1)
    bench.wait(200.0)
    assert bench.state("A").name == "PRE_RUN"
    bench.pre_ends("A", status)
    other = bench.same_replay()
    assert other.state("A").name == ("READY" if status == 0 else "RETRY_WAIT")
    if status:
        assert due(other) == due(bench)


def test_a_restart_when_the_next_run_was_skipped() -> None:
    bench = bench_of(Retry(2, delay=100), pre={"A": "p"}, pre_skips={"A": 4})
    bench.pre_ends("A")
    bench.run_node("A", 1, value=1)
    bench.wait(200.0)
    bench.pre_ends("A", 4)
    assert bench.same_replay().state("A").name == "DONE"


def test_a_restart_when_the_next_run_could_not_be_submitted() -> None:
    bench = bench_of(Retry(2, delay=100))
    bench.run_node("A", 1, value=1)
    bench.wait(200.0)
    bench.tell(inputs.SubmitFailed(0, "no such file", permanent=True))
    bench.read_back()
    assert bench.same_replay().state("A").name == "FAILED"


def test_a_restart_finds_the_job_of_the_next_run_in_the_queue() -> None:
    """Submitted, but DAGMan died before the log showed it."""
    bench = bench_of(Retry(2, delay=100))
    bench.run_node("A", 1, value=1)
    bench.now += 200
    other = bench.replay()
    other.tell(inputs.LogCaughtUp(), inputs.QueueListed([QueuedJob(2, 0, "A", 1)]))
    assert other.state("A").name == "SUBMITTED"
    assert [note.note for note in other.asked(do.AppendNote)] == [Note.ADOPTED]
    assert not other.ever(do.SubmitNode)


def test_a_job_of_the_run_that_failed_does_not_end_the_delay() -> None:
    bench = bench_of(Retry(2, delay=100))
    bench.run_node("A", 1, value=1)
    other = bench.replay()
    other.tell(inputs.LogCaughtUp(), inputs.QueueListed([QueuedJob(1, 0, "A", 0)]))
    assert other.state("A").name == "RETRY_WAIT"
    bench.tell(make.submit("A", 1), make.terminated(1))  # late doubles
    assert bench.state("A").name == "RETRY_WAIT"
    bench.same_replay()


def test_a_waiting_node_holds_no_throttle() -> None:
    made = make.dag(
        "A C; D",
        retries={"A": Retry(1, delay=100)},
        limits={"one": 1},
        categories={"A": "one", "C": "one"},
    )
    bench = make.Bench(made, QUIET, Throttles(jobs=1)).begin()
    assert bench.submits() == ["A"]
    bench.run_node("A", 1, value=1)
    assert bench.submits() == ["C"]
    bench.run_node("C", 2)
    bench.take("D", 3)
    bench.wait(200.0)
    assert bench.state("A").name == "READY"  # -MaxJobs 1, and D is in the queue
    bench.tell(make.terminated(3))
    assert bench.submits() == ["A"]


def test_the_dag_waits_for_it() -> None:
    bench = bench_of(Retry(1, delay=100), "A; B")
    bench.run_node("A", 1, value=1)
    bench.run_node("B", 2)
    assert not bench.ever(do.Exit)
    bench.wait(200.0)
    bench.run_node("A", 3)
    assert bench.asked(do.Exit) == [do.Exit(0)]


def test_it_is_shown_with_the_time_that_is_left() -> None:
    bench = bench_of(Retry(2, delay=100))
    bench.run_node("A", 1, value=1)
    (shown, _) = bench.engine.node_reports()
    left = due(bench) - bench.now
    assert shown.status is NodeStatus.READY
    assert shown.details == f"retry #1 starts in {left:.0f} seconds"
    assert shown.retries_done == 1
    assert bench.engine.report().ready == 1
    bench.wait(200.0)
    assert next(bench.engine.node_reports()).details == ""


def test_halted_it_is_not_started() -> None:
    bench = bench_of(Retry(2, delay=100), "A; B")
    bench.take("A", 1)
    bench.take("B", 2)
    bench.tell(make.terminated(1, value=1))
    bench.tell(inputs.Halt())
    assert bench.engine.next_deadline() is None  # else DAGMan would spin
    bench.wait(200.0)
    assert bench.state("A").name == "RETRY_WAIT"
    bench.tell(inputs.Resume())
    assert bench.submits() == ["A"]


def test_halted_with_nothing_else_the_dag_ends() -> None:
    bench = bench_of(Retry(2, delay=100))
    bench.run_node("A", 1, value=1)
    bench.tell(inputs.Halt())
    bench.wait(GRACE)
    assert bench.asked(do.Exit) == [do.Exit(1)]


def test_condor_rm_does_not_wait_for_it() -> None:
    bench = bench_of(Retry(2, delay=100))
    bench.run_node("A", 1, value=1)
    bench.tell(inputs.Stop())
    assert bench.asked(do.Exit) == [do.Exit(2)]


def test_a_clock_that_steps_ahead_or_back() -> None:
    bench = bench_of(Retry(2, delay=100))
    bench.run_node("A", 1, value=1)
    bench.wait(-5000.0)
    assert bench.state("A").name == "RETRY_WAIT"
    bench.wait(6000.0)
    assert bench.submits() == ["A"]


def test_no_new_save_point_and_no_old_values() -> None:
    bench = bench_of(Retry(2, delay=100), saves={"A": "a.save"}, post={"A": "q $RETURN"})
    bench.run_node("A", 1, value=5)
    bench.post_ends("A", 6)
    bench.wait(200.0)
    bench.run_node("A", 2)
    assert bench.asked(do.RunScript) == [do.RunScript(0, ScriptKind.POST, ("q", "0"))]
    assert len(bench.ever(do.WriteSavePoint)) == 1


def test_retry_node_first() -> None:
    made = make.dag("A; B; C", retries={"A": 1, "B": Retry(1, delay=10)})
    bench = make.Bench(made, Config(retry_node_first=True), Throttles(jobs=1)).begin()
    bench.run_node("A", 1, value=1)
    assert bench.submits() == ["A"]


# Failed jobs on hold.


def on_hold(text: str = "A -> B", **more: object) -> make.Bench:
    config = Config(put_failed_jobs_on_hold=True, check_queue_interval=0)
    return make.Bench(make.dag(text, **more), config).begin()  # type: ignore[arg-type]


def test_a_failed_job_is_put_on_hold() -> None:
    bench = on_hold(retries={"A": 1})
    bench.run_node("A", 1, value=1)
    assert not bench.asked(do.SubmitNode)[0].on_hold
    bench.run_node("A", 2, value=1)
    assert bench.said("Retrying node A (retry #2 of 2)...")
    (action,) = bench.asked(do.SubmitNode)
    assert action.on_hold
    assert action.retry == 2
    assert bench.states() == "A=SUBMITTING B=WAITING"
    bench.same_replay()
    bench.run_node("A", 3, value=1)  # mended, but not well
    assert bench.asked(do.SubmitNode)[0].on_hold
    bench.run_node("A", 4)
    assert bench.states() == "A=DONE B=SUBMITTING"


def test_a_restart_puts_it_on_hold_as_well() -> None:
    bench = on_hold()
    bench.run_node("A", 1, value=1)
    (action,) = bench.restart().asked(do.SubmitNode)
    assert action.on_hold
    assert action.retry == 1


def test_who_is_not_put_on_hold() -> None:
    bench = on_hold(post={"A": "q"})
    bench.run_node("A", 1, value=1)
    bench.post_ends("A", 1)
    assert bench.state("A").name == "FAILED"
    bench = on_hold(pre={"A": "p"})
    bench.pre_ends("A", 1)
    assert bench.state("A").name == "FAILED"
    bench = on_hold()
    bench.tell(inputs.SubmitFailed(0, "no such file", permanent=True))
    bench.read_back()
    assert bench.state("A").name == "FAILED"
    bench = on_hold(retries={"A": Retry(3, unless_exit=(2,))})
    bench.run_node("A", 1, value=2)
    assert bench.state("A").name == "FAILED"
    bench = on_hold(aborts={"A": 3})
    bench.run_node("A", 1, value=3)
    assert bench.asked(do.Exit) == [do.Exit(3)]


def test_a_pre_script_that_fails_in_a_retry_is_not_put_on_hold() -> None:
    bench = on_hold(pre={"A": "p"}, retries={"A": 1})
    bench.pre_ends("A")
    bench.run_node("A", 1, value=1)
    bench.pre_ends("A", 1)
    assert bench.state("A").name == "FAILED"


def test_a_replay_tells_the_runs_of_a_noop_node_apart() -> None:
    made = make.dag("A", retries={"A": Retry(1, delay=60)}, noop="A", post={"A": "q"})
    bench = make.Bench(made).begin(recovering=True)
    bench.tell(*make.noop("A", 1), make.post_ended("A", 1, 0, 0, 1))
    assert bench.state("A").name == "RETRY_WAIT"
    bench.tell(*make.noop("A", 1))
    assert bench.state("A").name == "RETRY_WAIT"
    bench.tell(*make.noop("A", 2), make.post_ended("A", 0, 0, 0, 2))
    assert bench.state("A").name == "DONE"


def test_live_the_delay_counts_from_now_whatever_the_clock_of_the_log_says() -> None:
    bench = make.Bench(make.dag("A", retries={"A": Retry(1, delay=60)})).begin()
    bench.take("A", 1)
    bench.tell(make.terminated(1, value=1)._replace(time=bench.now - 500.0))
    due = bench.engine.retry_queue.due(0)
    assert due is not None
    assert due > bench.now + 50


def test_a_run_that_is_submitted_on_hold_has_no_delay() -> None:
    made = make.dag("A", retries={"A": Retry(0, delay=60, backoff=2.0)})
    bench = make.Bench(made, Config(put_failed_jobs_on_hold=True)).begin()
    bench.run_node("A", 1, value=1)
    assert [action.on_hold for action in bench.asked(do.SubmitNode)] == [True]
