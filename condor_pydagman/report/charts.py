"""The pictures of a report, as SVG: timeline and concurrency.

Colours are those of the page's style sheet, so that they follow light, dark and print.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from math import ceil

from condor_pydagman.printable import printable
from condor_pydagman.report.spans import PARTS, Concurrency, Span, TimeAxis, concurrency
from condor_pydagman.words import duration, number

WIDTH = 1000  # of a picture, in its own units
LABELS = 170  # of it for names
ROW = 16
LANE = 34
MAX_ROWS = 200  # nodes with a row of their own; of more, each group has one
MAX_LANES = 40
AXIS = 22
CHART = 160
TICKS = 8  # at most
TICK_WIDTH = 70
# Of an axis; longer ones are multiples of a day.
STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600,
           43200, 86400)  # fmt: skip
NAMES = {"pre": "PRE script", "idle": "waiting in the queue", "held": "held", "run": "running",
         "post": "POST script"}  # fmt: skip
_STACKED = ("run", "idle", "held", "pre", "post")  # from below
_MAX_LABEL = 26

Clock = Callable[[float], str]


def timeline(
    found: Sequence[Span],
    groups: Mapping[str, str],
    axis: TimeAxis,
    clock: Clock,
    tick: Clock,
    *,
    most_rows: int = MAX_ROWS,
) -> str:
    """What each node did when; of many nodes, how many of each group did it.

    Args:
        groups: the group of each node.
        tick: a time on the axis.
        most_rows: nodes with a row of their own.
    """
    by_node: dict[str, list[Span]] = {}
    for span in found:
        by_node.setdefault(span.node, []).append(span)
    if len(by_node) <= most_rows:
        rows = list(_rows(by_node, axis, clock))
        return _svg(rows, len(by_node) * ROW, axis, tick, "timeline of nodes")
    by_group: dict[str, list[Span]] = {}
    for span in found:
        by_group.setdefault(groups[span.node], []).append(span)
    kept = sorted(by_group, key=lambda name: -len(by_group[name]))[:MAX_LANES]
    lanes = [part for row, name in enumerate(kept)
             for part in _lane(name, by_group[name], row, axis)]  # fmt: skip
    return _svg(lanes, len(kept) * LANE, axis, tick, "timeline of groups of nodes")


def concurrency_chart(seen: Concurrency, axis: TimeAxis, tick: Clock) -> str:
    """How many attempts waited, ran and ran scripts, stacked."""
    top = max(map(sum, zip(*(seen.counts[part] for part in PARTS))), default=0.0) or 1.0
    parts = [
        f'<text class="label" x="{LABELS - 8}" y="12" text-anchor="end">{number(top)}</text>',
        f'<text class="label" x="{LABELS - 8}" y="{CHART}" text-anchor="end">0</text>',
        *_areas(seen, 0, CHART, top),
    ]
    return _svg(parts, CHART, axis, tick, "jobs and scripts at a time")


def _rows(by_node: Mapping[str, list[Span]], axis: TimeAxis, clock: Clock) -> Iterator[str]:
    for row, (name, own) in enumerate(by_node.items()):
        y = row * ROW
        yield _label(name, y + ROW - 4)
        for span in own:
            for kind, since, until in span.parts:
                x, width = _place(since, until, axis)
                what = f"{name}: {NAMES[kind]} {duration(until - since)}, from {clock(since)}"
                yield (
                    f'<rect class="{kind}" x="{x}" y="{y + 2}" width="{width}" height="{ROW - 4}">'
                    f"<title>{safe_html(what)}</title></rect>"
                )
            if span.failed:
                x, _ = _place(span.end, span.end, axis)
                what = f"{name}: attempt {span.number + 1} failed at {clock(span.end)}"
                yield (
                    f'<path class="failed" d="M{x - 4} {y + 3}l8 {ROW - 6}m0 -{ROW - 6}'
                    f'l-8 {ROW - 6}"><title>{safe_html(what)}</title></path>'
                )


def _lane(name: str, own: Sequence[Span], row: int, axis: TimeAxis) -> Iterator[str]:
    """How many attempts of a group did what, as stacked areas; each group has its own scale."""
    y = row * LANE
    seen = concurrency(own, axis)
    top = max(map(sum, zip(*(seen.counts[part] for part in PARTS))), default=0.0) or 1.0
    yield _label(name, y + LANE - 18)
    place = f'x="{LABELS - 8}" y="{y + LANE - 6}" text-anchor="end"'
    yield f'<text class="scale" {place}>up to {number(top)}</text>'
    yield f"<g><title>{safe_html(name)}: {len(own)} attempts</title>"
    yield from _areas(seen, y + 3, LANE - 6, top)
    yield "</g>"


def _areas(seen: Concurrency, y: float, height: float, top: float) -> Iterator[str]:
    """Stacked areas, the first kind at the bottom."""
    base = [0.0] * len(seen.counts[_STACKED[0]])
    step = (WIDTH - LABELS) / len(base)
    for kind in _STACKED:
        upper = [low + value for low, value in zip(base, seen.counts[kind])]
        if any(seen.counts[kind]):
            steps = [_corner(n, value, step, y, height, top) for n, value in enumerate(upper)]
            back = [_corner(n, value, step, y, height, top, back=True)
                    for n, value in reversed(list(enumerate(base)))]  # fmt: skip
            path = "M" + "L".join((*steps, *back)) + "Z"
            yield f'<path class="{kind}" d="{path}"><title>{NAMES[kind]}</title></path>'
        base = upper


def _corner(
    n: int, value: float, step: float, y: float, height: float, top: float, *, back: bool = False
) -> str:
    """Both ends of a step of an area's edge."""
    level = f"{y + height * (1 - value / top):.1f}"
    left, right = f"{LABELS + n * step:.1f} {level}", f"{LABELS + (n + 1) * step:.1f} {level}"
    return f"{right}L{left}" if back else f"{left}L{right}"


def _svg(parts: Sequence[str], height: int, axis: TimeAxis, tick: Clock, title: str) -> str:
    """A picture with a time axis below it."""
    return "\n".join(
        (
            f'<svg viewBox="0 0 {WIDTH} {height + AXIS}" role="img" aria-label="{title}">',
            *_axis(height, axis, tick),
            *parts,
            *_breaks(height, axis),
            "</svg>",
        )
    )


def _axis(height: int, axis: TimeAxis, tick: Clock) -> Iterator[str]:
    breaks = [sum(_place(since, until, axis)) for since, until in axis.cuts]
    for when in _ticks(axis):
        x, _ = _place(when, when, axis)
        anchor = "end" if x > WIDTH - TICK_WIDTH / 2 else "middle"
        yield f'<path class="grid" d="M{x} 0V{height}"/>'
        if all(abs(x - one) > TICK_WIDTH for one in breaks):
            place = f'x="{x}" y="{height + 16}" text-anchor="{anchor}"'
            yield f'<text class="tick" {place}>{tick(when)}</text>'


def _breaks(height: int, axis: TimeAxis) -> Iterator[str]:
    """Times that are cut out: bands over all rows, with their lengths."""
    free_from = 0.0
    for since, until in axis.cuts:
        x, width = _place(since, until, axis)
        lasted = duration(until - since)
        yield (
            f'<g><rect class="cut" x="{x}" y="0" width="{width}" height="{height}"/>'
            f'<path class="edge" d="M{x} 0V{height}M{round(x + width, 1)} 0V{height}"/>'
            f"<title>nothing ran for {lasted}</title></g>"
        )
        if x < free_from:
            continue
        free_from = x + 2 * TICK_WIDTH
        anchor = "end" if x + width > WIDTH - TICK_WIDTH else "middle"
        middle = WIDTH if anchor == "end" else round(x + width / 2, 1)
        place = f'x="{middle}" y="{height + 16}" text-anchor="{anchor}"'
        yield f'<text class="break" {place}>// {lasted} //</text>'


def _ticks(axis: TimeAxis) -> Iterator[float]:
    """Round times that are on the axis: multiples of a step."""
    length = axis.length
    step = next((step for step in STEPS_S if length / step <= TICKS), 0.0)
    step = step or STEPS_S[-1] * ceil(length / STEPS_S[-1] / TICKS)
    for begin, end in axis.kept():
        when = ceil(begin / step) * step
        while when <= end:
            yield float(when)
            when += step


def _place(since: float, until: float, axis: TimeAxis) -> tuple[float, float]:
    """Where a time lies on the axis, and how long it is there: one unit at least."""
    scale = (WIDTH - LABELS) / max(axis.length, 1e-3)
    x, end = axis.at(since) * scale, axis.at(until) * scale
    return round(LABELS + x, 1), round(max(end - x, 1.0), 1)


def _label(name: str, y: float) -> str:
    shown = printable(name)
    short = shown if len(shown) <= _MAX_LABEL else f"{shown[: _MAX_LABEL - 1]}…"
    return (
        f'<text class="label" x="{LABELS - 8}" y="{y}" text-anchor="end">{escape(short)}'
        f"<title>{safe_html(name)}</title></text>"
    )


def safe_html(text: str) -> str:
    """Text from elsewhere, without markup and control characters."""
    return escape(printable(text))
