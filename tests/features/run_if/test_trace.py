"""What RUN_IF has decided: from records in the nodes log."""

from __future__ import annotations

import pytest

from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.report.event_words import event_words
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.follow.bench import A, Bench, follower_of, take

BELOW = "JOB B b.sub DONE\nPARENT B CHILD A\nRUN_IF A Failed > 0\n"
DONE, ERROR = NodeStatus.DONE, NodeStatus.ERROR


@pytest.mark.parametrize(
    ("value", "status", "why", "words"),
    [
        (1, NodeStatus.READY, "", "is true"),
        (0, NodeStatus.DONE, "RUN_IF is false: n is 3", "is false"),
        (-1, NodeStatus.ERROR, "RUN_IF fails: n is 3", "can't be evaluated"),
    ],
)
def test_conditions(value: int, status: NodeStatus, why: str, words: str) -> None:
    follower = follower_of(A + BELOW)
    event, *_ = take(follower, RecordRead("CONDITION", "A", 0, value, "n is 3"), 5.0)
    assert (event.name, event.data) == ("node.decided", {"value": value, "reason": "n is 3"})
    assert event_words(event) == f"A: its RUN_IF {words}: n is 3"
    node = follower.run.nodes["A"]
    assert (node.status, node.why, node.skipped) == (status, why, value == 0)


def test_a_condition_that_is_false_skips_its_node(bench: Bench) -> None:
    bench.record("CONDITION", 0, text="Parents.B.n is 3")
    node = bench.node(BELOW)
    assert (node.status, node.skipped) == (DONE, True)
    (decided,), (state,) = bench.told("node.decided"), bench.told("node.state")
    assert decided.data == {"value": 0, "reason": "Parents.B.n is 3"}
    assert state.data["reason"] == "RUN_IF is false: Parents.B.n is 3"
    assert state.data["skipped"]


def test_a_condition_that_says_nothing_fails_its_node(bench: Bench) -> None:
    bench.record("CONDITION", -1, text="it is undefined")
    assert bench.node(BELOW).status is ERROR
    (state,) = bench.told("node.state")
    assert state.data["reason"] == "RUN_IF fails: it is undefined"


def test_a_node_whose_condition_is_true_is_ready(bench: Bench) -> None:
    bench.record("CONDITION", 1)
    assert bench.node(BELOW).status is NodeStatus.READY
    assert not bench.told("node.state"), "its jobs will tell it"
