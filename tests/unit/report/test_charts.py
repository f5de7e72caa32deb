"""The pictures of a report."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from condor_pydagman.report.charts import LABELS, WIDTH, _ticks, concurrency_chart, timeline
from condor_pydagman.report.spans import Span, TimeAxis, concurrency, spans, time_axis
from tests.unit.report.runs import make_run


def clock(when: float) -> str:
    return f"{when:.0f}"


def test_a_timeline_has_each_part_where_it_belongs() -> None:
    found = spans(make_run(), 1040.0)
    text = timeline(found, {}, TimeAxis(1000.0, 1040.0), clock, clock)
    tree = ElementTree.fromstring(text)  # made here
    bars = [element.attrib for element in tree.iter("rect")]
    assert [bar["class"] for bar in bars].count("run") == 5
    first = next(bar for bar in bars if bar["class"] == "run")
    scale = (WIDTH - LABELS) / 40
    assert float(first["x"]) == LABELS + 4 * scale
    assert float(first["width"]) == 6 * scale
    assert text.count('class="failed"') == 2
    ticks = re.findall(r'class="tick"[^>]*>(\d+)', text)
    assert ticks == [str(when) for when in range(1000, 1041, 5)]


@pytest.mark.parametrize(
    ("begin", "end", "first", "number"),
    [(3.5, 67.2, 10, 6), (5.0, 5.0, 5, 1), (100, 90000, 14400, 6), (0, 40 * 86400, 0, 9)],
)
def test_ticks_are_at_round_times(begin: float, end: float, first: float, number: int) -> None:
    found = list(_ticks(TimeAxis(begin, end)))
    assert (found[0], len(found)) == (first, number)


def test_a_concurrency_chart_is_well_formed() -> None:
    axis = TimeAxis(1000.0, 1040.0)
    seen = concurrency(spans(make_run(), 1040.0), axis)
    tree = ElementTree.fromstring(concurrency_chart(seen, axis, clock))
    kinds = [element.attrib.get("class") for element in tree.iter("path")]
    assert {"run", "idle", "pre", "post"} <= set(kinds)


def test_a_time_that_is_cut_out_is_a_band_with_its_length() -> None:
    found = spans(make_run(), 1040.0)
    late = Span(
        "E", 0, 1040.0, 87500.0, (("held", 1040.0, 87440.0), ("run", 87440.0, 87500.0)), None
    )
    axis = time_axis([*found, late], 1000.0, 87500.0)
    text = timeline([*found, late], {}, axis, clock, clock)
    ElementTree.fromstring(text)
    assert text.count('class="cut"') == 1
    assert "nothing ran for 1 d" in text
    assert "// 1 d //" in text
    runs = re.findall(r'class="run" x="([\d.]+)" y="\d+" width="([\d.]+)"', text)
    assert all(float(width) > 5 for _, width in runs)
    ticks = [int(when) for when in re.findall(r'class="tick"[^>]*>(\d+)', text)]
    assert not any(1041 < when < 87439 for when in ticks)
