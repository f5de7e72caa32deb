"""A DAG that nobody has read: its nodes and their states as far as the logs tell."""

from __future__ import annotations

from condor_pydagman.vocabulary import NodeStatus
from tests.unit.follow.bench import Bench, follower_of

DONE, ERROR = NodeStatus.DONE, NodeStatus.ERROR


def test_nodes_that_are_named_later_are_added_with_the_first(bench: Bench) -> None:
    for number, name in enumerate("BAB"):
        bench.submit(name, number + 7)
    follower, events = follower_of(), bench.read()
    follower.expect(events)
    follower.take(events[0])
    assert list(follower.run.nodes) == ["B", "A"]
    assert len(follower.plan.dag) == 2


def test_a_submission_that_is_logged_late_begins_nothing_anew(bench: Bench) -> None:
    bench.submit("A", 7)
    bench.terminate(7)
    bench.submit("A", 7)
    node = bench.follow().nodes["A"]
    assert (node.status, len(node.attempts)) == (DONE, 1)
