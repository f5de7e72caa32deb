"""The pictures of a report."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from condor_pydagman.report.charts import LABELS, WIDTH, concurrency_chart, timeline
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
    assert re.findall(r'class="tick"[^>]*>(\d+)', text)[::6] == ["1000", "1040"]


def test_a_concurrency_chart_is_well_formed() -> None:
    seen = concurrency(spans(make_run(), 1040.0), 1000.0, 1040.0)
    tree = ElementTree.fromstring(concurrency_chart(seen, 1040.0, clock))
    kinds = [element.attrib.get("class") for element in tree.iter("path")]
    assert {"run", "idle", "pre", "post"} <= set(kinds)
