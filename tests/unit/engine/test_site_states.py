"""The table of the moves of groups."""

from __future__ import annotations

from condor_pydagman.engine.site_states import (
    CLAIMING,
    GROUP_MOVES,
    UNDER_WAY,
    GroupCause,
    GroupState,
)


def test_every_state_is_reached_and_every_cause_is_used() -> None:
    assert set(GROUP_MOVES.values()) == set(GroupState)
    assert {cause for _, cause in GROUP_MOVES} == set(GroupCause)


def test_a_claim_is_made_before_a_match_and_ends_with_the_last_node() -> None:
    for (old, cause), new in GROUP_MOVES.items():
        if new in CLAIMING and old not in CLAIMING:
            assert cause in (GroupCause.SITE_CLAIMED, GroupCause.MATCH_READ, GroupCause.TAKEN_BACK)
        if old in CLAIMING and new not in CLAIMING:
            assert cause in (GroupCause.FREE_AGAIN, GroupCause.NODES_ENDED)


def test_a_group_that_is_under_way_has_a_way_out() -> None:
    for state in UNDER_WAY:
        assert any(old == state for old, _ in GROUP_MOVES)
