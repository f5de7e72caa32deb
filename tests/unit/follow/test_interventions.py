"""What people and features have done to a run."""

from __future__ import annotations

from condor_pydagman.follow.run_model import MAX_KEPT, Intervention, Interventions


def test_what_is_done_alike_in_a_row_is_one() -> None:
    seen = Interventions()
    for number in range(5):
        seen.add(float(number), "ann", "hold", node=f"n{number}")
    seen.add(5.0, "bob", "hold", node="n9")
    seen.add(6.0, "FEEDER", "nodes added")
    seen.add(7.0, "FEEDER", "nodes added")
    assert seen.kept == [
        Intervention(0.0, 4.0, "ann", "hold", "", ("n0", "n1", "n2"), 5),
        Intervention(5.0, 5.0, "bob", "hold", "", ("n9",)),
        Intervention(6.0, 7.0, "FEEDER", "nodes added", "", (), 2),
    ]


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
