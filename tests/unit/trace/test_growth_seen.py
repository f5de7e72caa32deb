"""How a DAG has grown: from records in the nodes log."""

from __future__ import annotations

from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.report.event_words import event_words
from condor_pydagman.trace.growth_seen import take_record
from condor_pydagman.trace.run_history import FeederSeen, Run
from condor_pydagman.vocabulary import JournalRecord


def grown(number: int, text: str) -> RecordRead:
    return RecordRead(JournalRecord.GROWN, "", 0, number, text)


def test_pieces_of_a_feeder_until_it_ends() -> None:
    run = Run()
    assert [one.data for one in take_record(run, grown(1, "d"), 5.0)] == [{"piece": 1}]
    assert not take_record(run, grown(1, "d"), 5.0)
    assert run.feeding == FeederSeen()
    (event,) = take_record(run, grown(2, "e FEEDING 1"), 6.0)
    assert event.data == {"piece": 2, "feeding": 1}
    assert run.feeding == FeederSeen(1, "", "", 6.0)
    assert not take_record(run, grown(2, "e FEEDING 1"), 7.0)
    _, event = take_record(run, grown(3, "f FEEDING 2 LAST"), 8.0)
    assert (event.name, event.data) == ("dag.feeder", {"state": "ended", "feedings": 2})
    assert event_words(event) == "the FEEDER ended"
    assert run.feeding == FeederSeen(2, "ended", "", 8.0)


def test_a_feeder_that_fails() -> None:
    run = Run()
    read = RecordRead(JournalRecord.FEEDER_FAILED, "", 0, 0, "feeding 1: no table")
    (event,) = take_record(run, read, 5.0)
    assert event_words(event) == "the FEEDER failed: feeding 1: no table"
    assert run.feeding == FeederSeen(0, "failed", "feeding 1: no table", 5.0)
    assert not take_record(run, read, 6.0)


def test_other_records() -> None:
    assert not take_record(Run(), RecordRead(JournalRecord.PRE_ENDED, "A", 0, 0, ""), 1.0)


def test_damaged_records_tell_what_can_be_read() -> None:
    run = Run()
    for number, text in enumerate(("", "d FEEDING", "d FEEDING x", f"d FEEDING {'9' * 5000}"), 1):
        assert [one.data for one in take_record(run, grown(number, text), 5.0)] == [
            {"piece": number}
        ]
    take_record(run, RecordRead(JournalRecord.LET_GO, "", 0, 0, "x 2 -"), 6.0)
    assert run.pieces == {1, 3, 4}
