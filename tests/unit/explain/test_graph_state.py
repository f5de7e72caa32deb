"""What the edges add to the states of nodes."""

from __future__ import annotations

import pytest

from condor_pydagman.explain.graph_state import GraphState
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.explain import attempt, facts_of

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


def test_nodes_behind_one_that_is_done_count_for_the_one_that_failed_before_them() -> None:
    text = CHAIN.replace("JOB B b.sub", "JOB B b.sub DONE") + "PARENT D CHILD C\n"
    state = state_of(text, A=NodeStatus.ERROR)
    assert (letters(state), state.futile) == ("EDNr", {0: 0})
    state = state_of(text, A=NodeStatus.ERROR, D=NodeStatus.ERROR)
    assert (letters(state), state.futile) == ("EDFE", {0: 0, 3: 1})


def test_blockers_are_the_ends_of_chains_upwards() -> None:
    state = state_of(CHAIN, A=NodeStatus.SUBMITTED)
    assert state.blockers(2) == [[2, 1, 0]]
    assert state_of(PRODUCT, A=NodeStatus.DONE).blockers(3) == [[3, 1]]
    assert state.blockers(3) == [[3]]
