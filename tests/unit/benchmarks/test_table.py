"""Tables are whole Markdown, whatever is missing."""

from __future__ import annotations

from benchmarks import table
from benchmarks.figures import GROUPS, Row
from tests.unit.benchmarks import numbers

ROWS = [Row("time", "t"), Row("rate", "r", "/s", 0, more_is_better=True)]


def test_a_table() -> None:
    results = {
        "stock": {"t": [30.0]},
        "ours": {"t": [1.0], "r": [1234.0]},
        "floor": {"r": [1500.0]},
    }
    assert table.render(ROWS, results).splitlines() == [
        "|  | bare loop | stock | ours | ours better than stock | ours better than bare loop |",
        "|---|---:|---:|---:|---:|---:|",
        "| time | - | 30.0 s | 1.0 s | 30 | - |",
        "| rate | 1,500 /s | - | 1,234 /s | - | 0.82 |",
    ]


def test_without_ours_nothing_is_compared() -> None:
    lines = table.render(ROWS[:1], {"stock": {"t": [30.0]}}).splitlines()
    assert lines == ["|  | stock |", "|---|---:|", "| time | 30.0 s |"]


def test_all_tables_have_all_rows() -> None:
    text = table.everything(numbers.everything())
    for rows in GROUPS.values():
        for row in rows:
            assert f"| {row.text} |" in text
    for block in text.split("\n\n"):
        cells = {line.count("|") for line in block.splitlines() if line.startswith("|")}
        assert len(cells) <= 1, block


def test_a_unit_that_is_none_leaves_no_blank() -> None:
    assert "| 2 |" in table.render([Row("wakes", "w", "", 0)], {"ours": {"w": [2.0]}})
