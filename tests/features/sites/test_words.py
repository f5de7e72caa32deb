"""What people are told of groups of nodes and their sites."""

from __future__ import annotations

from condor_pydagman.features.sites.shown import GroupSite, GroupSites, SiteUse, sites_used
from condor_pydagman.follow.notices.collect import notices_of
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.follow.overview import Overview
from condor_pydagman.follow.run_model import Attempt, DagState, NodeRun, Run
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.follow.test_overview import NOW, a_run, seen
from tests.unit.report.test_overview_text import text

FEATURES = seen(a_run()).of_features


def test_the_sites_of_groups() -> None:
    tally = a_run()
    assert "groups at sites" not in text(seen(tally))
    names = [f"s{number:02}" for number in range(14)]
    GroupSites.put(tally.run).groups = {name: GroupSite(name, 1) for name in names}
    GroupSites.put(tally.run).groups["one more"] = GroupSite("s13", 1, leaving=True)
    GroupSites.put(tally.run).groups["no"] = GroupSite(reason="none fits")
    shown = " ".join(text(seen(tally)).split())
    assert "groups at sites: s13 2 s00 1 s01 1" in shown
    assert "s10 1 2 more sites 1 leaving 1 without a site" in shown
    assert seen(tally).as_json()["sites"]["at"]["s13"] == 2


def test_groups_that_wait_for_a_site() -> None:
    of = {"at": {}, "leaving": 0, "without": 0, "waiting": 1, "first": ["one"], "reason": ""}
    one = seen(a_run())._replace(of_features={**FEATURES, "sites": of})
    assert "\nGroup one is waiting for a site.\n" in text(noticed(one))
    assert "groups at sites" not in text(one)
    full = "of 1 site, 1 is full (\x1b)"
    of = {**of, "at": {"s": 2}, "waiting": 1207, "first": ["a", "b"], "reason": full}
    one = noticed(seen(a_run())._replace(of_features={**FEATURES, "sites": of}))
    shown = " ".join(text(one).split())
    assert "groups at sites: s 2" in shown
    assert "Groups a, b and 1,205 more are waiting for a site." in shown
    assert "is full (\\x1b)" in shown


def noticed(one: Overview) -> Overview:
    known = Facts("t.dag", DagState.RUNNING, NOW, Run(), of=one.of_features, may_count=False)
    return one.with_notices(notices_of(known))


# What groups of nodes did at each site.


def attempt(number: int, site: str, **facts: float) -> Attempt:
    made = Attempt(number)
    made.site = site
    for name, value in facts.items():
        setattr(made, name, value)
    return made


def run_at_sites() -> Run:
    run = Run()
    places = {"g": GroupSite("south", 2), "h": GroupSite("east", 1), "i": GroupSite()}
    GroupSites.put(run).groups = places
    moved = NodeRun("moved", NodeStatus.DONE)
    moved.attempts = [
        attempt(0, "north", started=10.0, stopped=40.0, value=0),
        attempt(1, "south", started=60.0, stopped=70.0, value=0),
    ]
    moved.attempts[1].pauses = ((62.0, 65.0),)
    goes_on = NodeRun("goes on", NodeStatus.SUBMITTED)
    goes_on.attempts = [attempt(0, "north", value=3), attempt(1, "south", started=90.0)]
    run.nodes = {"moved": moved, "goes on": goes_on, "elsewhere": NodeRun("elsewhere")}
    return run


def test_each_site_with_what_was_there() -> None:
    assert sites_used(run_at_sites(), 100.0) == [
        SiteUse("east", 1, 0, 0, 0, 0.0),
        SiteUse("north", 0, 0, 2, 1, 30.0),
        SiteUse("south", 1, 1, 2, 0, 17.0),
    ]


def test_a_dag_without_groups_has_no_sites() -> None:
    assert sites_used(Run(), 100.0) == []
