"""The table of moves: what is in it, and that nothing else is legal."""

from __future__ import annotations

import pytest

from condor_pydagman.engine.node_states import ENDED, IN_QUEUE, PUBLISHED, TABLE, Cause, State
from condor_pydagman.engine.nodes import IllegalMove, Nodes
from condor_pydagman.vocabulary import NodeStatus
from tests import make

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
