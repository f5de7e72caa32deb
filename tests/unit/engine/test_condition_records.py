"""What is known of conditions and of what nodes have published."""

from __future__ import annotations

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.condition_records import Conditions, JobAttributes, Results, Unread
from condor_pydagman.vocabulary import JournalRecord
from tests import make

RECORD = do.AppendJournalRecord(JournalRecord.CONDITION, 1, 0)


def test_records_that_are_on_their_way() -> None:
    unread = Unread()
    assert not unread
    assert unread.next_time() is None
    unread.add(1, 60.0, (RECORD,))
    assert 1 in unread
    assert unread.overdue(59.0) == []
    assert unread.overdue(60.0) == [(1, (RECORD,))]
    unread.drop(1)
    assert not unread


def test_only_the_last_question_has_an_answer() -> None:
    conditions = Conditions(make.dag("A -> X", conditions={"X": "true"}))
    first, second = conditions.ask(1), conditions.ask(1)
    assert not conditions.answered(1, first)
    assert conditions.answered(1, second)
    assert not conditions.answered(1, second)


def test_whether_children_follow_what_was_skipped() -> None:
    conditions = Conditions(make.dag("A -> X"))
    assert not conditions
    conditions.skip(1, False)
    assert not conditions.leads
    conditions.skip(2, True)
    assert conditions.leads


def test_attributes_of_jobs_are_those_of_the_last_event() -> None:
    results = Results(make.dag("A -> X"))
    results.opened(0, 5, None)
    results.opened(1, 6, 3)
    assert (results.node_of(5, 9), results.node_of(6, 3), results.node_of(6, 4)) == (0, 1, None)
    results.add(0, 0, JobAttributes((("MEMORY", "1"), ("x", "2")), False), ("Memory",))
    results.add(0, 0, JobAttributes((("memory", "3"),), True), ("Memory",))
    assert results.values == {0: {"Memory": "3"}}
    assert results.ends_told(0) == 1
    results.forget(0)
    assert (results.values, results.ends_told(0)) == ({}, 0)


def test_parts_are_put_together_in_their_order() -> None:
    results = Results(make.dag("A -> X"))
    assert not results.add_part(0, 2, 2, "b")
    assert results.add_part(0, 1, 2, "a")
    assert results.pop_parts(0) == ["a", "b"]
