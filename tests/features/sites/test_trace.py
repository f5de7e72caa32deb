"""Groups of nodes and their sites: from records in the nodes log."""

from __future__ import annotations

from condor_pydagman.features.sites.shown import GroupSite, GroupSites
from condor_pydagman.records.dagman_out import OutKind
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.follow.bench import A, Bench, follower_of, line
from tests.unit.follow.test_overview import seen

DONE, ERROR = NodeStatus.DONE, NodeStatus.ERROR

GROUP = f"{A}JOB B a.sub\nJOB C a.sub\nRETRY A 2\nSITE_GROUP g NODES A B\n"
MATCHED, TAKEN_BACK = "SITE_MATCHED", "SITE_TAKEN_BACK"
LEFT, CLEANED = "SITE_LEFT", "SITE_CLEANED"


def test_the_site_of_a_group(bench: Bench) -> None:
    bench.record(MATCHED, 1, text="d1 the north")
    bench.submit("B", 7)
    bench.submit("C", 8)
    run = bench.follow(GROUP)
    groups = GroupSites.of(run).groups
    assert groups == {"g": GroupSite("the north", 1, since=groups["g"].since)}
    assert (run.nodes["B"].attempts[0].site, run.nodes["C"].attempts[0].site) == ("the north", "")
    (event,) = bench.told("group.match")
    assert (event.node, event.data) == ("", {"group": "g", "site": "the north", "round": 1})


def test_a_record_that_is_there_twice_is_told_once(bench: Bench) -> None:
    bench.record(MATCHED, 1, text="d1 north")
    bench.record(MATCHED, 1, text="d1 north")
    bench.follow(GROUP)
    assert len(bench.told("group.match")) == 1


def test_nodes_of_a_group_that_leaves_its_site_run_anew(bench: Bench) -> None:
    bench.record(MATCHED, 1, text="d1 north")
    for name, cluster in (("A", 7), ("B", 8)):
        bench.submit(name, cluster)
        bench.execute(cluster)
    bench.terminate(7)
    bench.record(TAKEN_BACK, 1, text="a person has asked")
    bench.abort(8)
    run = bench.follow(GROUP)
    assert run.nodes["A"].status is DONE
    assert run.nodes["B"].status is NodeStatus.ERROR  # as DAGMan itself has it until then
    bench.record(LEFT, 1)
    bench.events.clear()
    run = bench.follow(GROUP)
    assert [run.nodes[name].status for name in "AB"] == [NodeStatus.NOT_READY] * 2
    assert GroupSites.of(run).groups["g"].as_json() == {
        "site": "north", "round": 1, "reason": "a person has asked",
    }  # fmt: skip


def test_a_clean_up_runs_at_the_old_site_and_what_follows_at_the_new_one(bench: Bench) -> None:
    bench.record(MATCHED, 1, text="d1 north")
    bench.record(TAKEN_BACK, 1)
    bench.record(LEFT, 1)
    bench.submit("B", 7)
    bench.execute(7)
    bench.terminate(7)
    bench.record(CLEANED, 1)
    bench.record(MATCHED, 2, text="d2 south")
    bench.submit("B", 8)
    node = bench.follow(f"{GROUP}SITE_POLICY g CLEAN_UP B\n").nodes["B"]
    assert [attempt.site for attempt in node.attempts] == ["north", "south"]
    assert node.status is NodeStatus.SUBMITTED


def test_retries_at_a_new_site_are_counted_anew(bench: Bench) -> None:
    bench.record(MATCHED, 1, text="d1 north")
    for cluster in (7, 8):
        bench.submit("A", cluster)
        bench.execute(cluster)
        bench.terminate(cluster, value=1)
    bench.record(TAKEN_BACK, 1)
    bench.record(LEFT, 1)
    bench.record(MATCHED, 2, text="d2 south")
    for cluster in (9, 10, 11):
        bench.submit("A", cluster)
        bench.execute(cluster)
        bench.terminate(cluster, value=1)
    node = bench.follow(GROUP).nodes["A"]
    assert (node.status, len(node.attempts)) == (ERROR, 5)


def test_a_group_without_a_site(bench: Bench) -> None:
    bench.record("NO_SITE", 3, text="none fits")
    run = bench.follow(GROUP)
    assert GroupSites.of(run).groups == {"g": GroupSite(reason="none fits", since=run.last)}


def test_nodes_fail_since_their_group_gets_no_site(bench: Bench) -> None:
    bench.record("NO_SITE", 3, text="none fits")
    run = bench.follow(GROUP)
    states = [event.data for event in bench.told("node.state")]
    assert [(one["status"], one["reason"]) for one in states] == [
        ("ERROR", "No site for group g: none fits")
    ] * 2
    assert run.nodes["A"].failure() == (None, "No site for group g: none fits")


def test_records_of_groups_without_the_dag(bench: Bench) -> None:
    bench.record(MATCHED, 1, text="d1 north")
    bench.submit("A", 7)
    assert bench.follow().nodes["A"].attempts[0].site == ""


def test_why_groups_have_no_site_yet() -> None:
    follower = follower_of()
    follower.take(line(OutKind.NO_SITE_YET, node="a, b", text="none"))
    follower.take(line(OutKind.NO_SITE_YET, 2.0, node="b", text="full"))
    assert GroupSites.of(follower.run).no_site_yet == {"a": ("none", 1.0), "b": ("full", 2.0)}


# What is known of a run, as values.


def test_from_one_site_to_the_next() -> None:
    sites = GroupSites()
    assert sites.take("g", "SITE_MATCHED", 1, "1 the north")
    assert not sites.take("g", "SITE_MATCHED", 1, "1 the north")
    assert sites.groups["g"].site == "the north"
    assert sites.take("g", "SITE_TAKEN_BACK", 1, "it was told to")
    assert sites.groups["g"].leaving
    assert sites.take("g", "SITE_LEFT", 1, "")
    assert sites.groups["g"].old == "the north"  # where its clean-up node runs
    assert not sites.groups["g"].leaving
    assert sites.take("g", "SITE_CLEANED", 1, "")
    assert sites.groups == {"g": GroupSite(round=1, reason="it was told to")}


def test_no_site() -> None:
    sites = GroupSites()
    assert sites.take("g", "NO_SITE", 0, "none fits")
    assert sites.groups == {"g": GroupSite(reason="none fits")}


def test_since_when() -> None:
    sites = GroupSites()
    sites.take("g", "SITE_MATCHED", 1, "1 north", 10.0)
    assert not sites.take("g", "SITE_MATCHED", 1, "1 north", 20.0)
    assert sites.groups["g"].since == 10.0
    sites.take("g", "SITE_TAKEN_BACK", 1, "it was told to", 30.0)
    assert sites.groups["g"].since == 30.0


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
