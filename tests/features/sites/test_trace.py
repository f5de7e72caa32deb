"""Groups of nodes and their sites: from records in the nodes log."""

from __future__ import annotations

from condor_pydagman.features.sites.shown import GroupSites
from condor_pydagman.records.dagman_out import OutKind
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.follow.bench import A, Bench, follower_of, line
from tests.unit.follow.test_overview import seen

DONE, ERROR = NodeStatus.DONE, NodeStatus.ERROR

GROUP = f"{A}JOB B a.sub\nJOB C a.sub\nRETRY A 2\nSITE_GROUP g NODES A B\n"
MATCHED, TAKEN_BACK = "SITE_MATCHED", "SITE_TAKEN_BACK"
LEFT, CLEANED = "SITE_LEFT", "SITE_CLEANED"


def test_records_of_groups_without_the_dag(bench: Bench) -> None:
    bench.record(MATCHED, 1, text="d1 north")
    bench.submit("A", 7)
    assert bench.follow().nodes["A"].attempts[0].site == ""


def test_why_groups_have_no_site_yet() -> None:
    follower = follower_of()
    follower.take(line(OutKind.NO_SITE_YET, node="a, b", text="none"))
    follower.take(line(OutKind.NO_SITE_YET, 2.0, node="b", text="full"))
    assert GroupSites.of(follower.run).no_site_yet == {"a": ("none", 1.0), "b": ("full", 2.0)}


# In a glance at a DAG.


GROUPS = (
    "JOB A1 x\nJOB A2 x\nPARENT A1 CHILD A2\nJOB B x\nJOB C x\nJOB D x\nPARENT A1 CHILD D\n"
    "SITE_GROUP a NODES A1 A2\nSITE_GROUP b NODES B\nSITE_GROUP c NODES C\nSITE_GROUP d NODES D\n"
)


def test_groups_that_wait_for_a_site(bench: Bench) -> None:
    bench.record(MATCHED, 1, text="d1 north", node="B")
    tally = bench.tally(GROUPS)
    seen_sites = GroupSites.of(tally.run)
    at = seen_sites.groups["b"].since
    seen_sites.no_site_yet = {"c": ("all are full", at - 9), "d": ("no collector", at)}
    found = seen(tally).of_features["sites"]
    assert found == {
        "at": {"north": 1}, "leaving": 0, "without": 0, "waiting": 2, "first": ["a", "c"],
        "reason": "all are full",
    }  # fmt: skip
    assert seen(tally, running=False).of_features["sites"]["waiting"] == 0


def test_a_group_whose_nodes_have_ended_is_at_no_site_any_more(bench: Bench) -> None:
    for node, cluster in (("A1", 1), ("B", 2)):
        bench.record(MATCHED, 1, text="d1 north", node=node)
        bench.submit(node, cluster)
        bench.execute(cluster)
        bench.terminate(cluster)
    tally = bench.tally(GROUPS)
    assert seen(tally).of_features["sites"]["at"] == {"north": 1}
    assert seen(tally, running=False).of_features["sites"]["at"] == {"north": 2}


def test_what_was_said_before_a_group_had_a_site_is_no_reason(bench: Bench) -> None:
    for record, text in ((MATCHED, "d1 north"), (TAKEN_BACK, "IDLE 2h"), (LEFT, ""), (CLEANED, "")):
        bench.record(record, 1, text=text, node="C")
    tally = bench.tally(GROUPS)
    seen_sites = GroupSites.of(tally.run)
    at = seen_sites.groups["c"].since
    reasons = []
    for when in (at, at - 9):
        seen_sites.no_site_yet = {"c": ("all are full", when)}
        reasons.append(seen(tally).of_features["sites"]["reason"])
    assert reasons == ["all are full", ""]


def test_a_group_that_leaves_its_site_does_not_wait_for_one(bench: Bench) -> None:
    for record, text in ((MATCHED, "d1 north"), (TAKEN_BACK, "IDLE 2h")):
        bench.record(record, 1, text=text, node="C")
    found = seen(bench.tally(GROUPS)).of_features["sites"]
    assert (found["waiting"], found["first"], found["leaving"]) == (2, ["a", "b"], 1)


def test_groups_whose_nodes_could_start_wait(bench: Bench) -> None:
    bench.record("STEERED", 1, text="ann done", node="A1")
    found = seen(bench.tally(GROUPS)).of_features["sites"]
    assert found["first"] == ["a", "b", "c", "d"]


def test_a_dag_in_which_no_group_has_begun(bench: Bench) -> None:
    parent = "JOB P x\nPARENT P CHILD A1 B C\n"
    assert seen(bench.tally(GROUPS + parent)).of_features["sites"] == {}
