"""SITE_GROUP: what rescue files and pieces have to do with sites, what is known of groups, and the
table of their moves.  When they get sites is in `matching.scene`."""

from __future__ import annotations

import pytest

from condor_pydagman.features.sites.groups import IllegalGroupMove
from condor_pydagman.features.sites.run import Sites
from condor_pydagman.features.sites.states import (
    CLAIMING,
    GROUP_MOVES,
    UNDER_WAY,
    GroupCause,
    GroupState,
)
from tests import make
from tests.features.sites.matched import placed

UNIT = "A -> B -> C"


def test_groups_of_which_nodes_are_done_keep_their_sites_in_a_rescue_dag() -> None:
    harness = placed(UNIT + "; D\nSITE_GROUP g NODES A B C\nSITE_GROUP h NODES D", "s:9")
    assert harness.engine.rescue_lines() == ()
    harness.run_node("A", 1)
    assert harness.engine.rescue_lines() == ("SITE_MATCHED g s 1",)


# What is known of groups: kinds of policies, claims, and illegal moves.


def sites_of(text: str) -> Sites:
    return Sites(make.EngineHarness(text).engine.run)


def two() -> Sites:
    return sites_of("""
        A -> B; C; D
        SITE_GROUP g NODES A B
        SITE_GROUP h NODES C
        SITE_POLICY h WAIT 1
    """)


def test_a_dag_without_groups() -> None:
    harness = make.EngineHarness("A")
    assert "sites" not in harness.engine.run.features
    sites = Sites(harness.engine.run)  # when a person asks for another site
    assert not sites.under_way(halted=False)
    assert not sites.is_closed_to(0)
    assert sites.site(0) == ("", "")
    assert sites.in_state(*GroupState) == []


def test_groups_with_the_same_policy_are_of_a_kind() -> None:
    assert list(two().kinds) == [0, 1]
    assert list(sites_of("A; B\nSITE_GROUP g NODES A\nSITE_GROUP h NODES B").kinds) == [0, 0]


def test_an_illegal_move_is_refused_with_the_name_of_the_group() -> None:
    with pytest.raises(IllegalGroupMove, match="group h: UNMATCHED \\+ NODES_ENDED"):
        two().move(1, GroupCause.NODES_ENDED)


def test_nodes_are_held_back_until_their_group_has_a_site() -> None:
    sites = two()
    assert [sites.is_closed_to(node) for node in range(4)] == [True, True, True, False]
    sites.node_could_start(0, 5.0)
    assert sites.waiting == [{0: 5.0}, {}]
    sites.run.now = 7.0
    sites.is_new_reason(0, "all sites are full")
    told = [(group.since, group.reason, group.found) for group in sites.group_reports()]
    assert told == [(5.0, "all sites are full", 7.0), (0.0, "", 0.0)]
    sites.claim(0, "s")
    assert sites.claims == {0: "s"}
    assert sites.is_closed_to(1)
    sites.move(0, GroupCause.MATCH_READ)
    assert not sites.is_closed_to(1)


def test_ads_that_vanish_and_come_back() -> None:
    sites = two()
    sites.node_could_start(0, 1.0)
    sites.claim(0, "s")
    assert sites.note_ads(frozenset("t"), 10.0) == ["s"]
    assert sites.note_ads(frozenset("t"), 20.0) == []
    assert sites.missing == {"s": 10.0}
    assert sites.note_ads(frozenset("st"), 30.0) == []
    assert sites.missing == {}


# The table of the moves of groups.


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
