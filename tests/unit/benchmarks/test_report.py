"""A run's tables, charts and numbers are put into the page, and nothing else is touched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from benchmarks import aims, charts, figures, measure, report, sizes
from tests.unit.benchmarks import numbers

PAGE = """\
top
<!-- begin aims -->
old
<!-- end aims -->
by hand
<!-- begin Bags -->
<!-- end Bags -->
"""
DOCS = Path(__file__).resolve().parents[3] / "docs"


def told(results: figures.Results) -> dict[str, Any]:
    words = ("date", "system", "cores", "python", "htcondor", "load before")
    return {
        "machine": dict.fromkeys(words, "x"),
        "sizes": vars(sizes.FULL),
        "seconds": 600.0,
        "tuned": {"KNOB": "1"},
        "knobs": {},
        "failures": ["chain, ours: it is gone"],
        "numbers": results,
    }


def test_what_is_between_markers_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "performance.md").write_text(PAGE)
    report.write(tmp_path, told(numbers.everything()))
    text = (tmp_path / "performance.md").read_text()
    assert "old" not in text
    assert text.startswith("top\n<!-- begin aims -->\n\n| aim |")
    assert "<!-- end aims -->\nby hand\n" in text
    assert "![Jobs submitted in a second](charts/bags.svg)" in text
    again = json.loads((tmp_path / "charts" / "numbers.json").read_text())
    assert again["numbers"] == numbers.everything()


def test_the_same_run_gives_the_same_page(tmp_path: Path) -> None:
    (tmp_path / "performance.md").write_text(PAGE)
    seen = []
    for _ in range(2):
        report.write(tmp_path, told(numbers.everything()))
        seen.append([path.read_text() for path in sorted(tmp_path.rglob("*.*"))])
    assert seen[0] == seen[1]


def test_what_was_not_measured_is_said() -> None:
    texts = report.parts(told({"ours": {}}), [])
    assert "Not measured" in report.filled(PAGE, texts)
    assert texts["aims"].count("not measured") == len(aims.AIMS)
    assert "chain, ours: it is gone" in texts["run"]


def test_the_page_has_a_place_for_each_table() -> None:
    text = (DOCS / "performance.md").read_text(encoding="utf-8")
    for name in ("aims", "run", *figures.GROUPS, "Load", "Engine"):
        assert text.count(f"<!-- begin {name} -->") == text.count(f"<!-- end {name} -->") == 1


def test_every_chart_is_drawn_from_whole_numbers(tmp_path: Path) -> None:
    made = charts.write(tmp_path, numbers.everything())
    assert made == list(charts.CHARTS)
    for chart in made:
        root = ElementTree.parse(tmp_path / f"{chart.file}.svg").getroot()
        assert root.tag.endswith("svg")
    assert {chart.group for chart in made} <= {*figures.GROUPS, "Load"}


def test_charts_of_an_earlier_run_do_not_stay(tmp_path: Path) -> None:
    charts.write(tmp_path, numbers.everything())
    assert charts.write(tmp_path, {"ours": {"reaction": [0.005]}}) == [charts.CHARTS[0]]
    assert [path.name for path in tmp_path.iterdir()] == ["reaction.svg"]


def test_what_is_missing_has_no_bar(tmp_path: Path) -> None:
    charts.write(tmp_path, {"ours": {"reaction": [0.005]}, "stock": {"held rate": [2.0]}})
    text = (tmp_path / "reaction.svg").read_text()
    assert text.count(charts.COLOURS["ours"]) == 2  # its bar, and the legend
    assert charts.COLOURS["stock"] not in text


def test_aims_are_judged_by_ratios() -> None:
    results: figures.Results = {
        "stock": {"reaction": [9.9], "many idle pss": [100.0], "recovery time": [4.0]},
        "ours": {
            "reaction": [0.005],
            "many idle pss": [640.0],
            "recovery time": [3.9],
            "held rate": [80.0],
            "idle cpu": [0.002],
            **{f"{shape} makespan": [104.0] for shape in measure.WORKFLOWS},
        },
        "floor": {
            "held rate": [100.0],
            "held rate, DAG's job": [88.0],
            **{f"{shape} makespan": [100.0] for shape in measure.WORKFLOWS},
        },
    }
    lines = aims.render(results).splitlines()[2:]
    verdicts = [line.split(" | ")[-1].strip("|* ") for line in lines]
    expected = ["reached", "reached", "reached", "not measured", "reached", "reached", "missed"]
    assert verdicts == expected
    assert "91% (80% of one whose jobs" in lines[1]
    assert "1,980 times" in lines[0]
    assert "PSS 6.40" in lines[-1]


def test_one_workflow_that_is_late_misses_the_aim() -> None:
    one, other, *_ = measure.WORKFLOWS
    floor = {f"{one} makespan": [100.0], f"{other} makespan": [100.0]}
    ours = {f"{one} makespan": [90.0], f"{other} makespan": [106.0]}
    text = aims.render({"floor": floor, "ours": ours})
    assert "-10.0%" in text
    assert "+6.0%" in text
    assert "missed" in text
