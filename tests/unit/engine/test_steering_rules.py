"""What may be asked of a node in which state, and the text of a record."""

from __future__ import annotations

import itertools

import pytest

from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.steering_rules import Words, obstacle, read_text, record_text, shown
from condor_pydagman.vocabulary import NodeCommand

C, S = NodeCommand, State
BUSY = {S.PRE_RUN, S.PRE_UNCONFIRMED, S.SUBMITTING, S.UNKNOWN, S.SUBMIT_UNCONFIRMED, S.SUBMITTED}
BUSY |= {S.POST_WAIT, S.POST_RUN, S.POST_UNCONFIRMED, S.RESULT, S.GROWING}
WAITS = {S.WAITING, S.PRE_WAIT, S.READY, S.RETRY_WAIT}
ALLOWED = {
    (C.CANCEL, ""): BUSY | WAITS,
    (C.CANCEL, "retry"): {S.SUBMITTED},
    (C.HOLD, ""): {S.SUBMITTED},
    (C.RELEASE, ""): {S.SUBMITTED},
    (C.RERUN, ""): {S.DONE, S.FAILED},
    (C.DONE, ""): WAITS | {S.FAILED},
    (C.SKIP, ""): WAITS,
    (C.REMATCH, ""): set(State),  # its group's state counts
    (C.SET, '{"priority":1}'): WAITS | {S.DONE, S.FAILED, S.FUTILE},
}


def test_every_command_is_in_the_table() -> None:
    assert {command for command, _ in ALLOWED} == set(NodeCommand)


@pytest.mark.parametrize(("asked", "state"), list(itertools.product(ALLOWED, State)))
def test_commands_and_states(asked: tuple[NodeCommand, str], state: State) -> None:
    why = obstacle(asked[0], state, asked[1])
    assert bool(why) == (state not in ALLOWED[asked]), why
    assert (
        not why or shown(state) in why or "already" in why or "ancestor" in why or "it has" in why
    )


@pytest.mark.parametrize("words", [Words("ann", C.CANCEL, "retry begun"), Words("b@c", C.SKIP)])
def test_a_text_is_read_back(words: Words) -> None:
    assert read_text(record_text(words)) == words


@pytest.mark.parametrize("text", ["", "ann", "ann teleport", "cancel"])
def test_other_texts_are_not_known(text: str) -> None:
    assert read_text(text) is None
