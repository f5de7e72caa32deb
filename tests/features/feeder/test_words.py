"""What people are told of a FEEDER."""

from __future__ import annotations

from condor_pydagman.features.feeder.shown import FeederSeen
from condor_pydagman.monitor.found_dag import FoundDag
from tests.unit.follow.test_overview import DAG, READY, a_run, seen
from tests.unit.monitor.test_known_run import found, looked
from tests.unit.report.test_overview_text import text

__all__ = ["found"]


def test_a_feeder(found: FoundDag) -> None:
    tally = a_run()
    tally.run.of["feeder"] = FeederSeen(2, "failed", "feeding 3: no table", 5.0)
    shown = " ".join(text(looked(tally)).split())
    assert "The FEEDER failed too often: it adds nothing more to the DAG." in shown
    assert "feeding 3: no table" in shown
    assert "feeder:" not in shown
    tally.run.of["feeder"] = FeederSeen(2, "ended", "", 5.0)
    assert "feeder: ended, 2 feedings" in " ".join(text(looked(tally)).split())


def test_no_end_is_foretold_while_a_feeder_may_add_more() -> None:
    tally = a_run(f"{DAG}{READY}FEEDER BELOW 99 PROGRAM feed\n")
    assert seen(tally).remaining_s is None
    told = {"PYDAGMAN_Feeder": "waits, 3 feedings, 30 nodes"}
    assert seen(tally, ad=told).remaining_s is None
    assert seen(tally, ad={"PYDAGMAN_Feeder": "ended, 3 feedings, 30 nodes"}).remaining_s
    tally.run.of["feeder"] = FeederSeen(3, "ended")
    assert seen(tally, ad=told).remaining_s
