"""What people and features have done to a run."""

from __future__ import annotations

from condor_pydagman.follow.run_model import MAX_KEPT, Interventions


def test_what_is_done_minutes_apart_is_not_one() -> None:
    seen = Interventions()
    for time in (0.0, 59.0, 118.0, 300.0):
        seen.add(time, "ann", "cancel", node="A")
    assert [(one.time, one.last) for one in seen.kept] == [(0.0, 118.0), (300.0, 300.0)]


def test_so_many_are_kept() -> None:
    seen = Interventions()
    for number in range(MAX_KEPT + 2):
        seen.add(float(number), f"user{number}", "hold")
    assert (len(seen.kept), seen.more) == (MAX_KEPT, 2)
