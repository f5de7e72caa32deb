"""The pictures of a report."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from condor_pydagman.report.charts import LABELS, WIDTH, _ticks, concurrency_chart, timeline
from condor_pydagman.report.concurrency import concurrency
from condor_pydagman.report.spans import spans
from tests.unit.report.runs import make_run


def clock(when: float) -> str:
    return f"{when:.0f}"


def test_a_timeline_has_each_part_where_it_belongs() -> None:
    found = spans(make_run(), 1040.0)
    text = timeline(found, {}, 1000.0, 1040.0, clock, clock)
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
    found = list(_ticks(begin, end))
    assert (found[0], len(found)) == (first, number)


def test_a_concurrency_chart_is_well_formed() -> None:
    seen = concurrency(spans(make_run(), 1040.0), 1000.0, 1040.0)
    tree = ElementTree.fromstring(concurrency_chart(seen, 1040.0, clock))
    kinds = [element.attrib.get("class") for element in tree.iter("path")]
    assert {"run", "idle", "pre", "post"} <= set(kinds)
