"""Which charts the report has.

Colours are those of Okabe and Ito, which people of all kinds of colour vision tell apart; each bar
has its number beside it, so that colour is never all there is.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from benchmarks import bars
from benchmarks.figures import Results, Row, groups
from benchmarks.measure import WORKFLOWS
from benchmarks.subjects import ALL
from benchmarks.table import TITLES

COLOURS = dict(zip(ALL, ("#999999", "#d55e00", "#e69f00", "#0072b2")))
SHORTER, LONGER = "shorter is better", "longer is better"


class Chart(NamedTuple):
    """One picture: a group of bars for each row, one bar for each subject.

    Attributes:
        file: its name without `.svg`.
        group: which table it stands beside.
        names: of the rows; all that begin with one of them.
        labels: name of a row, and what stands beside its bars instead of its text.
    """

    file: str
    group: str
    title: str
    note: str
    names: tuple[str, ...]
    logarithmic: bool = False
    labels: tuple[tuple[str, str], ...] = ()


CHARTS = (
    Chart(
        "reaction",
        "Reaction",
        "Reaction: from the end of a parent to the submit of its child",
        f"milliseconds, logarithmic scale; {SHORTER}",
        ("reaction",),
        logarithmic=True,
        labels=(("reaction", "median"),),
    ),
    Chart(
        "bags",
        "Bags",
        "Jobs submitted in a second",
        f"submits a second; {LONGER}",
        ("held rate", "no-op rate"),
        labels=(
            ("held rate", "held jobs"),
            ("held rate, DAG's job", "with a DAG's description"),
            ("no-op rate", "no-op jobs"),
        ),
    ),
    Chart(
        "workflows",
        "Workflows",
        "Makespan of scientific workflows",
        f"seconds from the first submit to the last end; {SHORTER}",
        tuple(f"{shape} makespan" for shape in WORKFLOWS),
    ),
    Chart(
        "wide",
        "Workflows",
        "Fan-out and fan-in, and one layer times another",
        f"seconds from the first submit to the last end, no-op jobs; {SHORTER}",
        ("fan makespan", "product makespan"),
    ),
    Chart(
        "load-time",
        "Load",
        "Time to load a DAG",
        f"seconds from start to end of condor_dagman; {SHORTER}",
        ("load time",),
    ),
    Chart(
        "load-memory",
        "Load",
        "Memory to load a DAG",
        f"greatest resident memory, MB; {SHORTER}",
        ("load memory",),
    ),
    Chart(
        "recovery",
        "Recovery",
        "Recovery after a crash",
        f"seconds from the start until the nodes log has been replayed; {SHORTER}",
        ("recovery time",),
    ),
    Chart(
        "idle-cpu",
        "Idle",
        "CPU of one idle DAGMan in a minute",
        f"milliseconds; {SHORTER}",
        ("idle cpu",),
    ),
    Chart(
        "many-memory",
        "Many",
        "Memory of many idle DAGMans",
        f"MB, all together; {SHORTER}",
        tuple(f"many idle {name}" for name in ("pss", "uss", "rss", "available")),
    ),
    Chart(
        "many-run",
        "Many",
        "Many DAGMans at once: until all have run five nodes",
        f"seconds; {SHORTER}",
        ("many run",),
    ),
)


def write(directory: Path, results: Results) -> list[Chart]:
    """Write all charts for which there are numbers; returns which.  Older ones are removed."""
    directory.mkdir(parents=True, exist_ok=True)
    for old in directory.glob("*.svg"):
        old.unlink()
    tables = dict(groups(results))
    made = []
    for chart in CHARTS:
        rows = [row for row in tables.get(chart.group, []) if row.name.startswith(chart.names)]
        # Rows that show the same numbers in another way are for tables.
        rows = list({row.name: row for row in reversed(rows)}.values())[::-1]
        if rows:
            text = draw(chart, rows, results)
            (directory / f"{chart.file}.svg").write_text(text, encoding="utf-8")
            made.append(chart)
    return made


def draw(chart: Chart, rows: list[Row], results: Results) -> str:
    """The picture as SVG."""
    shown = [one for one in ALL if any(row.value(results, one) is not None for row in rows)]
    return bars.draw(
        chart.title,
        chart.note,
        [bars.Group(_label(chart, row), _bars(row, results, shown)) for row in rows],
        [(COLOURS[one], TITLES[one]) for one in shown],
        logarithmic=chart.logarithmic,
    )


def _label(chart: Chart, row: Row) -> str:
    short = re.sub(r", first submit to last end$|: (time|memory)$", "", row.text)
    return dict(chart.labels).get(row.name, short)


def _bars(row: Row, results: Results, shown: list[str]) -> list[bars.Bar]:
    values = {one: row.value(results, one) for one in shown}
    return [
        bars.Bar(COLOURS[one], value, row.shown(value))
        for one, value in values.items()
        if value is not None
    ]
