"""Draws groups of horizontal bars as SVG.

Without a charting library: their files are a hundred times as long or hard to read, and they need
more packages than the program itself.  The same numbers give the same bytes, so that a change of a
chart shows the change of the numbers.
"""

from __future__ import annotations

import math
from typing import NamedTuple
from xml.etree import ElementTree

WIDTH = 860  # the width of a page of a code host
MARGIN = 16  # left of titles
LEFT, RIGHT = 230, 120  # room for the labels of groups, and for a number beside the longest bar
BAR, GAP, BETWEEN = 20, 4, 18
TOP, BOTTOM = 92, 34
GREY = "#444444"
FONT = "Helvetica, Arial, DejaVu Sans, sans-serif"


class Bar(NamedTuple):
    """`text` stands beside it."""

    colour: str
    value: float
    text: str


class Group(NamedTuple):
    """Some bars with one label."""

    label: str
    bars: list[Bar]


class Scale:
    """From numbers to places on the axis, from 0 or, if logarithmic, from a power of ten."""

    def __init__(self, values: list[float], logarithmic: bool) -> None:
        self._logarithmic = logarithmic
        greatest = max(values, default=0.0) or 1.0
        positive = [value for value in values if value > 0] or [1.0]
        self.low = 10.0 ** math.floor(math.log10(min(positive)) - 1e-9) if logarithmic else 0.0
        self.high = 10.0 ** math.ceil(math.log10(greatest)) if logarithmic else greatest
        if self.high <= self.low:
            self.high = self.low * 10

    def part(self, value: float) -> float:
        """How far along the axis, 0 to 1."""
        value = min(max(value, self.low), self.high)
        if self._logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return value / self.high

    def ticks(self) -> list[float]:
        """Round numbers, the powers of ten on a logarithmic axis."""
        if self._logarithmic:
            count = round(math.log10(self.high / self.low))
            return [self.low * 10**power for power in range(count + 1)]
        rough = self.high / 5
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
        return [step * number for number in range(int(self.high / step * 1.001) + 1)]


def draw(
    title: str,
    note: str,
    groups: list[Group],
    legend: list[tuple[str, str]],
    *,
    logarithmic: bool = False,
) -> str:
    """The picture as SVG.

    Args:
        note: a line below the title: what the numbers are and which are better.
        legend: colour and name, in the order of the bars.
    """
    values = [bar.value for group in groups for bar in group.bars]
    scale = Scale(values, logarithmic)
    inner = sum(len(group.bars) * (BAR + GAP) + BETWEEN for group in groups)
    height = TOP + inner + BOTTOM
    svg = canvas(title, note, height)
    _legend(svg, legend)
    _axis(svg, scale, TOP + inner)
    y = TOP + BETWEEN / 2
    for group in groups:
        tall = len(group.bars) * (BAR + GAP) - GAP
        write(svg, LEFT - 12, y + tall / 2 + 5, group.label, size=14, anchor="end")
        for bar in group.bars:
            _bar(svg, scale, y, bar)
            y += BAR + GAP
        y += BETWEEN
    ElementTree.indent(svg)
    return ElementTree.tostring(svg, encoding="unicode") + "\n"


def canvas(title: str, note: str, height: float) -> ElementTree.Element:
    """An empty picture with its title, and a line below that."""
    svg = element(None, "svg", xmlns="http://www.w3.org/2000/svg", role="img")
    svg.attrib.update(viewBox=f"0 0 {WIDTH} {height}", width=str(WIDTH), height=str(height))
    svg.set("font-family", FONT)
    element(svg, "title").text = title
    element(svg, "rect", width=WIDTH, height=height, fill="#ffffff")
    write(svg, MARGIN, 28, title, size=19, weight="bold")
    write(svg, MARGIN, 50, note, size=14, colour=GREY)
    return svg


def _place(scale: Scale, value: float) -> float:
    return LEFT + scale.part(value) * (WIDTH - LEFT - RIGHT)


def _bar(svg: ElementTree.Element, scale: Scale, y: float, bar: Bar) -> None:
    end = _place(scale, bar.value)
    long = max(end - LEFT, 1.0)
    element(svg, "rect", x=LEFT, y=y, width=long, height=BAR, fill=bar.colour)
    write(svg, end + 6, y + BAR - 5, bar.text, size=14)


def _legend(svg: ElementTree.Element, legend: list[tuple[str, str]]) -> None:
    widths = [48 + 7.2 * len(name) for _, name in legend]
    x = float(LEFT if LEFT + sum(widths) <= WIDTH else MARGIN)
    for (colour, name), width in zip(legend, widths):
        element(svg, "rect", x=x, y=64, width=14, height=14, fill=colour)
        write(svg, x + 20, 76, name, size=14)
        x += width


def _axis(svg: ElementTree.Element, scale: Scale, bottom: float) -> None:
    for tick in scale.ticks():
        x = _place(scale, tick)
        line = element(svg, "line", x1=x, x2=x, y1=TOP, y2=bottom, stroke="#dddddd")
        if tick == scale.low:
            line.set("stroke", GREY)
        write(svg, x, bottom + 18, f"{tick:,.10g}", size=13, anchor="middle", colour=GREY)


def write(
    svg: ElementTree.Element,
    x: float,
    y: float,
    text: str,
    *,
    size: int,
    anchor: str = "start",
    weight: str = "normal",
    colour: str = "#000000",
) -> None:
    """Put a text at a place."""
    made = element(svg, "text", x=x, y=y, fill=colour)
    made.attrib.update({"font-size": str(size), "text-anchor": anchor, "font-weight": weight})
    made.text = text


def element(
    parent: ElementTree.Element | None, tag: str, **attributes: str | float
) -> ElementTree.Element:
    """A new element, the last in its parent."""
    texts = {
        name: value if isinstance(value, str) else f"{value:.6g}"
        for name, value in attributes.items()
    }
    made = ElementTree.Element(tag, texts)
    if parent is not None:
        parent.append(made)
    return made
