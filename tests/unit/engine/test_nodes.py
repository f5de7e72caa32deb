"""States of all nodes: legal moves, counts, the countdown of parents, and what a failure dooms."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from condor_pydagman.engine.inputs import ScriptEnded
from condor_pydagman.engine.node_states import ENDED, IN_QUEUE, PUBLISHED, TABLE, Cause, State
from condor_pydagman.engine.nodes import MAX_REMEMBERED_MOVES, IllegalMove, Nodes
from condor_pydagman.vocabulary import NodeStatus, ScriptKind
from tests import make


def names(nodes: Nodes, ids: list[int]) -> list[str]:
    return [nodes.dag.names[node] for node in ids]


@pytest.mark.parametrize("cause", [Cause.MARKED_DONE, Cause.FAILED, Cause.NEEDS_SUBMIT])
def test_what_waits_for_a_node_that_is_not_futile_is_not_so_either(cause: Cause) -> None:
    nodes = Nodes(make.dag("A -> X -> Y -> Z; A B -> X W"))
    nodes.move(nodes.dag.ids["X"], cause, 0.0)
    assert nodes.mark_futile(nodes.dag.ids["A"], 0.0) == 1
    assert names(nodes, list(nodes.in_state(State.FUTILE))) == ["W"]


def test_the_move_history_is_bounded_and_of_one_node() -> None:
    nodes = Nodes(make.dag("A B"))
    assert nodes.move_history(0) == "node A: no moves yet"
    nodes.move(0, Cause.NEEDS_PRE, 1.0)
    assert nodes.move_history(0) == "node A: 1.000 WAITING + NEEDS_PRE"
    for _ in range(MAX_REMEMBERED_MOVES):
        nodes.move(0, Cause.NEEDS_PRE, 2.0)
    assert "WAITING" not in nodes.move_history(0)
    assert nodes.move_history(1) == "node B: no moves yet"


def test_in_state_goes_in_dag_order() -> None:
    nodes = Nodes(make.dag("A B C"))
    nodes.move(2, Cause.NEEDS_SUBMIT, 0.0)
    nodes.move(0, Cause.NEEDS_SUBMIT, 0.0)
    assert list(nodes.in_state(State.READY, State.DONE)) == [0, 2]
    assert nodes.changes == 2


# Work and memory, counted.


def visits(nodes: Nodes) -> list[int]:
    """Vertices whose successors are asked for from now on."""
    asked: list[int] = []
    really = nodes.dag.successors

    def successors(vertex: int) -> Sequence[int]:
        asked.append(vertex)
        return really(vertex)

    nodes.dag.successors = successors  # type: ignore[method-assign]
    return asked


def test_what_lies_below_a_junction_is_marked_futile_once() -> None:
    many = 30
    left = " ".join(f"a{number}" for number in range(many))
    right = " ".join(f"b{number}" for number in range(many))
    nodes = Nodes(make.dag(f"{left} -> {right}; {right} -> Z"))
    asked = visits(nodes)
    for node in range(many):
        assert nodes.mark_futile(node, 0.0) == (many + 1 if node == 0 else 0)
    # each parent itself; the junction, all children and Z once
    assert len(asked) == many + 1 + many + 1


def test_a_weak_edge_to_a_junction_does_not_make_it_futile() -> None:
    nodes = Nodes(make.dag("A B ~> C D; A X -> C E"))
    assert nodes.mark_futile(nodes.dag.ids["B"], 0.0) == 0
    assert nodes.mark_futile(nodes.dag.ids["A"], 0.0) == 2
    assert names(nodes, list(nodes.in_state(State.FUTILE))) == ["C", "E"]


def test_most_nodes_return_0_and_need_no_entry_for_it() -> None:
    nodes = Nodes(make.dag("A B"))
    nodes.returned(0, 0)
    assert nodes.values == {}
    nodes.returned(0, 3)
    assert nodes.values == {0: 3}
    nodes.returned(0, 0)
    assert nodes.values == {}


def test_nothing_is_kept_of_nodes_that_are_done() -> None:
    harness = make.harness_of("""
        A; B; C; D; E
        JOB B n.sub NOOP
        SCRIPT PRE C p
        SCRIPT POST D q
        PRE_SKIP C 4
    """)
    harness.tell(ScriptEnded(2, ScriptKind.PRE, 4))
    harness.run_node("A", 5)
    harness.run_node("D", 6, value=7)
    harness.tell(*harness.echo(harness.all))
    harness.post_ends("D")
    assert harness.states() == "A=DONE B=DONE C=DONE D=DONE E=SUBMITTING"
    for engine in (harness.engine, harness.same_replay().engine):
        assert engine.run.nodes.values == {}
        assert engine.run.noop_ids.nodes == {}
        assert engine.run.job_table.by_node == {}


# The table of moves: what is in it, and that nothing else is legal.


# How to bring a fresh node into each state by legal moves.
PATHS: dict[State, list[Cause]] = {State.WAITING: []}


def find_paths() -> None:
    todo = [State.WAITING]
    while todo:
        state = todo.pop(0)
        for (old, cause), new in TABLE.items():
            if old == state and new not in PATHS:
                PATHS[new] = [*PATHS[old], cause]
                todo.append(new)


find_paths()


def test_every_state_can_be_reached() -> None:
    assert set(PATHS) == set(State)


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("cause", Cause)
def test_a_move_is_in_the_table_or_raises_with_the_moves_before(state: State, cause: Cause) -> None:
    nodes = Nodes(make.dag("A"))
    for step in PATHS[state]:
        nodes.move(0, step, 5.0)
    assert nodes.states[0] == state
    if (state, cause) in TABLE:
        nodes.move(0, cause, 6.0)
        assert nodes.states[0] == TABLE[state, cause]
        return
    with pytest.raises(IllegalMove, match=rf"^{state.name} \+ {cause.name}: node A: "):
        nodes.move(0, cause, 6.0)
    assert nodes.states[0] == state
    assert sum(nodes.counts) == 1


def test_only_a_person_brings_a_node_out_of_an_end() -> None:
    commands = {Cause.RUN_AGAIN, Cause.MARKED_DONE, Cause.FREED}
    left = {cause for old, cause in TABLE if old in ENDED}
    assert left == {*commands, Cause.NOT_NEEDED}  # or an ENOUGH that is reached


def test_every_state_can_be_left() -> None:
    assert {old for old, _ in TABLE} == set(State)


def test_every_state_has_a_published_name() -> None:
    assert set(PUBLISHED) == set(State)
    assert set(PUBLISHED.values()) == set(NodeStatus)


def test_in_queue_is_what_the_schedd_may_have() -> None:
    assert frozenset((State.SUBMITTING, State.UNKNOWN, State.SUBMITTED)) == IN_QUEUE
