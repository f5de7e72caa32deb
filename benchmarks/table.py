"""The table that people read, in Markdown."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

Numbers = dict[str, list[float]]


class Row(NamedTuple):
    """One line: where its numbers are, how many become one, and how it is shown.

    `factor` turns seconds, which all times are in, into the unit shown.
    """

    text: str
    name: str
    of: Callable[[list[float]], float]
    unit: str
    factor: float = 1.0
    digits: int = 1
    more_is_better: bool = False


def median(values: list[float]) -> float:
    """The middle value, or the mean of the two in the middle."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def percentile95(values: list[float]) -> float:
    """The smallest value that 95 % of all do not exceed."""
    ordered = sorted(values)
    return ordered[-(-len(ordered) * 95 // 100) - 1]


ROWS = [
    Row("reaction: end of parent to submit of child, median", "reaction", median, "ms", 1000),
    Row("the same, 95 % are below", "reaction", percentile95, "ms", 1000),
    Row("start of DAGMan to first submit", "start", median, "ms", 1000, 0),
    Row("chain, whole run", "chain", median, "s"),
    Row("bag of no-op jobs, whole run", "bag", median, "s"),
    Row("bag of no-op jobs, submit rate", "rate", median, "/s", digits=0, more_is_better=True),
    Row("bag of held jobs, submit rate", "held rate", median, "/s", digits=0, more_is_better=True),
    Row("idle: CPU a minute", "cpu", median, "s", digits=2),
    Row("idle: RSS", "rss", median, "MB"),
    Row("idle: PSS", "pss", median, "MB"),
]


def render(results: dict[str, Numbers]) -> str:
    """The table of what was measured; an absent number is shown as a dash.

    "better by" is a factor: below 1 the stock program is the better one.
    """
    lines = [
        "| what | bare loop | stock | ours | ours better by | ours / bare loop |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    measured = {name for numbers in results.values() for name in numbers}
    for row in (row for row in ROWS if row.name in measured):
        floor, stock, ours = (_value(results[which], row) for which in ("floor", "stock", "ours"))
        shown = " | ".join(_shown(value, row) for value in (floor, stock, ours))
        better = _ratio(ours, stock) if row.more_is_better else _ratio(stock, ours)
        lines.append(f"| {row.text} | {shown} | {better} | {_ratio(ours, floor)} |")
    return "\n".join(lines) + "\n"


def _value(numbers: Numbers, row: Row) -> float | None:
    values = numbers.get(row.name)
    return row.of(values) if values else None


def _shown(value: float | None, row: Row) -> str:
    return "-" if value is None else f"{value * row.factor:,.{row.digits}f} {row.unit}"


def _ratio(upper: float | None, lower: float | None) -> str:
    if upper is None or not lower:
        return "-"
    return f"{upper / lower:,.2f}" if upper < 10 * lower else f"{upper / lower:,.0f}"
