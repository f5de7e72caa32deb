"""Draws lines over two axes, logarithmic or not, as SVG, in the manner of `bars.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple
from xml.etree import ElementTree

from benchmarks import bars

HEIGHT = 420
LEFT, RIGHT = 84, 160  # room for the numbers of the axis, and for the name of a line at its end
TOP, BOTTOM = 70, 58
APART = 17  # between two names
DOTS = 50  # of a line with more points, these are not marked

Place = Callable[[float, float], tuple[float, float]]  # of a point in the picture


class Line(NamedTuple):
    """Points in the order of x; its name stands at its end."""

    name: str
    colour: str
    points: list[tuple[float, float]]


def draw(title: str, note: str, below: str, made: list[Line], *, logarithmic: bool = True) -> str:
    """The picture as SVG.

    Args:
        note: a line below the title: what the numbers are and which are better.
        below: what the numbers of the axis below are.
    """
    points = [point for line in made for point in line.points]
    sizes = [x for x, _ in points]
    # A bar must have a length, a point may lie on the axis: the scale begins at the smallest.
    across = bars.Scale([min(sizes) * (1 + 1e-6), max(sizes)], logarithmic)
    upward = bars.Scale([y for _, y in points], logarithmic)
    wide, tall = bars.WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        return LEFT + wide * across.part(x), HEIGHT - BOTTOM - tall * upward.part(y)

    svg = bars.canvas(title, note, HEIGHT)
    for tick in across.ticks():
        _rule(svg, *place(tick, upward.low), *place(tick, upward.high))
        x, y = place(tick, upward.low)
        bars.write(svg, x, y + 18, _number(tick), size=13, anchor="middle", colour=bars.GREY)
    for tick in upward.ticks():
        _rule(svg, *place(across.low, tick), *place(across.high, tick))
        x, y = place(across.low, tick)
        bars.write(svg, x - 8, y + 4, _number(tick), size=13, anchor="end", colour=bars.GREY)
    bars.write(svg, LEFT + wide / 2, HEIGHT - 12, below, size=14, anchor="middle", colour=bars.GREY)
    _draw_lines(svg, place, made)
    ElementTree.indent(svg)
    return ElementTree.tostring(svg, encoding="unicode") + "\n"


def _draw_lines(svg: ElementTree.Element, place: Place, made: list[Line]) -> None:
    above = float(TOP)  # names stand below each other, also where lines end at the same place
    for line in sorted(made, key=lambda line: place(*line.points[-1])[1]):
        spots = [place(*point) for point in line.points]
        drawn = " ".join(f"{x:.6g},{y:.6g}" for x, y in spots)
        path = bars.element(svg, "polyline", points=drawn, fill="none", stroke=line.colour)
        path.set("stroke-width", "2.5")
        for x, y in spots if len(spots) <= DOTS else ():
            bars.element(svg, "circle", cx=x, cy=y, r=3.5, fill=line.colour)
        x, y = spots[-1]
        above = max(y + 5, above + APART)
        bars.write(svg, x + 10, above, line.name, size=14, colour=line.colour)


def _rule(svg: ElementTree.Element, x1: float, y1: float, x2: float, y2: float) -> None:
    bars.element(svg, "line", x1=x1, y1=y1, x2=x2, y2=y2, stroke="#dddddd")


def _number(value: float) -> str:
    return f"{value:,.10g}"
