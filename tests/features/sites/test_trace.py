"""Groups of nodes and their sites: from records in the nodes log."""

from __future__ import annotations

from condor_pydagman.trace.run_history import GroupSite, NodePlan
from condor_pydagman.vocabulary import JournalRecord, NodeStatus
from tests.unit.trace.bench import Bench

DONE, ERROR = NodeStatus.DONE, NodeStatus.ERROR

GROUP = {"A": NodePlan(group="g", retries=2), "B": NodePlan(group="g"), "C": NodePlan()}
MATCHED, TAKEN_BACK = JournalRecord.SITE_MATCHED, JournalRecord.SITE_TAKEN_BACK
LEFT, CLEANED = JournalRecord.SITE_LEFT, JournalRecord.SITE_CLEANED


def test_the_site_of_a_group(bench: Bench) -> None:
    bench.record(MATCHED, 1, text="d1 the north")
    bench.submit("B", 7)
    bench.submit("C", 8)
    run = bench.track(GROUP)
    assert run.groups == {"g": GroupSite("the north", 1, since=run.groups["g"].since)}
    assert (run.nodes["B"].attempts[0].site, run.nodes["C"].attempts[0].site) == ("the north", "")
    (event,) = bench.told("group.match")
    assert (event.node, event.data) == ("", {"group": "g", "site": "the north", "round": 1})


def test_a_record_that_is_there_twice_is_told_once(bench: Bench) -> None:
    bench.record(MATCHED, 1, text="d1 north")
    bench.record(MATCHED, 1, text="d1 north")
    bench.track(GROUP)
    assert len(bench.told("group.match")) == 1


def test_nodes_of_a_group_that_leaves_its_site_have_not_failed(bench: Bench) -> None:
    bench.record(MATCHED, 1, text="d1 north")
    for name, cluster in (("A", 7), ("B", 8)):
        bench.submit(name, cluster)
        bench.execute(cluster)
    bench.terminate(7)
    bench.record(TAKEN_BACK, 1, text="a person has asked")
    bench.abort(8)
    run = bench.track(GROUP)
    assert run.nodes["A"].status is DONE
    assert run.nodes["B"].status is NodeStatus.NOT_READY
    assert not [e for e in bench.told("node.state") if e.data["status"] == "ERROR"]
    bench.record(LEFT, 1)
    bench.events.clear()
    run = bench.track(GROUP)
    assert run.nodes["A"].status is NodeStatus.NOT_READY
    assert run.groups["g"].as_json() == {
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
    node = bench.track(GROUP).nodes["B"]
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
    node = bench.track(GROUP).nodes["A"]
    assert (node.status, len(node.attempts)) == (ERROR, 5)


def test_a_group_without_a_site(bench: Bench) -> None:
    bench.record(JournalRecord.NO_SITE, 3, text="none fits")
    run = bench.track(GROUP)
    assert run.groups == {"g": GroupSite(reason="none fits", since=run.last)}


def test_records_of_groups_without_the_dag(bench: Bench) -> None:
    bench.record(MATCHED, 1, text="d1 north")
    bench.submit("A", 7)
    assert bench.track().nodes["A"].attempts[0].site == ""
