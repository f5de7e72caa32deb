"""A DAG that nobody has read: its nodes and their states as far as the logs tell."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.records.dagman_out import OutKind
from condor_pydagman.vocabulary import JournalRecord, NodeStatus
from tests.unit.follow.bench import Bench, follower_of, line, names

DONE, ERROR = NodeStatus.DONE, NodeStatus.ERROR


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_nodes_that_are_named_later_are_added_with_the_first(bench: Bench) -> None:
    for number, name in enumerate("BAB"):
        bench.submit(name, number + 7)
    follower, events = follower_of(), bench.read()
    follower.expect(events)
    follower.take(events[0])
    assert list(follower.run.nodes) == ["B", "A"]
    assert len(follower.plan.dag) == 2


def test_a_failure_counts_until_another_attempt_is_shown(bench: Bench) -> None:
    bench.submit("A", 7)
    bench.terminate(7, value=3)
    assert bench.follow().nodes["A"].status is ERROR
    assert not bench.told("node.retry")
    bench.submit("A", 8)
    bench.events.clear()
    node = bench.follow().nodes["A"]
    assert (node.status, len(node.attempts)) == (NodeStatus.SUBMITTED, 2)
    assert [event.data["retry"] for event in bench.told("node.retry")] == [1]
    bench.terminate(8)
    assert bench.follow().nodes["A"].status is DONE


def test_a_post_script_may_come_and_decides(bench: Bench) -> None:
    bench.submit("A", 7)
    bench.terminate(7)
    run = bench.follow()
    assert run.nodes["A"].status is DONE
    assert names(bench.follower, line(OutKind.SCRIPT_START, node="A", text="POST")) == [
        *("script.start", "node.state")
    ]
    assert run.nodes["A"].status is NodeStatus.POSTRUN
    bench.post("A", 4, 7)
    assert bench.follow().nodes["A"].status is ERROR
    bench.submit("A", 8)
    bench.terminate(8)
    bench.post("A", 0, 8)
    node = bench.follow().nodes["A"]
    assert (node.status, [one.job for one in node.attempts]) == (DONE, ["7.0", "8.0"])
    assert [one.post.value for one in node.attempts if one.post is not None] == [4, 0]


def test_a_submission_that_is_logged_late_begins_nothing_anew(bench: Bench) -> None:
    bench.submit("A", 7)
    bench.terminate(7)
    bench.submit("A", 7)
    node = bench.follow().nodes["A"]
    assert (node.status, len(node.attempts)) == (DONE, 1)


@pytest.mark.parametrize(("value", "status"), [(0, NodeStatus.READY), (3, ERROR)])
def test_pre_scripts(value: int, status: NodeStatus) -> None:
    follower = follower_of()
    begin = line(OutKind.SCRIPT_START, node="A", text="PRE")
    assert names(follower, begin) == ["script.start", "node.state"]
    assert follower.run.nodes["A"].status is NodeStatus.PRERUN
    end = line(OutKind.SCRIPT_END, 2.0, "A", value, "PRE")
    assert names(follower, end) == ["script.end", "node.state"]
    assert follower.run.nodes["A"].status is status


def test_a_pre_script_that_fails_again_and_again(bench: Bench) -> None:
    for retry in range(3):
        bench.record(JournalRecord.PRE_ENDED, 1, retry=retry)
    node = bench.follow().nodes["A"]
    assert (node.status, len(node.attempts)) == (NodeStatus.ERROR, 3)
    assert [attempt.pre and attempt.pre.value for attempt in node.attempts] == [1, 1, 1]
