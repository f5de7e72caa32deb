"""A cost by size is a line over two logarithmic axes."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from benchmarks import bars, lines

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*points: list[tuple[float, float]]) -> ElementTree.Element:
    made = [lines.Line(f"line {n}", "#123456", some) for n, some in enumerate(points)]
    return ElementTree.fromstring(lines.draw("Title", "note", "nodes", made))


def spots(svg: ElementTree.Element) -> list[tuple[float, float]]:
    found = svg.iter(f"{SVG}circle")
    return [(float(one.get("cx", "")), float(one.get("cy", ""))) for one in found]


def test_a_line_in_proportion_to_the_size_is_straight() -> None:
    (x0, y0), (x1, y1), (x2, y2) = spots(drawn([(100, 0.1), (1000, 1.0), (10_000, 10.0)]))
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.1)
    assert y1 - y0 == pytest.approx(y2 - y1, abs=0.1)
    assert x0 < x1
    assert y0 > y1  # upward


def test_names_of_lines_that_end_at_the_same_place_can_be_read() -> None:
    same = [(100.0, 1.0), (1000.0, 2.0)]
    svg = drawn(same, same, same)
    names = [one for one in svg.iter(f"{SVG}text") if (one.text or "").startswith("line")]
    places = sorted(float(one.get("y", "")) for one in names)
    assert all(after - before >= lines.APART for before, after in zip(places, places[1:]))


@pytest.mark.parametrize("points", [[(100.0, 0.0)], [(100.0, 5.0)], [(1.0, 1e-9), (1e9, 1e9)]])
def test_odd_numbers_make_a_chart_too(points: list[tuple[float, float]]) -> None:
    svg = drawn(points)
    for x, y in spots(svg):
        assert lines.LEFT <= x <= bars.WIDTH - lines.RIGHT
        assert lines.TOP <= y <= lines.HEIGHT - lines.BOTTOM
