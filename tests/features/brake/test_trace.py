"""Brakes that act: from records in the nodes log."""

from __future__ import annotations

from condor_pydagman.features.brake.trace import ActingBrake, BrakesSeen
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.report.event_words import event_words
from condor_pydagman.trace.run_history import Run
from condor_pydagman.vocabulary import JournalRecord
from tests.features.taking import take

TEXT = "0 HALT sick: 2 nodes failed, more than 1: A, B"


def braked(text: str = TEXT) -> RecordRead:
    return RecordRead(JournalRecord.BRAKED, "B", 0, 0, text)


def off(resumes: int) -> RecordRead:
    return RecordRead(JournalRecord.BRAKES_OFF, "A", 0, resumes, "mended")


def test_a_brake_acts_once_until_it_is_taken_back() -> None:
    run, reason = Run(), "2 nodes failed, more than 1: A, B"
    (event,) = take(run, braked(), 5.0)
    assert event.data == {"brake": "sick", "effect": "HALT", "reason": reason}
    assert event_words(event) == f"brake sick acts (HALT): {reason}"
    seen = BrakesSeen.of(run)
    assert seen.acting == {"sick": ActingBrake("HALT", reason, 5.0)}
    assert not take(run, braked(), 6.0)
    assert not take(run, off(1), 7.0)
    assert seen.acting
    assert not take(run, off(0), 7.0)
    assert not seen.acting
    assert not take(run, braked(), 8.0)
    assert not take(run, off(0), 8.0)
    assert take(run, braked("1" + TEXT[1:]), 9.0)
    assert seen.acting["sick"].time == 9.0
