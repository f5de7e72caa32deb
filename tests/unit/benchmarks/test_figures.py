"""Many numbers become one, and rows say what was measured."""

from __future__ import annotations

from benchmarks import figures
from benchmarks.figures import Row


def test_95_percent_do_not_exceed_it() -> None:
    assert figures.percentile95([float(n) for n in range(1, 101)]) == 95.0
    assert figures.percentile95([float(n) for n in range(1, 21)]) == 19.0
    assert figures.percentile95([5.0]) == 5.0


def test_better_is_less_of_a_cost_and_more_of_a_rate() -> None:
    results = {"ours": {"t": [2.0], "r": [2.0]}, "stock": {"t": [8.0], "r": [8.0]}}
    assert figures.better(Row("", "t"), results, "ours", "stock") == 4.0
    rate = Row("", "r", more_is_better=True)
    assert figures.better(rate, results, "ours", "stock") == 0.25
    assert figures.better(Row("", "absent"), results, "ours", "stock") is None
