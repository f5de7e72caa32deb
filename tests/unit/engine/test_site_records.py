"""What is known of groups: kinds of policies, claims, and illegal moves."""

from __future__ import annotations

import pytest

from condor_pydagman.engine.site_records import IllegalGroupMove, SiteMatching
from condor_pydagman.engine.site_states import GroupCause, GroupState
from condor_pydagman.sites.policy import SitePolicy
from tests import make


def two() -> SiteMatching:
    of = make.dag("A -> B; C; D", groups={"g": "A B", "h": "C"}, policies={"h": SitePolicy(wait=1)})
    return SiteMatching(of)


def test_a_dag_without_groups() -> None:
    sites = SiteMatching(make.dag("A"))
    assert not sites
    assert not sites.under_way
    assert not sites.holds_back(0)
    assert sites.site(0) == ("", "")
    assert sites.in_state(*GroupState) == []


def test_groups_with_the_same_policy_are_of_a_kind() -> None:
    assert list(two().kinds) == [0, 1]
    of = make.dag("A; B", groups={"g": "A", "h": "B"})
    assert list(SiteMatching(of).kinds) == [0, 0]


def test_an_illegal_move_is_refused_with_the_name_of_the_group() -> None:
    with pytest.raises(IllegalGroupMove, match="group h: UNMATCHED \\+ NODES_ENDED"):
        two().move(1, GroupCause.NODES_ENDED)


def test_nodes_are_held_back_until_their_group_has_a_site() -> None:
    sites = two()
    assert [sites.holds_back(node) for node in range(4)] == [True, True, True, False]
    sites.node_could_start(0, 5.0)
    assert sites.waiting == [{0: 5.0}, {}]
    sites.claim(0, "s")
    assert sites.claims == {0: "s"}
    assert sites.holds_back(1)
    sites.move(0, GroupCause.MATCH_READ)
    assert not sites.holds_back(1)


def test_ads_that_vanish_and_come_back() -> None:
    sites = two()
    sites.node_could_start(0, 1.0)
    sites.claim(0, "s")
    assert sites.note_ads(frozenset("t"), 10.0) == ["s"]
    assert sites.note_ads(frozenset("t"), 20.0) == []
    assert sites.missing == {"s": 10.0}
    assert sites.note_ads(frozenset("st"), 30.0) == []
    assert sites.missing == {}
