"""ENOUGH lines that are reached: from records in the nodes log."""

from __future__ import annotations

from condor_pydagman.features.enough.run import EnoughRecord, read_record
from condor_pydagman.features.enough.shown import EnoughSeen, ReachedEnough
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.follow.bench import follower_of, take

MERGED = "JOB A x\nJOB B x\nJOB C x\nPARENT A B CHILD C\nENOUGH PARENTS C 1\n"


def test_an_enough_is_told_of_once() -> None:
    follower = follower_of(MERGED)
    text = "ENOUGH PARENTS C 1: 1 of 2 nodes are done"
    read = RecordRead("ENOUGH", "A", 0, 0, text=text)
    event, *_ = take(follower, read, 7.0)
    assert event.name == "dag.enough"
    assert event.data == {"enough": "ENOUGH PARENTS C 1", "reason": "1 of 2 nodes are done"}
    assert not take(follower, read, 8.0)
    reached = {"ENOUGH PARENTS C 1": ReachedEnough(read_record(text), 7.0)}
    assert EnoughSeen.of(follower.run).reached == reached


def test_a_record_is_read_as_it_is_written() -> None:
    record = EnoughRecord("ENOUGH ALL_NODES OF S 3", "3 of 9 nodes are done")
    assert read_record(record.text) == record
    assert not read_record("words of a later version").line


def test_the_node_of_an_enough_that_is_reached_is_ready() -> None:
    follower = follower_of(MERGED)
    text = "ENOUGH PARENTS C 1: 1 of 2 nodes are done"
    states = {}
    for record, words in (("STEERED", "ann done"), ("ENOUGH", text)):
        take(follower, RecordRead(record, "A", 0, 0, text=words), 7.0)
        states[record] = follower.run.nodes["C"].status
    assert list(states.values()) == [NodeStatus.NOT_READY, NodeStatus.READY]
