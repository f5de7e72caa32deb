"""The tables that people read, in Markdown."""

from __future__ import annotations

from benchmarks.figures import Results, Row, better, groups
from benchmarks.subjects import ALL, FLOOR, FLOOR_TOGETHER, OURS, STOCK, TOGETHER, TUNED

TITLES = {
    FLOOR: "bare loop",
    FLOOR_TOGETHER: "bare loop, together",
    STOCK: "stock",
    TUNED: "stock, tuned",
    OURS: "ours",
    TOGETHER: "ours, together",
}


def everything(results: Results) -> str:
    """All tables, each with its name."""
    return "\n".join(f"{title}\n\n{render(rows, results)}" for title, rows in groups(results))


def render(rows: list[Row], results: Results) -> str:
    """A table of what was measured; an absent number is shown as a dash.

    Columns that would be empty are left out.  "ours better than" is a factor: below 1 ours is the
    worse one.
    """
    shown = [one for one in ALL if any(row.value(results, one) is not None for row in rows)]
    others = [one for one in (STOCK, TUNED, FLOOR) if one in shown and OURS in shown]
    heads = ["", *(TITLES[one] for one in shown)]
    heads += [f"ours better than {TITLES[one]}" for one in others]
    lines = [f"| {' | '.join(heads)} |", f"|---|{'---:|' * (len(heads) - 1)}"]
    for row in rows:
        cells = [row.shown(row.value(results, one)).strip() for one in shown]
        cells += [factor(better(row, results, OURS, one)) for one in others]
        lines.append(f"| {row.text} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def factor(value: float | None) -> str:
    """As many digits as it is worth."""
    if value is None:
        return "-"
    return f"{value:,.2f}" if value < 10 else f"{value:,.0f}"
