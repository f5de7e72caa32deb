"""Halt, pause and resume."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.timers import DRAINED_GRACE_S
from condor_pydagman.vocabulary import DagStatus, EventKind, ScriptKind
from tests import make
from tests.make import QUIET

HALT, PAUSE = inputs.Halt(), inputs.Halt(pause=True)


def diamond(commands: str = "") -> make.EngineHarness:
    harness = make.harness_of(f"A -> B C\n{commands}", QUIET)
    harness.take("A", 1)
    return harness


def test_lines_of_halt_and_resume() -> None:
    harness = diamond()
    harness.tell(inputs.Halt("tea"))
    assert harness.said("Halting DAGMan progess...")
    assert harness.said("Halt reason: tea")
    harness.tell(HALT)
    assert harness.said("DAGMan is already halted")
    harness.tell(inputs.Resume())
    assert harness.said("Resuming DAG progress...")
    harness.tell(inputs.Halt("sleep", pause=True))
    assert harness.said("DAG Pause: Freezing all work...")
    assert harness.said("Pause reason: sleep")
    harness.tell(inputs.Resume())
    assert harness.said("DAG Un-Pause: Resuming work...")


def test_lines_are_those_of_stock_for_every_order_of_commands() -> None:
    """What stock 25.14.1 said to the same commands."""
    harness = diamond()
    harness.tell(HALT, PAUSE)
    harness.tell(PAUSE)
    assert harness.said("DAG Pause: Already-paused DAG")
    harness.tell(inputs.Resume())
    assert harness.said("DAG Un-Pause: Resuming work...")
    assert harness.said("Resuming DAG progress...")
    harness.tell(PAUSE)
    harness.tell(HALT)
    assert harness.said("Halting DAGMan progess...")
    harness.tell(inputs.Resume())
    harness.tell(PAUSE)
    told = harness.tell(inputs.Resume())
    assert [a.text for a in told if isinstance(a, do.Say)] == ["DAG Un-Pause: Resuming work..."]


@pytest.mark.parametrize("file", [False, True])
def test_a_halt_is_published_at_once(file: bool) -> None:
    harness = diamond()
    for command, status in (
        (inputs.Halt(file=file), DagStatus.HALTED),
        (inputs.Resume(file=file), DagStatus.OK),
    ):
        assert do.Publish(at_once=True) in harness.tell(command)
        assert harness.engine.report().dag_status is status


def test_a_halt_before_the_run_has_begun_is_published_with_it() -> None:
    harness = make.EngineHarness("A", QUIET)
    assert do.Publish(at_once=True) not in harness.tell(HALT)


@pytest.mark.parametrize("command", [HALT, PAUSE])
@pytest.mark.parametrize("first", ["file", "command"])
def test_a_halt_file_that_vanishes_takes_no_command_back(command: inputs.Halt, first: str) -> None:
    halts = [command, inputs.Halt("t.dag.halt is there", file=True)]
    harness = diamond()
    harness.tell(*(halts if first == "command" else halts[::-1]))
    harness.tell(inputs.Resume("t.dag.halt is gone", file=True))
    assert harness.said("The DAG stays halted by a command to halt")
    harness.tell(make.terminated(1))
    assert not harness.submits()
    assert harness.engine.report().dag_status is DagStatus.HALTED
    harness.tell(inputs.Resume())
    assert harness.submits() == ["B"]


def test_a_command_takes_no_halt_file_away() -> None:
    harness = diamond()
    harness.tell(HALT, inputs.Halt(file=True))
    harness.tell(inputs.Resume())
    assert harness.said("The DAG stays halted by the halt file")
    harness.tell(make.terminated(1))
    assert not harness.submits()
    harness.tell(inputs.Resume(file=True))
    assert harness.submits() == ["B"]


def test_a_halt_that_an_earlier_dagman_was_told() -> None:
    harness = make.EngineHarness("A -> B C", QUIET)
    harness.tell(inputs.Halt(restored=True))
    assert harness.said("Restoring halted state.")
    harness.begin()
    assert not harness.submits()
    harness.tell(inputs.Resume())
    assert harness.submits() == ["A"]


def test_resume_of_a_dag_that_goes_on_says_nothing() -> None:
    assert not diamond().tell(inputs.Resume())


def test_nothing_is_submitted_but_what_runs_goes_on() -> None:
    harness = make.harness_of("A -> B; C", QUIET)
    harness.take("A", 1)
    harness.take("C", 2)
    harness.tell(HALT)
    harness.tell(make.terminated(1))
    assert harness.states() == "A=DONE B=READY C=SUBMITTED"
    assert not harness.submits()
    assert harness.engine.report().dag_status is DagStatus.HALTED
    harness.tell(inputs.Resume())
    assert harness.submits() == ["B"]
    assert harness.engine.report().dag_status is DagStatus.OK


def test_a_failure_meanwhile_shows_after_it() -> None:
    harness = make.harness_of("A; C", QUIET)
    harness.take("A", 1)
    harness.take("C", 2)
    harness.tell(HALT)
    harness.tell(make.terminated(1, value=1))
    assert harness.engine.report().dag_status is DagStatus.HALTED
    harness.tell(inputs.Resume())
    assert harness.engine.report().dag_status is DagStatus.NODE_FAILED


def test_a_halt_that_vanishes_at_once() -> None:
    harness = diamond()
    harness.tell(HALT, inputs.Resume())
    harness.tell(make.terminated(1))
    assert harness.submits() == ["B"]


def test_pre_scripts_wait_post_scripts_do_not() -> None:
    harness = make.harness_of("A; B -> C\nSCRIPT POST A q\nSCRIPT PRE C p", QUIET)
    harness.take("A", 1)
    harness.take("B", 2)
    harness.tell(HALT)
    harness.tell(make.terminated(1), make.terminated(2))
    assert [run.kind for run in harness.asked(do.RunScript)] == [ScriptKind.POST]
    assert harness.state("C").name == "PRE_WAIT"
    assert harness.engine.report().pre == 1
    harness.tell(inputs.Resume())
    assert [run.kind for run in harness.asked(do.RunScript)] == [ScriptKind.PRE]


def test_paused_no_script_starts() -> None:
    harness = make.harness_of("A; B -> C\nSCRIPT POST A q\nSCRIPT PRE C p", QUIET)
    harness.take("A", 1)
    harness.take("B", 2)
    harness.tell(PAUSE)
    harness.tell(make.terminated(1), make.terminated(2))
    assert not harness.asked(do.RunScript)
    assert not harness.ever(do.Exit)  # it waits for somebody who resumes it
    harness.tell(inputs.Resume())
    assert len(harness.asked(do.RunScript)) == 2


def test_a_pre_script_that_runs_ends_and_its_node_is_not_submitted() -> None:
    harness = make.harness_of("A; B\nSCRIPT PRE A p", QUIET)
    harness.take("B", 1)
    harness.tell(HALT)
    harness.pre_ends("A")
    assert harness.state("A").name == "READY"
    assert not harness.submits()


def test_a_halt_while_a_submission_is_in_flight() -> None:
    harness = make.harness_of("A; B", QUIET)
    harness.tell(HALT)
    assert not harness.ever(do.Exit)
    harness.take("A", 1)
    assert harness.state("A").name == "SUBMITTED"
    assert not harness.submits()
    harness.tell(make.terminated(1))
    harness.wait(DRAINED_GRACE_S)
    assert harness.asked(do.Exit) == [do.Exit(1)]


def test_a_reply_that_is_lost_is_cleared_up() -> None:
    harness = make.harness_of("A", QUIET)
    harness.tell(HALT)
    harness.tell(inputs.SubmitFailed(0, "timeout", permanent=False, unknown=True))
    assert not harness.ever(do.Exit)
    harness.wait(1.0)
    assert harness.asked(do.QueryQueue)
    harness.tell(inputs.QueueListed([]))
    harness.wait(DRAINED_GRACE_S)
    assert harness.asked(do.Exit) == [do.Exit(1)]


def test_a_retry_becomes_ready_and_waits() -> None:
    harness = make.harness_of("A; B\nRETRY A 1", QUIET)
    harness.take("A", 1)
    harness.take("B", 2)
    harness.tell(HALT)
    harness.tell(make.terminated(1, value=1))
    assert harness.state("A").name == "READY"
    harness.tell(make.terminated(2))
    harness.wait(DRAINED_GRACE_S)
    assert harness.asked(do.Exit) == [do.Exit(1)]
    assert harness.engine.report().failed == 0


def test_a_halt_of_a_dag_at_rest_can_be_taken_back() -> None:
    harness = make.harness_of("A\nSCRIPT DEFER 2 30 PRE A p", QUIET)
    harness.tell(inputs.ScriptEnded(0, ScriptKind.PRE, 2), HALT)
    assert harness.engine.next_deadline() == harness.now + DRAINED_GRACE_S
    harness.wait(DRAINED_GRACE_S / 2)
    harness.tell(inputs.Resume())
    harness.wait(DRAINED_GRACE_S)
    assert not harness.ever(do.Exit)


def test_a_halted_dag_at_rest_ends_with_a_rescue_file() -> None:
    harness = diamond()
    harness.tell(HALT)
    harness.tell(make.terminated(1))
    assert not harness.ever(do.Exit)
    harness.wait(DRAINED_GRACE_S)
    assert harness.said("Exiting because DAG is halted and no jobs or scripts are running")
    kinds = (do.WriteRescue, do.RemoveJobs, do.Exit)
    order = [type(action) for action in harness.last if isinstance(action, kinds)]
    assert order == [do.WriteRescue, do.RemoveJobs, do.Exit]
    assert harness.asked(do.Exit) == [do.Exit(1)]
    assert harness.engine.run.status is DagStatus.HALTED
    assert harness.asked(do.Publish)[-1].outcome == "failed"


@pytest.mark.parametrize("kind", [ScriptKind.PRE, ScriptKind.POST])
def test_not_drained_while_a_script_runs(kind: ScriptKind) -> None:
    harness = make.harness_of(f"A -> B\nSCRIPT {kind.name} A s", QUIET)
    if kind is ScriptKind.POST:
        harness.run_node("A", 1)
    harness.tell(HALT)
    assert not harness.ever(do.Exit)
    harness.tell(inputs.ScriptEnded(0, kind, 0))
    assert not harness.ever(do.Exit)  # its record is on the way
    harness.read_back()
    harness.wait(DRAINED_GRACE_S)
    assert harness.asked(do.Exit) == [do.Exit(1)]


def test_a_deferred_post_script_is_waited_for() -> None:
    harness = make.harness_of("A -> B\nSCRIPT DEFER 2 30 POST A q", QUIET)
    harness.run_node("A", 1)
    harness.tell(HALT)
    harness.tell(inputs.ScriptEnded(0, ScriptKind.POST, 2))
    assert harness.engine.next_deadline() == harness.now + 30
    harness.wait(30.0)
    assert harness.asked(do.RunScript)


def test_a_deferred_pre_script_is_not() -> None:
    harness = make.harness_of("A\nSCRIPT DEFER 2 30 PRE A p", QUIET)
    harness.tell(HALT)
    harness.tell(inputs.ScriptEnded(0, ScriptKind.PRE, 2))
    harness.wait(DRAINED_GRACE_S)
    assert harness.asked(do.Exit) == [do.Exit(1)]


def test_all_done_while_halted_is_a_success() -> None:
    harness = make.harness_of("A", QUIET)
    harness.take("A", 1)
    harness.tell(HALT)
    harness.tell(make.terminated(1))
    assert harness.asked(do.Exit) == [do.Exit(0)]
    assert not harness.ever(do.WriteRescue)
    assert harness.engine.run.shown_status is DagStatus.HALTED


def test_nothing_left_but_failures_is_a_failure() -> None:
    harness = make.harness_of("A -> B", QUIET)
    harness.take("A", 1)
    harness.tell(HALT)
    harness.tell(make.terminated(1, value=1))
    assert harness.asked(do.Exit) == [do.Exit(1)]
    assert harness.engine.run.shown_status is DagStatus.HALTED  # as stock, even if nodes failed


def test_halted_before_anything_is_submitted() -> None:
    harness = make.EngineHarness("A -> B\nSCRIPT PRE A p", QUIET)
    harness.engine.handle(HALT, harness.now)
    harness.begin()
    assert not harness.ever(do.RunScript)
    assert not harness.ever(do.SubmitNode)


def test_services_are_not_waited_for() -> None:
    harness = make.harness_of("A -> B\nSERVICE S n.sub", QUIET)
    harness.take("S", 1)
    harness.take("A", 2)
    harness.tell(HALT)
    harness.tell(make.terminated(2))
    harness.wait(DRAINED_GRACE_S)
    assert harness.asked(do.Exit) == [do.Exit(1)]


def test_condor_rm_and_abort_while_halted() -> None:
    harness = diamond()
    harness.tell(HALT)
    harness.tell(inputs.DagRemoved())
    assert harness.asked(do.Exit) == [do.Exit(2)]
    assert harness.engine.run.shown_status is DagStatus.RM
    harness = diamond("ABORT-DAG-ON A 3")
    harness.tell(PAUSE)
    harness.tell(make.terminated(1, value=3))
    assert harness.asked(do.Exit) == [do.Exit(3)]
    assert harness.engine.run.shown_status is DagStatus.ABORT


def test_held_jobs_keep_a_halted_dag() -> None:
    harness = diamond()
    harness.tell(make.of_job(EventKind.JOB_HELD, 1), HALT)
    assert not harness.ever(do.Exit)


def test_halted_in_recovery() -> None:
    """The daemon tells of a halt when the job ad says that the DAG was halted."""
    harness = diamond()
    other = harness.replay()
    other.tell(HALT)
    other.tell(inputs.LogCaughtUp(), inputs.QueueListed(other.queue()))
    assert other.engine.run.phase is Phase.RUNNING
    other.tell(make.terminated(1))
    other.wait(DRAINED_GRACE_S)
    assert other.asked(do.Exit) == [do.Exit(1)]
    assert not other.ever(do.SubmitNode)


def test_a_halt_is_not_drained_before_the_schedd_has_been_asked() -> None:
    """Its answer may show a job that the log does not."""
    other = make.EngineHarness("A", QUIET).begin(recovering=True)
    other.tell(HALT, inputs.LogCaughtUp())
    assert not other.ever(do.Exit)
    other.tell(inputs.QueueListed([inputs.QueuedJob(5, 0, "A", 0)]))
    assert other.state("A").name == "SUBMITTED"
    assert not other.ever(do.Exit)


def test_a_pause_on_top_of_a_halt_and_a_halt_on_top_of_a_pause() -> None:
    harness = diamond()
    harness.tell(HALT, PAUSE)
    harness.tell(make.terminated(1))
    assert not harness.ever(do.Exit)
    harness = diamond()
    harness.tell(PAUSE, HALT)
    harness.tell(make.terminated(1))
    assert not harness.ever(do.Exit)
    harness.tell(inputs.Resume())
    assert harness.submits() == ["B"]


def test_a_dag_that_is_paused_when_it_was_about_to_end_halted_does_not_end() -> None:
    harness = diamond()
    harness.tell(HALT)
    harness.tell(make.terminated(1))
    assert harness.engine.next_deadline() == harness.now + DRAINED_GRACE_S
    harness.tell(PAUSE)
    assert harness.engine.next_deadline() is None
    harness.wait(DRAINED_GRACE_S)
    assert not harness.ever(do.Exit)


def test_a_halted_or_paused_dag_does_not_spin() -> None:
    """Whatever was due when it was halted is no deadline before it goes on."""
    made = make.dag("""
        A B C; D
        SCRIPT DEFER 2 5 PRE A p
        SCRIPT DEFER 2 5 POST D q
        RETRY B 3 DELAY 5
    """)
    for what in (HALT, PAUSE):
        harness = make.EngineHarness(made, QUIET).begin()
        harness.tell(inputs.ScriptEnded(0, ScriptKind.PRE, 2))
        harness.run_node("B", 1, value=1)
        harness.take("C", 2)
        harness.run_node("D", 3)
        if what is PAUSE:
            harness.tell(inputs.ScriptEnded(3, ScriptKind.POST, 2))
        harness.tell(what)
        harness.wait(100.0)
        assert harness.engine.next_deadline() is None
        harness.tell(inputs.Resume())
        assert harness.submits() == ["B"]


def test_a_halt_before_the_first_input_ends_nothing_before_the_old_log_is_read() -> None:
    harness = make.EngineHarness("A -> B", QUIET)
    harness.tell(HALT)
    harness.begin(recovering=True)
    assert harness.engine.run.phase is Phase.RECOVERING
    assert not harness.ever(do.WriteRescue)
