"""Commands for single nodes: what they do, what is refused, and that a replay comes to the same."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.node_states import State
from condor_pydagman.vocabulary import (
    EventKind,
    JournalRecord,
    NodeCommand,
    NodeKind,
    ScriptKind,
)
from tests import make
from tests.unit.engine.steered import steered

C = NodeCommand


def test_a_node_whose_jobs_are_in_the_queue_is_cancelled() -> None:
    harness = steered("A -> B", retries={"A": 3})
    harness.take("A", 1)
    assert harness.ask(C.CANCEL, "A").done == 1
    assert [action.cluster for action in harness.asked(do.RemoveJobs)] == [1]
    assert harness.state("A") is State.SUBMITTED
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 1))
    assert harness.states() == "A=FAILED B=FUTILE"
    assert harness.engine.run.nodes.errors[0].startswith("Cancelled")
    assert harness.replayed() == "A=FAILED B=FUTILE"


def test_its_retries_apply_if_that_is_asked_for() -> None:
    harness = steered("A", retries={"A": 3})
    harness.take("A", 1)
    harness.ask(C.CANCEL, "A", "retry")
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 1))
    assert harness.submits() == ["A"]
    assert harness.refusal(C.CANCEL, "A", "retry").startswith("it has no jobs in the queue")


@pytest.mark.parametrize("name", ["A", "B"])
def test_a_node_that_has_not_begun_is_cancelled(name: str) -> None:
    harness = steered("A -> B -> C; D", pre={"A": "x"})
    harness.take("D", 9)
    if name == "A":
        harness.tell(inputs.ScriptEnded(0, ScriptKind.PRE, 0))
        harness.tell(*harness.echo(harness.last))
        harness.engine.run.limits_changed = True
    assert harness.ask(C.CANCEL, "B").done == 1
    assert harness.state("B") is State.FAILED
    assert harness.state("C") is State.FUTILE
    assert "C=FUTILE" in harness.replayed()


def test_one_whose_script_runs_fails_when_that_has_ended() -> None:
    harness = steered("A -> B", pre={"A": "x"}, retries={"A": 2})
    assert harness.state("A") is State.PRE_RUN
    assert harness.ask(C.CANCEL, "A").done == 1
    harness.pre_ends("A")
    assert harness.states() == "A=FAILED B=FUTILE"
    assert not harness.ever(do.SubmitNode)
    assert harness.replayed() == harness.states()


def test_one_that_is_being_submitted_is_removed_when_it_is_in_the_queue() -> None:
    harness = steered("A -> B; C")
    assert harness.state("A") is State.SUBMITTING
    assert harness.ask(C.CANCEL, "A").done == 1
    assert not harness.asked(do.RemoveJobs)
    harness.take("A", 1)
    assert [action.cluster for action in harness.asked(do.RemoveJobs)] == [1]
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 1))
    assert harness.state("A") is State.FAILED
    assert "A=FAILED B=FUTILE" in harness.replayed()


def test_one_whose_submission_comes_to_nothing_fails() -> None:
    harness = steered("A -> B; C")
    harness.ask(C.CANCEL, "A")
    harness.tell(inputs.SubmitFailed(0, "no", permanent=False))
    harness.read_back()
    assert harness.state("A") is State.FAILED
    assert "A=FAILED B=FUTILE" in harness.replayed()


def test_a_job_that_ends_well_before_it_is_removed_has_made_its_node_done() -> None:
    harness = steered("A -> B")
    harness.take("A", 1)
    harness.ask(C.CANCEL, "A")
    harness.tell(make.terminated(1))
    assert harness.state("A") is State.DONE
    assert not harness.engine.run.steering.cancelled


def test_a_post_script_does_not_save_a_cancelled_node() -> None:
    harness = steered("A -> B", post={"A": "x"})
    harness.take("A", 1)
    harness.ask(C.CANCEL, "A")
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 1))
    harness.post_ends("A", 0)
    assert harness.states() == "A=FAILED B=FUTILE"
    assert harness.replayed() == harness.states()


def test_hold_and_release_are_the_schedds_matter() -> None:
    harness = steered("A B")
    harness.take("A", 1)
    assert harness.ask(C.HOLD, "A").done == 1
    (action,) = harness.asked(do.HoldJobs)
    assert (action.cluster, action.release) == (1, False)
    assert "ann" in action.reason
    harness.ask(C.RELEASE, "A")
    assert harness.asked(do.HoldJobs)[0].release
    assert not [a for a in harness.all if isinstance(a, do.AppendJournalRecord)]


@pytest.mark.parametrize("command", [C.DONE, C.SKIP])
def test_a_node_that_has_not_begun_is_passed_over(command: NodeCommand) -> None:
    harness = steered("A -> B -> C; D")
    harness.take("A", 1)
    harness.take("D", 2)
    assert harness.ask(command, "B").done == 1
    assert harness.state("B") is State.DONE
    harness.tell(make.terminated(1))
    assert harness.submits() == ["C"] or harness.state("C") is State.SUBMITTING
    assert harness.replayed() == "A=DONE B=DONE C=READY D=SUBMITTED"


def test_a_failed_node_is_marked_done() -> None:
    harness = steered("A -> B; D")
    harness.take("D", 2)
    harness.run_node("A", 1, value=1)
    assert harness.refusal(C.SKIP, "A") == "it has failed: mark it done, or run it again"
    assert "mark that one done" in harness.refusal(C.DONE, "B")
    harness.ask(C.DONE, "A")
    assert harness.submits() == ["B"]
    assert harness.replayed() == "A=DONE B=READY D=SUBMITTED"
    assert harness.refusal(C.DONE, "A") == "it is done already"


def test_a_priority_counts_for_the_next_submission() -> None:
    harness = steered("A B C; D", limits=None)
    harness.tell(inputs.Halt())
    harness.take("A", 1)
    harness.ask(C.SET, "C", '{"priority":7}')
    harness.tell(inputs.Resume())
    assert harness.submits() == ["C"]
    assert [action.priority for action in harness.asked(do.SubmitNode)] == [7]


def test_the_dag_does_not_end_while_a_command_is_on_its_way() -> None:
    harness = steered("A -> B; C")
    harness.take("C", 2)
    harness.run_node("A", 1, value=1)
    harness.tell(inputs.NodesSteered(1, C.RERUN, [0], "ann"))
    (record,) = harness.echo(harness.last)
    harness.tell(make.terminated(2))
    assert not harness.asked(do.Exit)
    harness.tell(record)
    assert harness.submits() == ["A"]


def test_a_request_in_parts_is_answered_once() -> None:
    harness = steered("A B C")
    harness.tell(inputs.NodesSteered(5, C.SKIP, [1], "ann", last=False))
    harness.read_back()
    assert not harness.ever(do.Steered)
    harness.tell(inputs.NodesSteered(5, C.SKIP, [2, 0], "ann"))
    harness.read_back()
    (answer,) = harness.ever(do.Steered)
    assert (answer.done, [node for node, _ in answer.refused]) == (2, [0])


def test_the_same_twice_before_the_first_is_in_force() -> None:
    harness = steered("A -> B; C")
    harness.take("C", 1)
    harness.tell(
        inputs.NodesSteered(1, C.SKIP, [1], "ann"), inputs.NodesSteered(2, C.CANCEL, [1], "bob")
    )
    harness.read_back()
    first, second = harness.ever(do.Steered)
    assert (first.done, second.done) == (1, 0)
    assert second.refused == ((1, "it is done"),)


def test_a_record_that_is_lost_is_written_again() -> None:
    harness = steered("A; C")
    harness.take("C", 1)
    harness.tell(inputs.NodesSteered(1, C.HOLD, [1], "ann"))
    harness.tell(inputs.NodesSteered(2, C.CANCEL, [1], "ann"))
    harness.wait(61)
    (record,) = harness.asked(do.AppendJournalRecord)
    assert record.record is JournalRecord.STEERED
    harness.read_back()
    assert harness.asked(do.RemoveJobs) or harness.ever(do.RemoveJobs)


def test_what_dagman_needs_is_not_steered() -> None:
    harness = steered("A; F; S", kinds={"F": NodeKind.FINAL, "S": NodeKind.SERVICE})
    assert harness.refusal(C.CANCEL, "F") == "it is the FINAL node"
    assert harness.refusal(C.SKIP, "S") == "it is a SERVICE node"


def test_a_dag_that_ends_obeys_no_more() -> None:
    harness = steered("A; F", kinds={"F": NodeKind.FINAL})
    harness.run_node("A", 1)
    assert harness.refusal(C.RERUN, "A") == "the DAG is ending"


def test_a_command_of_a_later_version_is_passed_over() -> None:
    harness = steered("A")
    harness.tell(make.record(JournalRecord.STEERED, "A")._replace(text="ann teleport"))
    assert harness.said("of a later version")
