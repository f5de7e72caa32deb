"""Times from job event logs, which must have been written with SUB_SECOND times."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

SUBMIT, EXECUTE, TERMINATED, ABORTED = 0, 1, 5, 9

_HEAD = re.compile(
    r"^(\d{3}) \((\d+)\.\d+\.\d+\) (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?) ", re.M
)


class Event(NamedTuple):
    """`time` is in seconds since the epoch."""

    kind: int
    cluster: int
    time: float


def read(path: Path) -> list[Event]:
    """The events of a log in its order; none if there is no such log yet."""
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    return [
        Event(int(kind), int(cluster), datetime.fromisoformat(stamp).timestamp())
        for kind, cluster, stamp in _HEAD.findall(text)
    ]


def times(events: list[Event], kind: int) -> list[float]:
    """Times of the events of a kind, in order."""
    return [event.time for event in events if event.kind == kind]


def reactions(events: list[Event]) -> list[float]:
    """Seconds from each parent's end to the submit of its child; the nodes form a chain."""
    found = []
    ended = None
    for event in events:
        if event.kind == TERMINATED:
            ended = event.time
        elif event.kind == SUBMIT and ended is not None:
            found.append(event.time - ended)
            ended = None
    return found


def rate(events: list[Event]) -> float | None:
    """Submits per second from the first to the last; None if there are not two."""
    submits = times(events, SUBMIT)
    if len(submits) < 2 or submits[-1] <= submits[0]:
        return None
    return (len(submits) - 1) / (submits[-1] - submits[0])


def makespan(events: list[Event]) -> float:
    """Seconds from the first submit to the last end."""
    return times(events, TERMINATED)[-1] - times(events, SUBMIT)[0]
