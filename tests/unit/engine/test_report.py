"""The report starts out empty, and its numbers of nodes always add up."""

from __future__ import annotations

from condor_pydagman.engine.report import Deferrals, Report
from tests import make


def total(report: Report) -> int:
    return sum(report[1:9])


def test_numbers_of_nodes_add_up_at_every_step() -> None:
    harness = make.EngineHarness(
        make.dag("A -> B C -> D; E", pre={"B": "p"}, post={"A": "q"}, done="E")
    )
    assert harness.engine.report().unready == 5
    harness.begin()
    harness.run_node("A", 1)
    for ends, status in ((harness.post_ends, 0), (harness.pre_ends, 1)):
        ends("A" if status == 0 else "B", status)
        assert total(harness.engine.report()) == harness.engine.report().total == 5
    report = harness.engine.report()
    assert (report.done, report.failed, report.futile, report.ready) == (2, 1, 1, 1)


def test_no_deferrals_at_first() -> None:
    assert make.EngineHarness("A").engine.report().deferrals == Deferrals()
