"""The picture of what slots do: jobs side by side, tasks on them."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from benchmarks import bars, slot_chart
from benchmarks.slot_chart import Run, Task

COLOURS = {"one": "#111111", "other": "#222222"}
SVG = "{http://www.w3.org/2000/svg}"


def test_jobs_that_overlap_are_in_rows_of_their_own() -> None:
    first, second = Task("1", "one", 0.0, 4.0), Task("2", "one", 1.0, 2.0)
    third, fourth = Task("3", "one", 2.0, 3.0), Task("1", "other", 4.0, 5.0)
    found = slot_chart.lanes([fourth, third, second, first])
    assert found == [[[first, fourth]], [[second], [third]]]


def test_every_run_has_its_label_its_rows_and_its_tasks() -> None:
    runs = [
        Run("two slots", [Task("1", "one", 0.0, 10.0), Task("2", "other", 5.0, 10.0)]),
        Run("a slot", [Task("1", "one", 0.0, 2.5), Task("1", "one", 2.5, 5.0)]),
    ]
    svg = ElementTree.fromstring(slot_chart.draw("Title", "note", runs, COLOURS))
    texts = {one.text for one in svg.iter(f"{SVG}text")}
    assert {"Title", "note", "one", "other", "two slots", "a slot", "10 s"} <= texts
    shapes = [one.get("d", "") for one in svg.iter(f"{SVG}path") if one.get("fill") == "#111111"]
    wide = bars.WIDTH - slot_chart.LEFT - slot_chart.RIGHT
    lengths = [float(shape.partition("h")[2].partition("v")[0]) for shape in shapes]
    assert lengths == [wide, wide / 2], "tasks that follow each other are one box"


@pytest.mark.parametrize("tasks", [[], [Task("1", "one", 0.0, 0.0)]])
def test_odd_runs_have_a_picture_too(tasks: list[Task]) -> None:
    assert slot_chart.draw("Title", "note", [Run("odd", tasks)], COLOURS).startswith("<svg")
