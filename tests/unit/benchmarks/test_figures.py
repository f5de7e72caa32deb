"""Many numbers become one, and rows say what was measured."""

from __future__ import annotations

import pytest

from benchmarks import figures
from benchmarks.figures import Row
from tests.unit.benchmarks import numbers


def test_median() -> None:
    assert figures.median([3.0, 1.0, 2.0]) == 2.0
    assert figures.median([4.0, 1.0, 2.0, 3.0]) == 2.5
    assert figures.median([7.0]) == 7.0


def test_95_percent_do_not_exceed_it() -> None:
    assert figures.percentile95([float(n) for n in range(1, 101)]) == 95.0
    assert figures.percentile95([float(n) for n in range(1, 21)]) == 19.0
    assert figures.percentile95([5.0]) == 5.0


def test_a_row_shows_the_unit_it_is_told() -> None:
    row = Row("reaction", "reaction", "ms", 1, 1000)
    value = row.value({"ours": {"reaction": [0.004, 0.006, 0.005]}}, "ours")
    assert value == pytest.approx(5.0)
    assert row.shown(value) == "5.0 ms"
    assert row.shown(None) == "-"
    assert row.value({"ours": {}}, "ours") is None
    assert row.value({}, "stock") is None


def test_only_what_was_measured_has_a_row() -> None:
    results = {"ours": {"idle pss": [3.0]}, "stock": {}}
    ((title, rows),) = figures.groups(results)
    assert (title, [row.name for row in rows]) == ("Idle", ["idle pss"])


def test_loads_stand_in_the_order_of_their_shapes_and_sizes() -> None:
    names = {"load time bare 10", "load time vars 2000", "load time vars 30", "load time odd 1"}
    texts = [row.text for row in figures.load_rows(names) if row.unit == "s"]
    assert [text.partition(" nodes")[0] for text in texts] == ["30", "2,000", "10", "1"]


def test_better_is_less_of_a_cost_and_more_of_a_rate() -> None:
    results = {"ours": {"t": [2.0], "r": [2.0]}, "stock": {"t": [8.0], "r": [8.0]}}
    assert figures.better(Row("", "t"), results, "ours", "stock") == 4.0
    rate = Row("", "r", more_is_better=True)
    assert figures.better(rate, results, "ours", "stock") == 0.25
    assert figures.better(Row("", "absent"), results, "ours", "stock") is None


def test_no_factor_of_what_was_nothing_or_less() -> None:
    """Memory taken from a machine that others use too may be negative."""
    results = {"ours": {"m": [5.0]}, "stock": {"m": [-3.0]}}
    assert figures.better(Row("", "m"), results, "ours", "stock") is None


def test_every_group_has_its_rows() -> None:
    titles = [title for title, _ in figures.groups(numbers.everything())]
    assert titles == [*figures.GROUPS, "Load", "Engine", *figures.CURVES]


def test_a_curve_goes_from_small_to_big() -> None:
    names = {
        "load curve time 1000",
        "load curve time 200",
        "load curve memory 100",
        "load time x 9",
    }
    rows = figures.curve_rows(names)["Load by size"]
    assert [row.text for row in rows] == [
        "200 nodes: time",
        "1,000 nodes: time",
        "100 nodes: memory",
    ]
    assert rows[1].value({"ours": {"load curve time 1000": [3.0, 1.0, 2.0]}}, "ours") == 2.0
