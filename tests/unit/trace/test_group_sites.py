"""Unit tests of trace/group_sites.py."""

from __future__ import annotations

from condor_pydagman.trace.group_sites import GroupSites
from condor_pydagman.trace.run_history import GroupSite, NodePlan, Run
from condor_pydagman.vocabulary import JournalRecord

PLANS = {"A": NodePlan(group="g"), "B": NodePlan(group="g"), "C": NodePlan()}


def test_members() -> None:
    sites = GroupSites(Run(), PLANS)
    assert sites.members("g") == ["A", "B"]
    assert sites.members("other") == []


def test_a_group_without_a_record() -> None:
    sites = GroupSites(Run(), PLANS)
    assert sites.site_of("g") == ""
    assert not sites.is_leaving("g")


def test_from_one_site_to_the_next() -> None:
    run = Run()
    sites = GroupSites(run, PLANS)
    assert sites.take("g", JournalRecord.SITE_MATCHED, 1, "1 the north")
    assert not sites.take("g", JournalRecord.SITE_MATCHED, 1, "1 the north")
    assert sites.site_of("g") == "the north"
    assert sites.take("g", JournalRecord.SITE_TAKEN_BACK, 1, "it was told to")
    assert sites.is_leaving("g")
    assert sites.take("g", JournalRecord.SITE_LEFT, 1, "")
    assert sites.site_of("g") == "the north"  # where its clean-up node runs
    assert not sites.is_leaving("g")
    assert sites.take("g", JournalRecord.SITE_CLEANED, 1, "")
    assert sites.site_of("g") == ""
    assert run.groups == {"g": GroupSite(round=1, reason="it was told to")}


def test_no_site() -> None:
    run = Run()
    assert GroupSites(run, PLANS).take("g", JournalRecord.NO_SITE, 0, "none fits")
    assert run.groups == {"g": GroupSite(reason="none fits")}


def test_since_when() -> None:
    run = Run()
    sites = GroupSites(run, PLANS)
    sites.take("g", JournalRecord.SITE_MATCHED, 1, "1 north", 10.0)
    assert not sites.take("g", JournalRecord.SITE_MATCHED, 1, "1 north", 20.0)
    assert run.groups["g"].since == 10.0
    sites.take("g", JournalRecord.SITE_TAKEN_BACK, 1, "it was told to", 30.0)
    assert run.groups["g"].since == 30.0
