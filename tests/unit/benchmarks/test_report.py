"""A run's tables, charts and numbers are put into the page, and nothing else is touched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from benchmarks import aims, charts, figures, measure, peers_table, report, sizes
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
        "peers": {"Dask": "1.2"},
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


def test_a_later_run_replaces_the_numbers_of_its_steps() -> None:
    earlier = told({"ours": {"fan makespan": [9.0], "bag": [1.0]}})
    earlier["failures"] = ["fan, ours: it is gone", "chain, ours: it is gone"]
    later = {**told({"ours": {"fan makespan": [3.0]}}), "failures": [], "seconds": 120.0}
    page = report.updated(earlier, later, ["fan"])
    assert page["numbers"] == {"ours": {"fan makespan": [3.0], "bag": [1.0]}}
    assert page["failures"] == ["chain, ours: it is gone"]
    assert "Measured again, x, in 2 minutes: fan." in report.parts(page, [])["run"]


def test_a_failure_is_told_without_the_directories_of_the_machine() -> None:
    failed = {**told({}), "failures": ["held, floor: /opt/bin/python /tmp/floor.py: no\nmore"]}
    assert report.parts(failed, [])["run"].endswith("\nFailed: held, floor: python floor.py: no\n")


def test_what_was_not_measured_is_said() -> None:
    texts = report.parts(told({"ours": {}}), [])
    assert "Not measured" in report.filled(PAGE, texts)
    assert texts["aims"].count("not measured") == len(aims.AIMS)
    assert "chain, ours: it is gone" in texts["run"]


def test_the_page_has_a_place_for_each_table() -> None:
    text = (DOCS / "performance.md").read_text(encoding="utf-8")
    names = ["aims", "run", *figures.GROUPS, "Load", "Engine", *figures.CURVES, peers_table.GROUP]
    for name in names:
        assert text.count(f"<!-- begin {name} -->") == text.count(f"<!-- end {name} -->") == 1


def test_every_chart_is_drawn_from_whole_numbers(tmp_path: Path) -> None:
    made = charts.write(tmp_path, numbers.everything())
    assert made == list(charts.ALL_CHARTS)
    for chart in made:
        root = ElementTree.parse(tmp_path / f"{chart.file}.svg").getroot()
        assert root.tag.endswith("svg")
    known = {*figures.GROUPS, "Load", *figures.CURVES, peers_table.GROUP}
    assert {chart.group for chart in made} <= known


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
        "stock": {
            "reaction": [9.9],
            "many idle pss": [100.0],
            "recovery time": [4.0],
            "load time vars 1000000": [10.0],
            "load time bare 100000": [1.0],
            "load time bare 1000": [1.0],
        },
        "tuned": {"held rate": [90.0], "held rate 10000": [60.0]},
        "together": {"held rate 10000": [330.0], "crowd share": [0.1]},
        "ours": {
            "reaction": [0.005],
            "many idle pss": [640.0],
            "recovery time": [3.9],
            "held rate": [80.0],
            "held rate 10000": [66.0],
            "crowd share": [0.4],
            "submit_dag": [0.042],
            "start": [0.150],
            "load time vars 1000000": [3.5],
            "load time bare 100000": [0.6],
            "load time bare 1000": [9.0],
            "idle cpu": [0.002],
            "idle uss": [7.0],
            **{f"{shape} makespan": [104.0] for shape in measure.WORKFLOWS},
        },
        "floor": {
            "held rate": [100.0],
            "held rate, DAG's job": [88.0],
            **{f"{shape} makespan": [100.0] for shape in measure.WORKFLOWS},
        },
    }
    judged = {aim.text.partition(":")[0].split(" with")[0]: aim.judge(results) for aim in aims.AIMS}
    assert {text: found and found[1] for text, found in judged.items()} == {
        "reaction 100 times shorter than stock's": True,
        "bag of held jobs at 90 % of the rate of a bare loop": True,
        "bags of held jobs, one by one": False,
        "10,000 held jobs, nodes together": True,
        "CPU of DAGMan below 20 % while no-op jobs pass through the pool, nodes together": True,
        "makespan of each workflow": True,
        "start": False,
        "loading 100,000 nodes and more": False,
        "loading 1,000,000 nodes": True,
        "recovery no slower than stock's": True,
        "idle": True,
        "many idle ones": False,
        "orders": None,
        "retries and timeouts": None,
    }
    text = aims.render(results)
    assert "91% (80% of one whose jobs" in text
    assert "1,980 times" in text
    assert "PSS 6.40" in text
    assert "| 500 jobs 89%, 10,000 jobs 110% | **missed** |" in text
    assert "| 5.5 times | reached |" in text
    assert "| together 10%, one by one 40% | reached |" in text
    assert "| 35% to 60%; 100,000 nodes, bare: time 60% | **missed** |" in text


def test_the_slowest_order_counts() -> None:
    found = {"obeyed event": [0.1], "obeyed halt": [0.2, 1.1], "obeyed hold": [0.1]}
    text = aims.render({"ours": {**found, "retry late": [0.1, 0.9], "timeout late": [0.2]}})
    assert "while the schedd hangs | 1,100 ms | **missed** |" in text
    assert "at most 1 s late | 900 ms | reached |" in text


def test_an_idle_dagman_must_need_little_of_both() -> None:
    for uss, said in ((8.0, "reached"), (8.1, "missed")):
        text = aims.render({"ours": {"idle uss": [uss]}})
        assert f"| {uss} MB | " in text
        assert said in next(line for line in text.splitlines() if "USS" in line)


def test_one_workflow_that_is_late_misses_the_aim() -> None:
    one, other, *_ = measure.WORKFLOWS
    floor = {f"{one} makespan": [100.0], f"{other} makespan": [100.0]}
    ours = {f"{one} makespan": [90.0], f"{other} makespan": [106.0]}
    text = aims.render({"floor": floor, "ours": ours})
    assert "-10.0%" in text
    assert "+6.0%" in text
    assert "missed" in text
