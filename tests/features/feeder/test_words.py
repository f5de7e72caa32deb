"""What people are told of a FEEDER."""

from __future__ import annotations

from condor_pydagman.features.feeder.trace import FeederSeen
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.trace.overview import overview
from condor_pydagman.trace.run_history import Run
from condor_pydagman.trace.tally import Tally
from tests.unit.report.test_overview_text import text
from tests.unit.trace.test_overview import NOW, a_run, seen


def test_a_feeder() -> None:
    run = Run()
    run.of["feeder"] = FeederSeen(2, "failed", "feeding 3: no table", 5.0)
    shown = " ".join(text(seen(run)).split())
    assert "feeder: failed, 2 feedings; feeding 3: no table" in shown


def test_no_end_is_foretold_while_a_feeder_may_add_more() -> None:
    text = ["FEEDER BELOW 9 PROGRAM feed\n"]
    fed = build(["t.dag"], lambda _: iter(text), BuildOptions())
    run = a_run()
    assert overview("t.dag", "running", Tally(run, fed), NOW, exact=True, ad={}).remaining_s is None
    told = {"PYDAGMAN_Feeder": "waits, 3 feedings, 30 nodes"}
    assert seen(run, ad=told).remaining_s is None
    assert seen(run, ad={"PYDAGMAN_Feeder": "ended, 3 feedings, 30 nodes"}).remaining_s
    run.of["feeder"] = FeederSeen(3, "ended")
    assert seen(run, ad=told).remaining_s
