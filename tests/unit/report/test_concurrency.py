"""Numbers of attempts over time."""

from __future__ import annotations

from condor_pydagman.report.concurrency import BUCKETS, concurrency
from condor_pydagman.report.spans import PARTS, Span, spans
from tests.unit.report.runs import make_run


def test_the_greatest_numbers_and_the_sums() -> None:
    found = spans(make_run(), 1040.0)
    seen = concurrency(found, 1000.0, 1040.0)
    assert seen.most == {"pre": 1, "idle": 2, "held": 1, "run": 2, "post": 1}
    for part, values in seen.counts.items():
        assert len(values) == BUCKETS
        total = sum(span.seconds(part) for span in found)
        assert abs(sum(values) * seen.step - total) < 1e-6


def test_an_end_and_a_begin_at_one_time_are_not_two() -> None:
    found = [Span(name, 0, at, at + 1, (("run", at, at + 1),), False) for name, at in
             (("A", 0.0), ("B", 1.0), ("C", 2.0))]  # fmt: skip
    assert concurrency(found, 0.0, 3.0).most["run"] == 1


def test_nothing_and_no_time() -> None:
    assert concurrency([], 5.0, 5.0).most == dict.fromkeys(PARTS, 0)
