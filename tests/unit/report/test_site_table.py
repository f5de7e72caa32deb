"""What groups of nodes did at each site."""

from __future__ import annotations

from condor_pydagman.report.site_table import SiteUse, sites_used
from condor_pydagman.trace.run_history import Attempt, GroupSite, NodeRun, Run
from condor_pydagman.vocabulary import NodeStatus


def attempt(number: int, site: str, **facts: float) -> Attempt:
    made = Attempt(number)
    made.site = site
    for name, value in facts.items():
        setattr(made, name, value)
    return made


def a_run() -> Run:
    run = Run()
    run.groups = {"g": GroupSite("south", 2), "h": GroupSite("east", 1), "i": GroupSite()}
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
    assert sites_used(a_run(), 100.0) == [
        SiteUse("east", 1, 0, 0, 0, 0.0),
        SiteUse("north", 0, 0, 2, 1, 30.0),
        SiteUse("south", 1, 1, 2, 0, 17.0),
    ]


def test_a_dag_without_groups_has_no_sites() -> None:
    assert sites_used(Run(), 100.0) == []
