"""The report of the torture test: tables of what was done and what came of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.torture.disturbances import DISTURBANCES

BEGIN, END = (
    "<!-- tables of the torture test: begin -->",
    "<!-- tables of the torture test: end -->",
)
# Column, its heading; what a record has of it is a number or a list.
COLUMNS = {
    "runs": "runs",
    "disturbances": "disturbances",
    "kills": "kills",
    "jobs": "jobs judged",
    "duplicates": "jobs run twice",
    "lost": "lost",
    "noted": "scripts repeated though noted",
    "wrong": "otherwise wrong",
    "by_schedd": "run again by the schedd",
    "scripts": "scripts",
    "scripts_again": "scripts run again",
}


def summarise(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each disturbance and program, and one for each program's sum."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for record in records:
        if "broken" in record or "skipped" in record:
            continue
        for disturbance in (record["disturbance"], "all"):
            key = (disturbance, record["flavour"])
            row = rows.setdefault(key, {"disturbance": disturbance, "flavour": record["flavour"]})
            for column in COLUMNS:
                value = 1 if column == "runs" else record.get(column, 0)
                number = len(value) if isinstance(value, list) else value
                row[column] = row.get(column, 0) + number
    order = [*DISTURBANCES, "all"]
    return sorted(rows.values(), key=lambda row: (row["flavour"], order.index(row["disturbance"])))


def table(rows: list[dict[str, Any]], flavour: str) -> str:
    """The rows of one program as a Markdown table."""
    lines = [["disturbance", *COLUMNS.values()], ["---", *(["--:"] * len(COLUMNS))]]
    for row in rows:
        if row["flavour"] == flavour:
            name = row["disturbance"]
            does = DISTURBANCES[name].does if name in DISTURBANCES else "**all**"
            lines.append([does, *(f"{row[column]:,}" for column in COLUMNS)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    """Put the tables into the page, between the marks; the prose around them stays.

    Raises:
        ValueError: the page has no marks.
    """
    text = path.read_text() if path.exists() else f"# The torture test\n\n{BEGIN}\n{END}\n"
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{path}: the lines {BEGIN} and {END} are missing")
    parts = [
        f"### {title}\n\n{table(rows, flavour)}"
        for flavour, title in (("ours", "Ours"), ("stock", "Stock"))
        if any(row["flavour"] == flavour for row in rows)
    ]
    path.write_text(f"{before}{BEGIN}\n\n" + "\n".join(parts) + f"\n{END}{after}")
