"""Whether nodes with a CACHE command run: from records in the nodes log."""

from __future__ import annotations

from condor_pydagman.features.cache.shown import UNCHANGED
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.report.event_words import event_words
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.follow.bench import A, Bench, follower_of, take

CACHE = f"{A}CACHE A\n"


def read(value: int, text: str) -> RecordRead:
    return RecordRead("CACHED", "A", 0, value, text)


def test_a_node_of_which_nothing_has_changed_is_done() -> None:
    follower = follower_of(CACHE)
    looked_up, state = take(follower, read(1, "r1"), 5.0)
    assert not take(follower, read(1, "r1"), 6.0)
    node = follower.run.nodes["A"]
    assert (node.cached, node.status) == (True, NodeStatus.DONE)
    assert (looked_up.name, looked_up.data) == ("node.looked_up", {"value": 1, "reason": UNCHANGED})
    assert event_words(looked_up) == "A: CACHE: done already"
    assert (state.data["cached"], state.data["reason"]) == (True, UNCHANGED)
    take(follower, RecordRead("STEERED", "A", 0, 1, "ann rerun"), 7.0)
    assert not node.cached


def test_why_a_node_runs(bench: Bench) -> None:
    follower = follower_of(CACHE)
    (event,) = take(follower, read(0, "r1 its input x has changed"), 5.0)
    assert event.data == {"value": 0, "reason": "its input x has changed"}
    assert event_words(event) == "A: CACHE: needs to run: its input x has changed"
    bench.submit("A", 7)
    for one in bench.read():
        follower.take(one)
    assert not take(follower, read(1, "r1"), 5.0)
    assert not follower.run.nodes["A"].cached
