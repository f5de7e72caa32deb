"""What is said of groups of nodes without a site."""

from __future__ import annotations

from condor_pydagman.engine.report import GroupReport
from condor_pydagman.explain.explain_dag import explain_dag
from condor_pydagman.explain.explain_node import explain_node
from condor_pydagman.features.sites.shown import notices
from condor_pydagman.follow.run_model import DagState
from tests.unit.explain import NOW, facts_of

DAG = "JOB A a.sub\nSITE_GROUP g NODES A\n"


def group(name: str, state: str, **more: object) -> GroupReport:
    return GroupReport(name, state, "", 0, 4, 0)._replace(**more)  # type: ignore[arg-type]


def found(*groups: GroupReport) -> list[tuple[str, str]]:
    facts = facts_of(DAG, {}, state=DagState.RUNNING)._replace(of={"sites": groups})
    own = list(notices(facts))
    told = explain_dag(facts).findings
    assert all(finding in told for finding in own)
    return [(finding.cause, finding.sentence) for finding in own]


def test_groups_that_wait_for_the_same_reason_are_told_together() -> None:
    full = [
        group(name, "WAITING", since=NOW - age, reason="of 1 site, 1 is full (s)")
        for name, age in (("g1", 60), ("g2", 3600))
    ]
    other = group("h", "WAITING", since=NOW - 5, reason="the collector: gone")
    assert found(*full, other) == [
        ("group.no_site", "Groups g1 and g2 are waiting for a site, the longest for 1 h."),
        ("group.no_site", "Group h is waiting for a site, the longest for 5 s."),
    ]


def test_a_reason_has_the_time_at_which_it_was_found() -> None:
    alike = [
        group(name, "WAITING", since=NOW - 3600, reason="of 1 site, 1 is full (s)", found=NOW - age)
        for name, age in (("g1", 50), ("g2", 40))
    ]
    facts = facts_of(DAG, {}, state=DagState.RUNNING)
    for groups, time in (
        (alike, NOW - 40),
        ([group("h", "WAITING", since=NOW - 5, reason="x")], NOW - 5),
    ):
        (notice,) = notices(facts._replace(of={"sites": groups}))
        assert notice.evidence[0].time == time


def test_groups_that_leave_and_groups_that_get_none() -> None:
    told = found(
        group("a", "LEAVING", site="s"),
        group("b", "SITELESS", reason="it has been matched 5 times (ROUNDS 5)"),
        group("c", "MATCHED", site="s"),
        group("d", "OVER", site="s"),
    )
    assert told == [
        ("group.siteless", "Group b can no longer get a site, so its nodes fail."),
        ("group.leaving", "Group a is leaving its site, and starts over at another one."),
    ]


def test_a_dag_without_groups_is_as_before() -> None:
    assert found() == []


def test_a_node_of_a_group_waits_for_its_site() -> None:
    dag = "JOB A a.sub\nJOB B a.sub\nSITE_GROUP g NODES A\nSITE_GROUP h NODES B\n"
    facts = facts_of(dag, {}, state=DagState.RUNNING)
    waits = GroupReport("g", "WAITING", "", 0, 1, 0)._replace(since=NOW - 5, reason="none is there")
    facts = facts._replace(
        of={"sites": (waits, waits._replace(name="h", state="MATCHED", site="s"))}
    )
    (found,) = explain_node(facts, "A").findings
    assert found.sentence == "Group g is waiting for a site, the longest for 5 s."
    assert found.evidence[0].text == "none is there"
    assert not explain_node(facts, "B").findings
