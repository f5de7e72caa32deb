"""Nodes that have ended run anew: what is taken back, and what is in the way."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs, rerun
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.state import RunState
from condor_pydagman.vocabulary import DagStatus, NodeCommand, NodeKind
from tests import make
from tests.unit.engine.steered import steered

C = NodeCommand


def test_a_failed_node_runs_again_and_what_was_futile_waits() -> None:
    harness = steered("A -> B -> C; D")
    harness.take("D", 9)
    harness.run_node("A", 1, value=1)
    assert harness.states() == "A=FAILED B=FUTILE C=FUTILE D=SUBMITTED"
    assert harness.engine.report().dag_status is DagStatus.NODE_FAILED
    harness.ask(C.RERUN, "A")
    assert harness.submits() == ["A"]
    assert harness.engine.report().dag_status is DagStatus.OK
    assert harness.replayed() == "A=READY B=WAITING C=WAITING D=SUBMITTED"
    harness.run_node("A", 2)
    harness.run_node("B", 3)
    harness.run_node("C", 4)
    assert harness.states() == "A=DONE B=DONE C=DONE D=SUBMITTED"
    assert harness.replayed() == harness.states()
    harness.tell(make.terminated(9))
    assert harness.asked(do.Exit)[0].code == 0


def test_it_has_its_retries_once_more_and_another_number() -> None:
    harness = steered("A; D", retries={"A": 1})
    harness.take("D", 9)
    harness.run_node("A", 1, value=1)
    harness.run_node("A", 2, value=1)
    harness.ask(C.RERUN, "A")
    assert [action.retry for action in harness.asked(do.SubmitNode)] == [2]
    harness.run_node("A", 3, value=1)
    assert [action.retry for action in harness.asked(do.SubmitNode)] == [3]
    harness.run_node("A", 4, value=1)
    assert harness.state("A") is State.FAILED
    assert harness.replayed() == harness.states()


def test_what_another_failure_made_futile_stays_so() -> None:
    harness = steered("A -> C; B -> C -> E; A -> F; D")
    harness.take("D", 9)
    harness.run_node("A", 1, value=1)
    harness.run_node("B", 2, value=1)
    harness.ask(C.RERUN, "A")
    assert "C=FUTILE" in harness.states()
    assert "E=FUTILE" in harness.states()
    assert "F=WAITING" in harness.states()


def test_a_done_node_runs_again_before_its_children_have_begun() -> None:
    harness = steered("A -> C; B -> C")
    harness.take("B", 2)
    harness.run_node("A", 1)
    harness.ask(C.RERUN, "A")
    harness.tell(make.terminated(2))
    assert harness.states() == "A=SUBMITTING C=WAITING B=DONE"
    harness.run_node("A", 3)
    assert harness.submits() == ["C"]
    assert harness.replayed() == "A=DONE C=READY B=DONE"


def test_a_ready_child_waits_again() -> None:
    harness = steered("A -> C; B", pre={"C": "x"})
    harness.take("B", 9)
    harness.tell(inputs.Halt())
    harness.run_node("A", 1)
    assert harness.state("C") is State.PRE_WAIT
    harness.ask(C.RERUN, "A")
    assert "C=WAITING" in harness.states()
    harness.tell(inputs.Resume())
    assert harness.submits() == ["A"]
    assert not harness.ever(do.RunScript)


def test_descendants_run_anew_as_well_or_the_node_does_not() -> None:
    harness = steered("A -> B C; B C -> D; E")
    harness.take("E", 9)
    for number, name in enumerate("ABCD", 1):
        harness.run_node(name, number, value=name == "D")
    why = harness.refusal(C.RERUN, "A")
    assert why == "its child B has begun; it would have to run anew, too"
    assert harness.ask(C.RERUN, "A", "descendants").done == 1
    assert harness.states() == "A=SUBMITTING B=WAITING C=WAITING D=WAITING E=SUBMITTED"
    assert "B=WAITING C=WAITING D=WAITING" in harness.replayed()
    for number, name in enumerate("ABCD", 11):
        harness.run_node(name, number)
    harness.tell(make.terminated(9))
    assert harness.asked(do.Exit)[0].code == 0


def test_a_descendant_that_runs_is_in_the_way() -> None:
    harness = steered("A -> B")
    harness.run_node("A", 1)
    harness.take("B", 2)
    why = harness.refusal(C.RERUN, "A", "descendants")
    assert why == "its descendant B has not ended: its jobs are in the queue"
    assert harness.refusal(C.RERUN, "B") == "it has not ended: its jobs are in the queue"


def test_weak_children_are_released_once() -> None:
    harness = steered("A ~> B; A -> C; D")
    harness.take("D", 2)
    harness.run_node("A", 1, value=1)
    assert "B=SUBMITTING" in harness.states()
    assert "its child B has begun" in harness.refusal(C.RERUN, "A")
    harness.ask(C.DONE, "A")
    assert "C=READY" in harness.states() or "C=SUBMITTING" in harness.states()
    assert "A=DONE" in harness.replayed()


def test_the_final_node_does_not_begin_with_a_rerun() -> None:
    harness = steered("A -> B; C; F", kinds={"F": NodeKind.FINAL})
    harness.take("C", 2)
    harness.run_node("A", 1, value=1)
    harness.ask(C.RERUN, "A")
    assert harness.submits() == ["A"]
    assert harness.state("F") is State.WAITING


def test_a_pre_script_of_a_child_runs_again() -> None:
    """It has seen what is to be made anew; its record is of another run then."""
    harness = steered("A -> C; B", pre={"C": "x"})
    harness.take("B", 9)
    harness.run_node("A", 1)
    harness.tell(inputs.Halt())
    harness.pre_ends("C")
    assert harness.state("C") is State.READY
    harness.ask(C.RERUN, "A")
    harness.tell(inputs.Resume())
    harness.run_node("A", 2)
    assert [action.node for action in harness.asked(do.RunScript)] == [harness.dag.ids["C"]]
    harness.pre_ends("C")
    assert [action.retry for action in harness.asked(do.SubmitNode)] == [1]
    harness.replayed()


def test_a_child_that_waits_for_its_retry_waits_for_its_parent() -> None:
    retry = make.Retry(3, delay=60)
    harness = steered("A -> C; B", retries={"C": retry})
    harness.take("B", 9)
    harness.run_node("A", 1)
    harness.run_node("C", 2, value=1)
    assert harness.state("C") is State.RETRY_WAIT
    harness.ask(C.RERUN, "A")
    assert harness.state("C") is State.WAITING
    harness.run_node("A", 3)
    assert harness.submits() == ["C"]


@pytest.mark.parametrize("names", ["A B", "B A"])
def test_a_node_and_what_depends_on_it_are_named_together(names: str) -> None:
    harness = steered("A -> B; D")
    harness.take("D", 9)
    harness.run_node("A", 1)
    harness.run_node("B", 2)
    answer = harness.ask(C.RERUN, names, "descendants")
    assert (answer.done, answer.refused) == (2, ())
    assert harness.replayed() == "A=READY B=WAITING D=SUBMITTED"


@pytest.mark.parametrize("end", ["", "the last has not ended"])
def test_of_many_nodes_each_is_looked_at_once(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain of 2,000 would take seconds, in which nothing else is done."""
    length = 50
    harness = steered(" -> ".join(f"N{number}" for number in range(length)) + "; D")
    harness.take("D", 99)
    for number in range(length - 1):
        harness.run_node(f"N{number}", number + 1)
    if end:
        harness.take(f"N{length - 1}", length)
    else:
        harness.run_node(f"N{length - 1}", length)
    looks: list[int] = []
    released = rerun._released

    def counted(run: RunState, node: int) -> Iterable[int]:
        looks.append(node)
        return released(run, node)

    monkeypatch.setattr(rerun, "_released", counted)
    wanted = inputs.NodesSteered(0, C.RERUN, range(length - 1), "ann", "descendants")
    refused = harness.engine.refused(wanted)
    assert len(looks) <= 2 * length
    assert len(refused) == (length - 1 if end else 0)
    assert all(f"its descendant N{length - 1} has not ended" in why for _, why in refused)
