"""Brakes that act: from records in the nodes log."""

from __future__ import annotations

from condor_pydagman.features.brake.run import BrakeRecord
from condor_pydagman.features.brake.shown import ActingBrake, BrakesSeen
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.report.event_words import event_words
from tests.unit.follow.bench import A, follower_of, take

BRAKE = f"{A}BRAKE sick 1 HALT\n"
TEXT = "0 HALT sick: 2 nodes failed, more than 1: A, B"


def braked(text: str = TEXT) -> RecordRead:
    return RecordRead("BRAKED", "A", 0, 0, text)


def off(resumes: int) -> RecordRead:
    return RecordRead("BRAKES_OFF", "A", 0, resumes, "mended")


def test_a_brake_acts_once_until_it_is_taken_back() -> None:
    follower, reason = follower_of(BRAKE), "2 nodes failed, more than 1: A, B"
    (event,) = take(follower, braked(), 5.0)
    assert event.data == {"brake": "sick", "effect": "HALT", "reason": reason}
    assert event_words(event) == f"brake sick acts (HALT): {reason}"
    seen = BrakesSeen.of(follower.run)
    assert seen.acting == {"sick": ActingBrake(BrakeRecord("0", "HALT", "sick", reason), 5.0)}
    assert not take(follower, braked(), 6.0)
    assert not take(follower, off(1), 7.0)
    assert seen.acting
    assert not take(follower, off(0), 7.0)
    assert not seen.acting
    assert not take(follower, braked(), 8.0)
    assert not take(follower, off(0), 8.0)
    assert take(follower, braked("1" + TEXT[1:]), 9.0)
    assert seen.acting["sick"].time == 9.0


def test_brakes_are_kept_for_the_report() -> None:
    follower = follower_of(BRAKE)
    take(follower, braked(), 5.0)
    take(follower, off(0), 7.0)
    kept = follower.run.interventions.kept
    assert [(one.time, one.by, one.what, one.why) for one in kept] == [
        (5.0, "brake sick", "HALT", "2 nodes failed, more than 1: A, B"),
        (7.0, "", "brakes taken back", "mended"),
    ]
