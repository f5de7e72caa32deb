"""The report starts out empty, and its numbers of nodes always add up."""

from __future__ import annotations

from condor_pydagman.engine.report import Deferrals, Report
from tests import make


def total(report: Report) -> int:
    return sum(report[1:9])


def test_numbers_of_nodes_add_up_at_every_step() -> None:
    bench = make.Bench(make.dag("A -> B C -> D; E", pre={"B": "p"}, post={"A": "q"}, done="E"))
    assert bench.engine.report().unready == 5
    bench.begin()
    bench.run_node("A", 1)
    for ends, status in ((bench.post_ends, 0), (bench.pre_ends, 1)):
        ends("A" if status == 0 else "B", status)
        assert total(bench.engine.report()) == bench.engine.report().total == 5
    report = bench.engine.report()
    assert (report.done, report.failed, report.futile, report.ready) == (2, 1, 1, 1)


def test_no_deferrals_at_first() -> None:
    assert make.Bench("A").engine.report().deferrals == Deferrals()
