"""Draws what the slots of a pool do in several runs of one DAG, on one time axis, as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from xml.etree import ElementTree

from benchmarks import bars

LEFT, RIGHT = 16, 16
TOP = 92  # room for title, note and legend
HEAD, LANE, BETWEEN = 30, 12, 14  # of a run: its label; a slot; to the next run
BOTTOM = 34
APART = 0.5  # boxes of one colour that are less apart are drawn as one
JOB = "#e4e4e4"


class Task(NamedTuple):
    """When a task ran, in seconds, in which job; `kind` names its colour."""

    job: str
    kind: str
    begin: float
    end: float


class Run(NamedTuple):
    """A run of the DAG, in seconds since its begin."""

    label: str
    tasks: Sequence[Task]


def lanes(tasks: Iterable[Task]) -> list[list[list[Task]]]:
    """The tasks of each job, each job in the first slot that is free when it begins."""
    jobs: dict[str, list[Task]] = {}
    for task in sorted(tasks, key=lambda one: one.begin):
        jobs.setdefault(task.job, []).append(task)
    found: list[list[list[Task]]] = []
    ends: list[float] = []
    for job in jobs.values():
        slot = next((n for n, end in enumerate(ends) if end <= job[0].begin), len(ends))
        if slot == len(ends):
            found.append([])
            ends.append(0.0)
        found[slot].append(job)
        ends[slot] = max(task.end for task in job)
    return found


def draw(title: str, note: str, runs: Sequence[Run], colours: Mapping[str, str]) -> str:
    """The picture as SVG.

    Args:
        note: a line below the title.
        colours: of each kind of task, in the order of the legend.
    """
    rows = [lanes(run.tasks) for run in runs]
    scale = bars.Scale([task.end for run in runs for task in run.tasks], logarithmic=False)
    inner = sum(HEAD + LANE * len(slots) + BETWEEN for slots in rows)
    svg = bars.canvas(title, note, TOP + inner + BOTTOM)
    _legend(svg, colours)
    for tick in scale.ticks():
        x = _place(scale, tick)
        bars.element(svg, "line", x1=x, x2=x, y1=TOP, y2=TOP + inner, stroke="#dddddd")
        anchor = "start" if not tick else "middle"
        bars.write(
            svg, x, TOP + inner + 18, f"{tick:g} s", size=13, anchor=anchor, colour=bars.GREY
        )
    y = float(TOP)
    for run, slots in zip(runs, rows):
        bars.write(svg, LEFT, y + HEAD - 10, run.label, size=14)
        y += HEAD
        for slot in slots:
            _draw_slot(svg, scale, y, slot, colours)
            y += LANE
        y += BETWEEN
    ElementTree.indent(svg)
    return ElementTree.tostring(svg, encoding="unicode") + "\n"


def _place(scale: bars.Scale, seconds: float) -> float:
    return LEFT + scale.part(seconds) * (bars.WIDTH - LEFT - RIGHT)


def _legend(svg: ElementTree.Element, colours: Mapping[str, str]) -> None:
    x = float(LEFT)
    for name, colour in colours.items():
        bars.element(svg, "rect", x=x, y=64, width=14, height=14, fill=colour)
        bars.write(svg, x + 20, 76, name, size=14)
        x += 48 + 7.2 * len(name)


def _draw_slot(
    svg: ElementTree.Element,
    scale: bars.Scale,
    y: float,
    jobs: Iterable[list[Task]],
    colours: Mapping[str, str],
) -> None:
    """A row: the jobs as a band, their tasks on it."""
    boxes: dict[str, list[tuple[float, float]]] = {JOB: []}
    for tasks in jobs:
        boxes[JOB].append((tasks[0].begin, max(task.end for task in tasks)))
        for task in tasks:
            boxes.setdefault(colours[task.kind], []).append((task.begin, task.end))
    for colour, times in boxes.items():
        spans = [(_place(scale, begin), _place(scale, end)) for begin, end in times]
        shapes = (
            f"M{begin:.1f} {y:g}h{max(end - begin, APART):.1f}v{LANE - 2}H{begin:.1f}z"
            for begin, end in _joined(spans)
        )
        bars.element(svg, "path", d="".join(shapes), fill=colour)


def _joined(spans: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Spans in order, those that nearly touch as one."""
    found: list[tuple[float, float]] = []
    for begin, end in sorted(spans):
        if found and begin - found[-1][1] < APART:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((begin, end))
    return found
