"""What the edges add to the states of nodes."""

from __future__ import annotations

import pytest

from condor_pydagman.diagnosis.graph_state import GraphState
from condor_pydagman.trace.run_history import ReachedEnough
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.diagnosis import attempt, facts_of

CHAIN = "JOB A a.sub\nJOB B b.sub\nJOB C c.sub\nJOB D d.sub\nPARENT A CHILD B\nPARENT B CHILD C\n"
PRODUCT = "".join(f"JOB {name} a.sub\n" for name in "ABCD") + "PARENT A B CHILD C D\n"
WEAK = "JOB A a.sub\nJOB B b.sub\nWEAK PARENT A CHILD B\n"


def state_of(text: str, **states: NodeStatus) -> GraphState:
    known = {name: (status, [attempt(value=0)]) for name, status in states.items()}
    facts = facts_of(text, known)
    assert facts.dag is not None
    return GraphState(facts.dag, facts.run)


def letters(state: GraphState) -> str:
    """The states of A, B, ..., a letter each."""
    return "".join(status.name[0] if status.name != "READY" else "r" for status in state.status)


@pytest.mark.parametrize(
    ("text", "states", "expected"),
    [
        (CHAIN, {}, "rNNr"),
        (CHAIN, {"A": NodeStatus.DONE}, "DrNr"),
        (CHAIN, {"A": NodeStatus.SUBMITTED}, "SNNr"),
        (CHAIN, {"A": NodeStatus.ERROR}, "EFFr"),
        (PRODUCT, {"A": NodeStatus.DONE}, "DrNN"),
        (PRODUCT, {"A": NodeStatus.DONE, "B": NodeStatus.DONE}, "DDrr"),
        (PRODUCT, {"A": NodeStatus.DONE, "B": NodeStatus.ERROR}, "DEFF"),
        ("JOB A a.sub\nFINAL F f.sub\n", {}, "rN"),
    ],
)
def test_ready_and_futile(text: str, states: dict[str, NodeStatus], expected: str) -> None:
    assert letters(state_of(text, **states)) == expected


def test_a_weak_child_becomes_ready_after_a_failure() -> None:
    assert letters(state_of(WEAK, A=NodeStatus.ERROR)) == "Er"
    assert state_of(WEAK, A=NodeStatus.SUBMITTED).unmet(1) == [0]


def test_each_futile_node_counts_for_one_failed_node() -> None:
    state = state_of(PRODUCT, A=NodeStatus.ERROR, B=NodeStatus.ERROR)
    assert sorted(state.futile.values()) == [0, 2]


def test_blockers_are_the_ends_of_chains_upwards() -> None:
    state = state_of(CHAIN, A=NodeStatus.SUBMITTED)
    assert state.blockers(2) == [[2, 1, 0]]
    assert state_of(PRODUCT, A=NodeStatus.DONE).blockers(3) == [[3, 1]]
    assert state.blockers(3) == [[3]]


MERGED = (
    "".join(f"JOB {name} a.sub\n" for name in "ABCDE")
    + "PARENT A B C CHILD D\nPARENT D CHILD E\nENOUGH PARENTS D 2\n"
)


def test_a_node_of_whose_parents_enough_are_done() -> None:
    known = {name: (NodeStatus.DONE, [attempt(value=0)]) for name in "AB"}
    facts = facts_of(MERGED, known)
    assert facts.dag is not None
    assert letters(GraphState(facts.dag, facts.run)) == "DDrNN"
    facts.run.enough["ENOUGH PARENTS D 2"] = ReachedEnough("2 of 3 nodes are done", 5.0)
    state = GraphState(facts.dag, facts.run)
    assert letters(state) == "DDrrN"
    assert (state.enough.done, state.enough.spare) == ([2], [0])


def test_a_node_of_whose_parents_enough_can_not_be_done() -> None:
    state = state_of(MERGED, A=NodeStatus.ERROR, B=NodeStatus.ERROR)
    assert letters(state) == "EErFF"
    assert sorted(state.futile.values()) == [0, 2]
    assert [state.is_hopeless(node) for node in range(5)] == [False, False, False, True, False]
    assert state.blockers(4) == [[4, 3]], "what its other parent does makes no difference"


def test_nodes_that_are_not_needed() -> None:
    facts = facts_of(MERGED, {"A": (NodeStatus.ERROR, []), "B": (NodeStatus.DONE, [])})
    assert facts.dag is not None
    node = facts.run.nodes["B"]
    node.skipped, node.why = True, "ENOUGH CATEGORY c 1; it had failed: exit code 1"
    assert node.unneeded_by == "ENOUGH CATEGORY c 1"
    state = GraphState(facts.dag, facts.run)
    assert (letters(state), state.is_unneeded(1)) == ("EDrFF", True)
    assert (state.enough.spare, state.enough.lost, state.enough.left(0)) == ([1], [1], 1)
