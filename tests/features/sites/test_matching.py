"""SITE_GROUP: groups of nodes get sites, when, in which order, and what is known of them."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.node_states import State
from condor_pydagman.features.sites.commands import GroupsOfDag
from condor_pydagman.features.sites.groups import IllegalGroupMove
from condor_pydagman.features.sites.messages import (
    MatchSites,
    PlaceFree,
    SiteClaim,
    SitesMatched,
    SitesUnknown,
)
from condor_pydagman.features.sites.run import Sites
from condor_pydagman.features.sites.states import (
    CLAIMING,
    GROUP_MOVES,
    UNDER_WAY,
    GroupCause,
    GroupState,
)
from tests import make
from tests.features.growth.test_growth import growing, piece_of
from tests.features.sites.matched import matched, placed

UNIT = "A -> B -> C"


def test_a_group_is_matched_when_its_first_node_could_start() -> None:
    harness = matched("Z -> A; A -> B -> C\nSITE_GROUP g NODES A B C")
    assert harness.submits() == ["Z"]
    assert not harness.ever(MatchSites)
    harness.run_node("Z", 1)
    assert harness.groups() == "g=WAITING"
    assert harness.asked(MatchSites)[0].wanted[0].group == 0
    assert harness.submits() == []
    harness.answer()
    assert harness.groups() == "g=MATCHED@s"
    assert harness.submits() == ["A"]
    (submit,) = harness.asked(do.SubmitNode)
    assert (submit.site, submit.site_ad) == ("s", "ad-s")


def test_nothing_starts_before_the_match_is_in_the_log() -> None:
    harness = matched(UNIT + "\nSITE_GROUP g NODES A B C")
    claim = SiteClaim(0, "s", "x")
    harness.tell(SitesMatched([claim], ["s"]))
    assert harness.groups() == "g=CLAIMED@s"
    assert harness.submits() == []
    harness.back()
    assert harness.submits() == ["A"]


def test_all_nodes_run_at_the_site_and_the_claim_is_given_up() -> None:
    harness = matched("A -> B -> C; D\nSCRIPT PRE B x\nSITE_GROUP g NODES A B C")
    harness.take("D", 9)
    harness.answer()
    harness.run_node("A", 1)
    (script,) = harness.asked(do.RunScript)
    assert script.site == "s"
    harness.pre_ends("B")
    harness.run_node("B", 2)
    harness.run_node("C", 3)
    assert harness.groups() == "g=OVER@s"
    (request,) = harness.asked(MatchSites)
    assert request == MatchSites((), ())
    harness.tell(SitesMatched((), ["s"]))
    harness.tell(make.terminated(9))
    assert harness.asked(do.Exit)[0].code == 0


def test_nodes_in_no_group_do_not_wait() -> None:
    harness = matched("A; D\nSITE_GROUP g NODES A")
    assert harness.submits() == ["D"]


def test_groups_wait_their_turn_for_room() -> None:
    harness = placed(
        """
            A; B; C
            SITE_GROUP a NODES A
            SITE_GROUP b NODES B
            SITE_GROUP c NODES C
        """,
        "s:2",
    )
    assert harness.groups() == "a=MATCHED@s b=MATCHED@s c=WAITING"
    assert harness.said("No site yet for group c: all sites are full")
    harness.take("A", 1)
    harness.tell(make.terminated(1))
    assert harness.groups() == "a=OVER@s b=MATCHED@s c=WAITING"
    harness.answer()
    assert harness.groups() == "a=OVER@s b=MATCHED@s c=MATCHED@s"


def test_the_collector_is_asked_at_intervals_while_groups_wait() -> None:
    harness = placed("A\nSITE_GROUP g NODES A", "")
    assert harness.engine.next_deadline() == harness.now + 60
    harness.wait(59)
    assert not harness.asked(MatchSites)
    harness.wait(1)
    assert harness.asked(MatchSites)
    harness.tell(SitesUnknown("no collector"))
    assert harness.said("No site yet for group g: no collector")
    harness.wait(60)
    assert harness.asked(MatchSites)
    assert [say.text for say in harness.ever(do.Say)].count(
        "No site yet for group g: no collector"
    ) == 1


def test_nothing_is_asked_for_when_nothing_waits() -> None:
    harness = placed("A -> B\nSITE_GROUP g NODES A B", "s:9")
    assert harness.engine.next_deadline() is None


def test_a_restart_keeps_sites_and_asks_for_those_that_have_none() -> None:
    harness = placed("A; B\nSITE_GROUP a NODES A\nSITE_GROUP b NODES B", "s:1")
    other = harness.restart()
    (request,) = other.ever(MatchSites)
    assert request.claims == ((0, "s"),)
    assert [one.group for one in request.wanted] == [1]


def test_a_restart_between_claim_and_record_asks_again() -> None:
    harness = matched(UNIT + "\nSITE_GROUP g NODES A B C")
    harness.tell(SitesMatched([SiteClaim(0, "s", "x")], ["s"]))
    other = harness.restart()
    (request,) = other.ever(MatchSites)
    assert request.claims == ()
    assert [one.group for one in request.wanted] == [0]


def test_the_dag_does_not_end_while_a_group_waits() -> None:
    harness = placed("A; B\nSITE_GROUP a NODES A", "")
    harness.run_node("B", 1)
    assert not harness.ever(do.Exit)


def test_a_halted_dag_asks_for_no_sites() -> None:
    harness = matched("B -> A; C\nSITE_GROUP a NODES A")
    harness.take("C", 9)
    harness.take("B", 1)
    harness.tell(inputs.Halt())
    harness.tell(make.terminated(1))
    assert not harness.asked(MatchSites)
    harness.tell(inputs.Resume())
    assert harness.asked(MatchSites)


def test_a_halted_dag_gives_up_what_it_does_not_need_and_its_turn() -> None:
    harness = matched("A; B; C; D\nSITE_GROUP a NODES A\nSITE_GROUP b NODES B", "s:1")
    harness.take("C", 9)
    harness.take("D", 8)
    harness.answer()
    harness.take("A", 1)
    harness.tell(inputs.Halt())
    (request,) = harness.asked(MatchSites)
    assert (request.claims, request.wanted) == (((0, "s"),), ())
    harness.tell(SitesMatched((), ["s"]))
    harness.wait(999)
    assert not harness.asked(MatchSites)
    harness.tell(make.terminated(1))
    (request,) = harness.asked(MatchSites)
    assert (request.claims, request.wanted) == ((), ())
    harness.tell(SitesMatched((), ["s"]))
    assert harness.engine.next_deadline() is None
    harness.tell(inputs.Resume())
    (request,) = harness.asked(MatchSites)
    assert [one.group for one in request.wanted] == [1]


def test_a_dag_asks_when_a_place_may_be_free_for_it() -> None:
    harness = matched("A; B\nSITE_GROUP a NODES A", "s:0")
    harness.take("B", 9)
    harness.answer()
    harness.tell(PlaceFree())
    assert harness.asked(MatchSites)
    harness.tell(PlaceFree())
    assert not harness.asked(MatchSites), "one at a time"
    harness.rooms["s"] = 1
    harness.answer()
    assert harness.asked(MatchSites), "it was woken in between"
    harness.tell(SitesMatched((), ["s"]))
    harness.tell(PlaceFree())
    assert not harness.asked(MatchSites), "nothing waits"


def test_a_dag_whose_last_group_waits_no_more_leaves_the_line() -> None:
    harness = matched("A; B\nSITE_GROUP a NODES A\nSITE_POLICY a WAIT 30", "s:0")
    harness.take("B", 9)
    harness.answer()
    harness.wait(30)
    harness.back()
    assert harness.groups() == "a=SITELESS"
    (request,) = harness.ever(MatchSites)[1:]
    assert not request.wanted


def test_a_rescue_file_keeps_the_site_of_a_group() -> None:
    of = make.dag("A -> B; C\nDONE A\nSITE_GROUP g NODES A B")
    groups = GroupsOfDag.put(of).site_groups
    groups[0] = groups[0]._replace(matched="t", round=2)
    harness = matched(of, "s:1 t:1")
    (wanted,) = harness.asked(MatchSites)[0].wanted
    assert wanted.only == "t"
    harness.answer()
    assert harness.groups() == "g=MATCHED@t"
    assert harness.sites.rounds[0] == 2


def test_a_group_whose_nodes_become_futile_gives_its_site_up() -> None:
    harness = matched("A -> B; Z -> B; C\nSITE_GROUP g NODES A B")
    harness.take("C", 9)
    harness.answer()
    harness.run_node("A", 1)
    harness.run_node("Z", 2, value=1)
    assert harness.state("B") is State.FUTILE
    assert harness.groups() == "g=OVER@s"


def test_a_group_waits_no_longer_than_its_policy_says() -> None:
    harness = matched("A -> B; C\nSITE_GROUP g NODES A B\nSITE_POLICY g WAIT 100", "")
    harness.take("C", 9)
    harness.tell(SitesMatched((), (), ((0, "there are no sites"),)))
    harness.wait(99)
    if harness.asked(MatchSites):
        harness.answer()
    assert harness.groups() == "g=WAITING"
    harness.wait(1)
    harness.back()
    assert harness.groups() == "g=SITELESS"
    assert harness.states() == "A=FAILED B=FUTILE C=SUBMITTED"
    assert "there was none for 100 s (WAIT 100)" in harness.engine.run.nodes.errors[0]


def test_a_group_whose_last_node_adds_to_the_dag_gives_its_site_up() -> None:
    it = growing("A\nSITE_GROUP g NODES A").begin()
    it.feed(SitesMatched([SiteClaim(0, "s", "x")], ["s"]))
    it.read_back(it.records("SITE_MATCHED")[-1])
    it.run("A")
    it.take(piece_of(it.dag, "JOB X x\n", "A"))
    it.feed(inputs.Wake())
    first, last = (one for one in it.asked if isinstance(one, MatchSites))
    assert (len(first.wanted), last.wanted, last.claims) == (1, (), ())


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
