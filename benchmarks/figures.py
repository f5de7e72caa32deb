"""Which number stands for many, and how each is called and shown: the rows of all tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from statistics import median
from typing import NamedTuple

from benchmarks.measure import WORKFLOWS
from benchmarks.sizes import Numbers

Results = dict[str, Numbers]  # by subject


def percentile95(values: list[float]) -> float:
    """The smallest value that 95 % of all do not exceed."""
    ordered = sorted(values)
    return ordered[-(-len(ordered) * 95 // 100) - 1]


class Row(NamedTuple):
    """One line: where its numbers are, how many become one, and how it is shown.

    `factor` turns the unit measured (s, MB, 1/s) into the one shown.
    """

    text: str
    name: str
    unit: str = "s"
    digits: int = 1
    factor: float = 1.0
    of: Callable[[list[float]], float] = median
    more_is_better: bool = False

    def value(self, results: Results, subject: str) -> float | None:
        """The number of a subject, in the unit shown; None if it was not measured."""
        values = results.get(subject, {}).get(self.name)
        return self.of(values) * self.factor if values else None

    def shown(self, value: float | None) -> str:
        """With its unit; a dash if there is none."""
        return "-" if value is None else f"{value:,.{self.digits}f} {self.unit}"


def _rate(text: str, name: str) -> Row:
    return Row(text, name, "/s", 0, more_is_better=True)


def _memory(text: str, name: str, digits: int = 0) -> Row:
    return Row(text, name, "MB", digits)


def _idling(name: str, digits: int) -> list[Row]:
    return [
        Row("CPU a minute", f"{name} cpu", "ms", 1, 1000),
        Row("wake-ups a minute", f"{name} wakes", "", 0),
        _memory("PSS", f"{name} pss", digits),
        _memory("USS", f"{name} uss", digits),
        _memory("RSS", f"{name} rss", digits),
    ]


# Shapes of shapes.py, in the order of the table.
LOADS = {
    "vars": "with VARS",
    "bare": "bare",
    "pegasus": "Pegasus",
    "splices": "in splices",
    "product": "one PARENT line",
}

GROUPS: dict[str, list[Row]] = {
    "Reaction": [
        Row("end of parent to submit of child, median", "reaction", "ms", 1, 1000),
        Row("the same, 95 % are below", "reaction", "ms", 1, 1000, percentile95),
        Row("start of DAGMan to first submit", "start", "ms", 0, 1000),
        Row("chain of no-op jobs, whole run", "chain"),
    ],
    "Bags": [
        _rate("held jobs, submit rate", "held rate"),
        _rate("the same, with the description of a DAG's job", "held rate, DAG's job"),
        _rate("10,000 held jobs, submit rate", "held rate 10000"),
        _rate("no-op jobs, submit rate", "no-op rate"),
        Row("bag of no-op jobs, whole run", "bag"),
    ],
    "Crowd": [
        Row("from start to end of DAGMan", "crowd elapsed"),
        _rate("jobs that have ended", "crowd rate"),
        Row("CPU of DAGMan", "crowd cpu"),
        Row("the same without its children", "crowd cpu alone"),
        Row("CPU of DAGMan as a part of the elapsed time", "crowd share", "%", 1, 100),
    ],
    "Workflows": [
        row
        for shape in (*WORKFLOWS, "fan", "product")
        for row in (
            Row(f"{shape}, first submit to last end", f"{shape} makespan"),
            Row(f"{shape}, with start and end of DAGMan", f"{shape} whole"),
        )
    ],
    "Idle": _idling("idle", 1),
    "Many": [
        *_idling("many idle", 0),
        _memory("taken from the machine", "many idle available"),
        Row("until all have run five nodes", "many run"),
    ],
    "Recovery": [
        Row("time until recovered", "recovery time", digits=2),
        _memory("memory", "recovery memory"),
    ],
    "Commands": [Row("condor_submit_dag", "submit_dag", "ms", 0, 1000)],
    "Orders": [
        Row("the schedd hangs: until a log event is acted on", "obeyed event", "ms", 0, 1000, max),
        Row("until a halt file is obeyed", "obeyed halt", "ms", 0, 1000, max),
        Row("until DAGMan has left, as condor_hold wants", "obeyed hold", "ms", 0, 1000, max),
        Row("a retry comes later than planned by", "retry late", "ms", 0, 1000, max),
        Row("a job is removed later than its TIMEOUT by", "timeout late", "ms", 0, 1000, max),
    ],
}


def groups(results: Results) -> Iterator[tuple[str, list[Row]]]:
    """All rows that have a number, by the name of their group."""
    measured = {name for numbers in results.values() for name, values in numbers.items() if values}
    everywhere = {
        **GROUPS,
        "Load": load_rows(measured),
        "Engine": engine_rows(measured),
        **curve_rows(measured),
    }
    for title, rows in everywhere.items():
        found = [row for row in rows if row.name in measured]
        if found:
            yield title, found


def load_rows(measured: set[str]) -> list[Row]:
    """Two rows for each DAG that was loaded."""
    rows = []
    for shape, nodes in _loaded(measured):
        text = f"{nodes:,} nodes, {LOADS.get(shape, shape)}"
        rows += [
            Row(f"{text}: time", f"load time {shape} {nodes}", digits=2),
            _memory(f"{text}: memory", f"load memory {shape} {nodes}"),
        ]
    return rows


def _loaded(measured: set[str]) -> list[tuple[str, int]]:
    found = (re.fullmatch(r"load time (\w+) (\d+)", name) for name in measured)
    shapes = list(LOADS)
    return sorted(
        ((match[1], int(match[2])) for match in found if match),
        key=lambda load: (shapes.index(load[0]) if load[0] in shapes else len(shapes), load),
    )


class Curve(NamedTuple):
    """A cost that was measured for several sizes.

    Attributes:
        name: of its numbers, without the size.
        text: what it is, after the number of nodes.
        make: text and name -> row.
    """

    name: str
    text: str
    make: Callable[[str, str], Row]

    def rows(self, measured: set[str]) -> dict[int, Row]:
        """The row of each size, from small to big."""
        found = (re.fullmatch(rf"{self.name} (\d+)", name) for name in measured)
        return {
            nodes: self.make(f"{nodes:,} {self.text}", f"{self.name} {nodes}")
            for nodes in sorted(int(match[1]) for match in found if match)
        }


def _seconds(text: str, name: str) -> Row:
    return Row(text, name, "s", 2)


CURVES: dict[str, list[Curve]] = {
    "Load by size": [
        Curve("load curve time", "nodes: time", _seconds),
        Curve("load curve memory", "nodes: memory", _memory),
    ],
    "Submission by size": [
        Curve("held rate", "held jobs: submit rate", _rate),
        Curve(
            "engine cpu",
            "nodes: CPU of the engine an input",
            lambda text, name: Row(text, name, "µs", 2, 1e6),
        ),
    ],
    "Recovery by size": [
        Curve("recovery curve time", "nodes: time", _seconds),
        Curve("recovery curve memory", "nodes: memory", _memory),
    ],
    "Looks by size": [
        Curve(f"{name} {what}", f"nodes: {name}, {what}", make)
        for what, make in (("time", _seconds), ("memory", _memory))
        for name in ("watch --once", "report")
    ],
}


def curve_rows(measured: set[str]) -> dict[str, list[Row]]:
    """A row for each cost and size, by the name of the group."""
    return {
        title: [row for curve in curves for row in curve.rows(measured).values()]
        for title, curves in CURVES.items()
    }


def engine_rows(measured: set[str]) -> list[Row]:
    """One row for each DAG that the engine went through alone."""
    found = (re.fullmatch(r"engine rate (\d+)", name) for name in measured)
    counts = sorted(int(match[1]) for match in found if match)
    return [_rate(f"inputs, DAG of {nodes:,} nodes", f"engine rate {nodes}") for nodes in counts]


def better(row: Row, results: Results, subject: str, other: str) -> float | None:
    """How many times better a subject is than another; below 1 it is worse."""
    upper, lower = row.value(results, other), row.value(results, subject)
    if row.more_is_better:
        upper, lower = lower, upper
    return None if upper is None or lower is None or lower <= 0 or upper <= 0 else upper / lower
