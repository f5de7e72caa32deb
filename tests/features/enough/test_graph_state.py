"""Where nodes stand that wait for a part of their parents."""

from __future__ import annotations

from condor_pydagman.explain.graph_state import GraphState
from condor_pydagman.features.enough.explain import counts_of
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.explain import facts_of
from tests.unit.explain.test_graph_state import letters, state_of

MERGED = (
    "".join(f"JOB {name} a.sub\n" for name in "ABCDE")
    + "PARENT A B C CHILD D\nPARENT D CHILD E\nENOUGH PARENTS D 2\n"
)


def test_a_node_of_whose_parents_enough_are_done() -> None:
    state = state_of(MERGED, A=NodeStatus.DONE, B=NodeStatus.DONE)
    assert letters(state) == "DDrNN", "a record says that it is reached"
    assert (counts_of(state).done, counts_of(state).surplus) == ([2], [0])


def test_a_node_of_whose_parents_enough_can_not_be_done() -> None:
    state = state_of(MERGED, A=NodeStatus.ERROR, B=NodeStatus.ERROR)
    assert letters(state) == "EErFF"
    assert sorted(state.futile.values()) == [0, 2]
    assert list(state.unreachable) == [3]
    assert state.blockers(4) == [[4, 3]], "what its other parent does makes no difference"


def test_nodes_that_are_not_needed() -> None:
    facts = facts_of(f"{MERGED}NOT_NEEDED B\n", {"A": (NodeStatus.ERROR, [])})
    assert facts.dag is not None
    node = facts.run.nodes["B"]
    node.why = "ENOUGH CATEGORY c 1; it had failed: exit code 1"
    assert node.unneeded_by == "ENOUGH CATEGORY c 1"
    state = GraphState(facts.dag, facts.run)
    assert (letters(state), state.is_unneeded(1)) == ("EDrFF", True)
    counts = counts_of(state)
    assert (counts.surplus, counts.lost, counts.left(0)) == ([1], [1], 1)
