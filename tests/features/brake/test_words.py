"""What people are told of brakes."""

from __future__ import annotations

from condor_pydagman.features.brake.trace import ActingBrake, BrakesSeen
from tests.unit.report.test_overview_text import text
from tests.unit.trace.test_overview import a_run, seen


def test_a_brake_that_acts() -> None:
    tally = a_run()
    BrakesSeen.put(tally.run).acting["sick"] = ActingBrake("HALT", "2 nodes failed: A, B", 5.0)
    assert "brake sick: 2 nodes failed: A, B" in " ".join(text(seen(tally)).split())
