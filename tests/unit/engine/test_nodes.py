"""States of all nodes: counts, the countdown of parents, and what a failure dooms."""

from __future__ import annotations

from condor_pydagman.engine.node_states import Cause, State
from condor_pydagman.engine.nodes import STORY_MOVES, Nodes
from tests import make


def names(nodes: Nodes, ids: list[int]) -> list[str]:
    return [nodes.dag.names[node] for node in ids]


def test_roots_wait_for_nobody() -> None:
    nodes = Nodes(make.dag("A -> B; C"))
    assert names(nodes, nodes.roots()) == ["A", "C"]


def test_a_child_is_released_by_its_last_parent() -> None:
    nodes = Nodes(make.dag("A -> C; B -> C D"))
    assert names(nodes, nodes.release_children(0)) == []
    assert sorted(names(nodes, nodes.release_children(nodes.dag.ids["B"]))) == ["C", "D"]


def test_a_junction_passes_the_word_on() -> None:
    nodes = Nodes(make.dag("A B -> C D"))
    assert nodes.dag.vertex_count == 5
    assert nodes.release_children(0) == []
    assert sorted(names(nodes, nodes.release_children(1))) == ["C", "D"]


def test_a_parent_named_twice_counts_once() -> None:
    nodes = Nodes(make.dag("A -> B; A -> B"))
    assert names(nodes, nodes.release_children(0)) == ["B"]


def test_a_failure_dooms_all_below_it_but_not_what_is_done() -> None:
    nodes = Nodes(make.dag("A -> B -> C -> D; X -> D"))
    nodes.move(2, Cause.MARKED_DONE, 0.0)
    assert nodes.doom_descendants(0, 0.0) == 2
    assert [State(state).name for state in nodes.states] == [
        "WAITING",
        "FUTILE",
        "DONE",
        "FUTILE",
        "WAITING",
    ]
    assert nodes.doom_descendants(0, 0.0) == 0
    assert nodes.counts[State.FUTILE] == 2


def test_doom_goes_through_junctions() -> None:
    nodes = Nodes(make.dag("A B -> C D"))
    assert nodes.doom_descendants(0, 0.0) == 2


def test_the_story_is_bounded_and_of_one_node() -> None:
    nodes = Nodes(make.dag("A B"))
    assert nodes.story(0) == "node A: no moves yet"
    nodes.move(0, Cause.NEEDS_PRE, 1.0)
    assert nodes.story(0) == "node A: 1.000 WAITING + NEEDS_PRE"
    for _ in range(STORY_MOVES):
        nodes.move(0, Cause.NEEDS_PRE, 2.0)
    assert "WAITING" not in nodes.story(0)
    assert nodes.story(1) == "node B: no moves yet"


def test_in_state_goes_in_dag_order() -> None:
    nodes = Nodes(make.dag("A B C"))
    nodes.move(2, Cause.NEEDS_SUBMIT, 0.0)
    nodes.move(0, Cause.NEEDS_SUBMIT, 0.0)
    assert list(nodes.in_state(State.READY, State.DONE)) == [0, 2]
    assert nodes.changes == 2
