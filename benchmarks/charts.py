"""Which charts the report has.

Colours are those of Okabe and Ito, which people of all kinds of colour vision tell apart; each bar
has its number beside it, so that colour is never all there is.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple, Union

from benchmarks import bars, lines, peers_table
from benchmarks.figures import CURVES, Curve, Results, Row, groups
from benchmarks.measure import WORKFLOWS
from benchmarks.subjects import ALL
from benchmarks.table import TITLES

COLOURS = dict(zip(ALL, ("#999999", "#000000", "#d55e00", "#e69f00", "#0072b2", "#56b4e9")))
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
            ("held rate 10000", "10,000 held jobs"),
            ("no-op rate", "no-op jobs"),
        ),
    ),
    Chart(
        "crowd",
        "Crowd",
        "CPU of DAGMan while no-op jobs pass through the pool",
        f"percent of the elapsed time; {SHORTER}",
        ("crowd share",),
        labels=(("crowd share", "with its children"),),
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


class LineChart(NamedTuple):
    """A picture of a cost by size: a line for each subject, both axes logarithmic."""

    file: str
    group: str
    title: str
    note: str
    curve: Curve


class PeerChart(NamedTuple):
    """A picture of one column of the table of peers."""

    file: str
    group: str
    title: str
    note: str
    row: Row


_ALSO = "both axes logarithmic"
LINE_CHARTS = tuple(
    LineChart(file, group, title, f"{note}; {_ALSO}", CURVES[group][number])
    for file, group, number, title, note in (
        ("curve-load-time", "Load by size", 0, "Time to load a DAG by its size", "seconds"),
        ("curve-load-memory", "Load by size", 1, "Memory to load a DAG by its size", "MB"),
        (
            "curve-held",
            "Submission by size",
            0,
            "Held jobs submitted in a second",
            "higher is better",
        ),
        ("curve-engine", "Submission by size", 1, "CPU of the engine an input", "microseconds"),
        ("curve-recovery-time", "Recovery by size", 0, "Time to recover", "seconds"),
        ("curve-recovery-memory", "Recovery by size", 1, "Memory to recover", "MB"),
        ("curve-watch", "Looks by size", 0, "Time of watch --once", "seconds"),
        ("curve-report", "Looks by size", 1, "Time of report", "seconds"),
    )
)
PEER_CHARTS = (
    PeerChart(
        "peers-step",
        peers_table.GROUP,
        "A step of a chain of /bin/true",
        f"milliseconds, logarithmic scale; {SHORTER}",
        peers_table.ROWS[1],
    ),
    PeerChart(
        "peers-rate",
        peers_table.GROUP,
        "Tasks of a bag of /bin/true that are done in a second",
        f"logarithmic scale; {LONGER}",
        peers_table.ROWS[2],
    ),
)
AnyChart = Union[Chart, LineChart, PeerChart]
ALL_CHARTS: tuple[AnyChart, ...] = (*CHARTS, *LINE_CHARTS, *PEER_CHARTS)


def write(directory: Path, results: Results) -> list[AnyChart]:
    """Write all charts for which there are numbers; returns which.  Older ones are removed."""
    directory.mkdir(parents=True, exist_ok=True)
    for old in directory.glob("*.svg"):
        old.unlink()
    tables = dict(groups(results))
    made = []
    for chart in ALL_CHARTS:
        text = _picture(chart, tables, results)
        if text:
            (directory / f"{chart.file}.svg").write_text(text, encoding="utf-8")
            made.append(chart)
    return made


def _picture(chart: AnyChart, tables: dict[str, list[Row]], results: Results) -> str:
    """The picture as SVG; '' if there are no numbers for it."""
    if isinstance(chart, PeerChart):
        if not any(chart.row.value(results, one) for one in peers_table.SUBJECTS):
            return ""
        return peers_table.draw(chart.row, chart.title, chart.note, results)
    if isinstance(chart, LineChart):
        made = _lines(chart.curve, results)
        return lines.draw(chart.title, chart.note, "nodes", made) if made else ""
    rows = [row for row in tables.get(chart.group, []) if row.name.startswith(chart.names)]
    # Rows that show the same numbers in another way are for tables.
    rows = list({row.name: row for row in reversed(rows)}.values())[::-1]
    return draw(chart, rows, results) if rows else ""


def _lines(curve: Curve, results: Results) -> list[lines.Line]:
    made = []
    for one in ALL:
        rows = curve.rows(set(results.get(one, {})))
        values = ((nodes, row.value(results, one)) for nodes, row in rows.items())
        points = [(float(nodes), value) for nodes, value in values if value is not None]
        if points:
            made.append(lines.Line(TITLES[one], COLOURS[one], points))
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
