"""Brakes that act: from records in the nodes log."""

from __future__ import annotations

from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.report.event_words import event_words
from condor_pydagman.trace.acting_brakes import take_record
from condor_pydagman.trace.run_history import ActingBrake, Run
from condor_pydagman.vocabulary import JournalRecord

TEXT = "0 HALT sick: 2 nodes failed, more than 1: A, B"


def braked(text: str = TEXT) -> RecordRead:
    return RecordRead(JournalRecord.BRAKED, "B", 0, 0, text)


def off(resumes: int) -> RecordRead:
    return RecordRead(JournalRecord.BRAKES_OFF, "A", 0, resumes, "mended")


def test_a_brake_acts_once_until_it_is_taken_back() -> None:
    run, reason = Run(), "2 nodes failed, more than 1: A, B"
    event = take_record(run, braked(), 5.0)
    assert event is not None
    assert event.data == {"brake": "sick", "effect": "HALT", "reason": reason}
    assert event_words(event) == f"brake sick acts (HALT): {reason}"
    assert run.brakes == {"sick": ActingBrake("HALT", reason, 5.0)}
    assert take_record(run, braked(), 6.0) is None
    assert take_record(run, off(1), 7.0) is None
    assert run.brakes
    assert take_record(run, off(0), 7.0) is None
    assert not run.brakes
    assert take_record(run, braked(), 8.0) is None
    assert take_record(run, off(0), 8.0) is None
    assert take_record(run, braked("1" + TEXT[1:]), 9.0) is not None
    assert run.brakes["sick"].time == 9.0


def test_an_enough_is_told_of_once() -> None:
    run = Run()
    text = "ENOUGH CATEGORY c 2: 2 of 5 nodes are done"
    read = RecordRead(JournalRecord.ENOUGH, "A", 0, 0, text=text)
    event = take_record(run, read, 7.0)
    assert event is not None
    assert event.name == "dag.enough"
    assert event.data == {"enough": "ENOUGH CATEGORY c 2", "reason": "2 of 5 nodes are done"}
    assert take_record(run, read, 8.0) is None
