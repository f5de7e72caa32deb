"""Halt, pause and resume."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.halting import GRACE
from condor_pydagman.graph.model import Retry, Script
from condor_pydagman.vocabulary import DagStatus, EventKind, NodeKind, ScriptKind
from tests import make

QUIET = Config(check_queue_interval=0, pending_report_interval=0)
HALT, PAUSE = inputs.Halt(), inputs.Halt(pause=True)


def diamond(**more: object) -> make.Bench:
    bench = make.Bench(make.dag("A -> B C", **more), QUIET).begin()  # type: ignore[arg-type]
    bench.take("A", 1)
    return bench


def test_words() -> None:
    bench = diamond()
    bench.tell(inputs.Halt("tea"))
    assert bench.said("Halting DAGMan progess...")
    assert bench.said("Halt reason: tea")
    bench.tell(HALT)
    assert bench.said("DAGMan is already halted")
    bench.tell(inputs.Resume())
    assert bench.said("Resuming DAG progress...")
    bench.tell(inputs.Halt("sleep", pause=True))
    assert bench.said("DAG Pause: Freezing all work...")
    assert bench.said("Pause reason: sleep")
    bench.tell(inputs.Resume())
    assert bench.said("DAG Un-Pause: Resuming work...")


def test_words_of_stock_for_every_order_of_commands() -> None:
    """What stock 25.14.1 said to the same commands."""
    bench = diamond()
    bench.tell(HALT, PAUSE)
    bench.tell(PAUSE)
    assert bench.said("DAG Pause: Already-paused DAG")
    bench.tell(inputs.Resume())
    assert bench.said("DAG Un-Pause: Resuming work...")
    assert bench.said("Resuming DAG progress...")
    bench.tell(PAUSE)
    bench.tell(HALT)
    assert bench.said("Halting DAGMan progess...")
    bench.tell(inputs.Resume())
    bench.tell(PAUSE)
    told = bench.tell(inputs.Resume())
    assert [a.text for a in told if isinstance(a, do.Say)] == ["DAG Un-Pause: Resuming work..."]


@pytest.mark.parametrize("file", [False, True])
def test_it_is_published_at_once(file: bool) -> None:
    bench = diamond()
    for command, status in (
        (inputs.Halt(file=file), DagStatus.HALTED),
        (inputs.Resume(file=file), DagStatus.OK),
    ):
        assert do.Publish(at_once=True) in bench.tell(command)
        assert bench.engine.report().dag_status is status


def test_a_halt_before_the_run_has_begun_is_published_with_it() -> None:
    bench = make.Bench("A", QUIET)
    assert do.Publish(at_once=True) not in bench.tell(HALT)


@pytest.mark.parametrize("command", [HALT, PAUSE])
@pytest.mark.parametrize("first", ["file", "command"])
def test_a_halt_file_that_vanishes_takes_no_command_back(command: inputs.Halt, first: str) -> None:
    halts = [command, inputs.Halt("t.dag.halt is there", file=True)]
    bench = diamond()
    bench.tell(*(halts if first == "command" else halts[::-1]))
    bench.tell(inputs.Resume("t.dag.halt is gone", file=True))
    assert bench.said("The DAG stays halted by a command to halt")
    bench.tell(make.terminated(1))
    assert not bench.submits()
    assert bench.engine.report().dag_status is DagStatus.HALTED
    bench.tell(inputs.Resume())
    assert bench.submits() == ["B"]


def test_a_command_takes_no_halt_file_away() -> None:
    bench = diamond()
    bench.tell(HALT, inputs.Halt(file=True))
    bench.tell(inputs.Resume())
    assert bench.said("The DAG stays halted by the halt file")
    bench.tell(make.terminated(1))
    assert not bench.submits()
    bench.tell(inputs.Resume(file=True))
    assert bench.submits() == ["B"]


def test_a_halt_that_an_earlier_dagman_was_told() -> None:
    bench = make.Bench(make.dag("A -> B C"), QUIET)
    bench.tell(inputs.Halt(restored=True))
    assert bench.said("Restoring halted state.")
    bench.begin()
    assert not bench.submits()
    bench.tell(inputs.Resume())
    assert bench.submits() == ["A"]


def test_resume_of_a_dag_that_goes_on_says_nothing() -> None:
    assert not diamond().tell(inputs.Resume())


def test_nothing_is_submitted_but_what_runs_goes_on() -> None:
    bench = make.Bench("A -> B; C", QUIET).begin()
    bench.take("A", 1)
    bench.take("C", 2)
    bench.tell(HALT)
    bench.tell(make.terminated(1))
    assert bench.states() == "A=DONE B=READY C=SUBMITTED"
    assert not bench.submits()
    assert bench.engine.report().dag_status is DagStatus.HALTED
    bench.tell(inputs.Resume())
    assert bench.submits() == ["B"]
    assert bench.engine.report().dag_status is DagStatus.OK


def test_a_failure_meanwhile_shows_after_it() -> None:
    bench = make.Bench("A; C", QUIET).begin()
    bench.take("A", 1)
    bench.take("C", 2)
    bench.tell(HALT)
    bench.tell(make.terminated(1, value=1))
    assert bench.engine.report().dag_status is DagStatus.HALTED
    bench.tell(inputs.Resume())
    assert bench.engine.report().dag_status is DagStatus.NODE_FAILED


def test_a_halt_that_vanishes_at_once() -> None:
    bench = diamond()
    bench.tell(HALT, inputs.Resume())
    bench.tell(make.terminated(1))
    assert bench.submits() == ["B"]


def test_pre_scripts_wait_post_scripts_do_not() -> None:
    made = make.dag("A; B -> C", pre={"C": "p"}, post={"A": "q"})
    bench = make.Bench(made, QUIET).begin()
    bench.take("A", 1)
    bench.take("B", 2)
    bench.tell(HALT)
    bench.tell(make.terminated(1), make.terminated(2))
    assert [run.kind for run in bench.asked(do.RunScript)] == [ScriptKind.POST]
    assert bench.state("C").name == "PRE_WAIT"
    assert bench.engine.report().pre == 1
    bench.tell(inputs.Resume())
    assert [run.kind for run in bench.asked(do.RunScript)] == [ScriptKind.PRE]


def test_paused_no_script_starts() -> None:
    made = make.dag("A; B -> C", pre={"C": "p"}, post={"A": "q"})
    bench = make.Bench(made, QUIET).begin()
    bench.take("A", 1)
    bench.take("B", 2)
    bench.tell(PAUSE)
    bench.tell(make.terminated(1), make.terminated(2))
    assert not bench.asked(do.RunScript)
    assert not bench.ever(do.Exit)  # it waits for somebody who resumes it
    bench.tell(inputs.Resume())
    assert len(bench.asked(do.RunScript)) == 2


def test_a_pre_script_that_runs_ends_and_its_node_is_not_submitted() -> None:
    bench = make.Bench(make.dag("A; B", pre={"A": "p"}), QUIET).begin()
    bench.take("B", 1)
    bench.tell(HALT)
    bench.pre_ends("A")
    assert bench.state("A").name == "READY"
    assert not bench.submits()


def test_a_reply_in_flight() -> None:
    bench = make.Bench("A; B", QUIET).begin()
    bench.tell(HALT)
    assert not bench.ever(do.Exit)
    bench.take("A", 1)
    assert bench.state("A").name == "SUBMITTED"
    assert not bench.submits()
    bench.tell(make.terminated(1))
    bench.wait(GRACE)
    assert bench.asked(do.Exit) == [do.Exit(1)]


def test_a_reply_that_is_lost_is_cleared_up() -> None:
    bench = make.Bench("A", QUIET).begin()
    bench.tell(HALT)
    bench.tell(inputs.SubmitFailed(0, "timeout", permanent=False, unknown=True))
    assert not bench.ever(do.Exit)
    bench.wait(1.0)
    assert bench.asked(do.QueryQueue)
    bench.tell(inputs.QueueListed([]))
    bench.wait(GRACE)
    assert bench.asked(do.Exit) == [do.Exit(1)]


def test_a_retry_becomes_ready_and_waits() -> None:
    bench = make.Bench(make.dag("A; B", retries={"A": 1}), QUIET).begin()
    bench.take("A", 1)
    bench.take("B", 2)
    bench.tell(HALT)
    bench.tell(make.terminated(1, value=1))
    assert bench.state("A").name == "READY"
    bench.tell(make.terminated(2))
    bench.wait(GRACE)
    assert bench.asked(do.Exit) == [do.Exit(1)]
    assert bench.engine.report().failed == 0


def test_a_halt_of_a_dag_at_rest_can_be_taken_back() -> None:
    bench = make.Bench(make.dag("A", pre={"A": Script("p", 2, 30)}), QUIET).begin()
    bench.tell(inputs.ScriptEnded(0, ScriptKind.PRE, 2), HALT)
    assert bench.engine.next_deadline() == bench.now + GRACE
    bench.wait(GRACE / 2)
    bench.tell(inputs.Resume())
    bench.wait(GRACE)
    assert not bench.ever(do.Exit)


def test_drained() -> None:
    bench = diamond()
    bench.tell(HALT)
    bench.tell(make.terminated(1))
    assert not bench.ever(do.Exit)
    bench.wait(GRACE)
    assert bench.said("Exiting because DAG is halted and no jobs or scripts are running")
    kinds = (do.WriteRescue, do.RemoveJobs, do.Exit)
    order = [type(action) for action in bench.last if isinstance(action, kinds)]
    assert order == [do.WriteRescue, do.RemoveJobs, do.Exit]
    assert bench.asked(do.Exit) == [do.Exit(1)]
    assert bench.engine.status is DagStatus.HALTED
    assert bench.asked(do.Publish)[-1].note == "failed"


@pytest.mark.parametrize("kind", [ScriptKind.PRE, ScriptKind.POST])
def test_not_drained_while_a_script_runs(kind: ScriptKind) -> None:
    scripts = {"A": "s"}
    pre, post = (scripts, {}) if kind is ScriptKind.PRE else ({}, scripts)
    bench = make.Bench(make.dag("A -> B", pre=pre, post=post), QUIET).begin()
    if kind is ScriptKind.POST:
        bench.run_node("A", 1)
    bench.tell(HALT)
    assert not bench.ever(do.Exit)
    bench.tell(inputs.ScriptEnded(0, kind, 0))
    assert not bench.ever(do.Exit)  # its note is on the way
    bench.read_back()
    bench.wait(GRACE)
    assert bench.asked(do.Exit) == [do.Exit(1)]


def test_a_deferred_post_script_is_waited_for() -> None:
    bench = make.Bench(make.dag("A -> B", post={"A": Script("q", 2, 30)}), QUIET).begin()
    bench.run_node("A", 1)
    bench.tell(HALT)
    bench.tell(inputs.ScriptEnded(0, ScriptKind.POST, 2))
    assert bench.engine.next_deadline() == bench.now + 30
    bench.wait(30.0)
    assert bench.asked(do.RunScript)


def test_a_deferred_pre_script_is_not() -> None:
    bench = make.Bench(make.dag("A", pre={"A": Script("p", 2, 30)}), QUIET).begin()
    bench.tell(HALT)
    bench.tell(inputs.ScriptEnded(0, ScriptKind.PRE, 2))
    bench.wait(GRACE)
    assert bench.asked(do.Exit) == [do.Exit(1)]


def test_all_done_while_halted_is_a_success() -> None:
    bench = make.Bench("A", QUIET).begin()
    bench.take("A", 1)
    bench.tell(HALT)
    bench.tell(make.terminated(1))
    assert bench.asked(do.Exit) == [do.Exit(0)]
    assert not bench.ever(do.WriteRescue)
    assert bench.engine.shown_status is DagStatus.HALTED


def test_nothing_left_but_failures_is_a_failure() -> None:
    bench = make.Bench("A -> B", QUIET).begin()
    bench.take("A", 1)
    bench.tell(HALT)
    bench.tell(make.terminated(1, value=1))
    assert bench.asked(do.Exit) == [do.Exit(1)]
    assert bench.engine.shown_status is DagStatus.HALTED  # as stock, even if nodes failed


def test_halted_before_anything_is_submitted() -> None:
    bench = make.Bench(make.dag("A -> B", pre={"A": "p"}), QUIET)
    bench.engine.handle(HALT, bench.now)
    bench.begin()
    assert not bench.ever(do.RunScript)
    assert not bench.ever(do.SubmitNode)


def test_services_are_not_waited_for() -> None:
    made = make.dag("A -> B; S", kinds={"S": NodeKind.SERVICE})
    bench = make.Bench(made, QUIET).begin()
    bench.take("S", 1)
    bench.take("A", 2)
    bench.tell(HALT)
    bench.tell(make.terminated(2))
    bench.wait(GRACE)
    assert bench.asked(do.Exit) == [do.Exit(1)]


def test_condor_rm_and_abort_while_halted() -> None:
    bench = diamond()
    bench.tell(HALT)
    bench.tell(inputs.Stop())
    assert bench.asked(do.Exit) == [do.Exit(2)]
    assert bench.engine.shown_status is DagStatus.RM
    bench = diamond(aborts={"A": 3})
    bench.tell(PAUSE)
    bench.tell(make.terminated(1, value=3))
    assert bench.asked(do.Exit) == [do.Exit(3)]
    assert bench.engine.shown_status is DagStatus.ABORT


def test_held_jobs_keep_a_halted_dag() -> None:
    bench = diamond()
    bench.tell(make.of_job(EventKind.JOB_HELD, 1), HALT)
    assert not bench.ever(do.Exit)


def test_halted_in_recovery() -> None:
    """The daemon tells of a halt when the job ad says that the DAG was halted."""
    bench = diamond()
    other = bench.replay()
    other.tell(HALT)
    other.tell(inputs.LogCaughtUp(), inputs.QueueListed(other.queue()))
    assert other.engine.phase is Phase.RUNNING
    other.tell(make.terminated(1))
    other.wait(GRACE)
    assert other.asked(do.Exit) == [do.Exit(1)]
    assert not other.ever(do.SubmitNode)


def test_a_halt_is_not_drained_before_the_schedd_has_been_asked() -> None:
    """Its answer may show a job that the log does not."""
    other = make.Bench("A", QUIET).begin(recovering=True)
    other.tell(HALT, inputs.LogCaughtUp())
    assert not other.ever(do.Exit)
    other.tell(inputs.QueueListed([inputs.QueuedJob(5, 0, "A", 0)]))
    assert other.state("A").name == "SUBMITTED"
    assert not other.ever(do.Exit)


def test_a_pause_on_top_of_a_halt_and_a_halt_on_top_of_a_pause() -> None:
    bench = diamond()
    bench.tell(HALT, PAUSE)
    bench.tell(make.terminated(1))
    assert not bench.ever(do.Exit)
    bench = diamond()
    bench.tell(PAUSE, HALT)
    bench.tell(make.terminated(1))
    assert not bench.ever(do.Exit)
    bench.tell(inputs.Resume())
    assert bench.submits() == ["B"]


def test_a_dag_that_is_paused_when_it_was_about_to_end_halted_does_not_end() -> None:
    bench = diamond()
    bench.tell(HALT)
    bench.tell(make.terminated(1))
    assert bench.engine.next_deadline() == bench.now + GRACE
    bench.tell(PAUSE)
    assert bench.engine.next_deadline() is None
    bench.wait(GRACE)
    assert not bench.ever(do.Exit)


def test_a_halted_or_paused_dag_does_not_spin() -> None:
    """Whatever was due when it was halted is no deadline before it goes on."""
    made = make.dag(
        "A B C; D",
        pre={"A": Script("p", 2, 5)},
        post={"D": Script("q", 2, 5)},
        retries={"B": Retry(3, delay=5)},
    )
    for what in (HALT, PAUSE):
        bench = make.Bench(made, QUIET).begin()
        bench.tell(inputs.ScriptEnded(0, ScriptKind.PRE, 2))
        bench.run_node("B", 1, value=1)
        bench.take("C", 2)
        bench.run_node("D", 3)
        if what is PAUSE:
            bench.tell(inputs.ScriptEnded(3, ScriptKind.POST, 2))
        bench.tell(what)
        bench.wait(100.0)
        assert bench.engine.next_deadline() is None
        bench.tell(inputs.Resume())
        assert bench.submits() == ["B"]


def test_a_halt_before_the_first_input_ends_nothing_before_the_old_log_is_read() -> None:
    bench = make.Bench("A -> B", QUIET)
    bench.tell(HALT)
    bench.begin(recovering=True)
    assert bench.engine.phase is Phase.RECOVERING
    assert not bench.ever(do.WriteRescue)
