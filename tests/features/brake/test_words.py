"""What people are told of brakes."""

from __future__ import annotations

from condor_pydagman.features.brake.run import BrakeRecord
from condor_pydagman.features.brake.shown import ActingBrake, BrakesSeen
from condor_pydagman.follow.run_model import DagState, Halted
from condor_pydagman.monitor.found_dag import FoundDag
from tests.unit.follow.test_overview import NOW, a_run
from tests.unit.monitor.test_known_run import found, looked
from tests.unit.report.test_overview_text import text

__all__ = ["found"]


def test_a_brake_that_acts(found: FoundDag) -> None:
    tally = a_run()
    tally.run.halts = [Halted(NOW - 5)]
    BrakesSeen.put(tally.run).acting["sick"] = ActingBrake(
        BrakeRecord("0", "HALT", "sick", "2 nodes failed: A, B"), 5.0
    )
    shown = " ".join(text(looked(tally, DagState.HALTED)).split())
    assert "The DAG has been halted for 5 s: jobs in the queue continue" in shown
    assert "brake sick: 2 nodes failed: A, B" in shown
