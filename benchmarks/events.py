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


def rate(events: list[Event], begin: float | None = None) -> float | None:
    """Submits per second, from the end of the first cluster to the last; None if it can't be told.

    Args:
        begin: when the program began; counts if there is but one cluster, whose jobs all have the
            time of one transaction.
    """
    submits = [event for event in events if event.kind == SUBMIT]
    if not submits:
        return None
    first = [event for event in submits if event.cluster == submits[0].cluster]
    since = first[-1].time
    count = len(submits) - len(first)
    if not count:
        since, count = begin or since, len(submits)
    end = submits[-1].time
    return count / (end - since) if end > since else None


def makespan(events: list[Event]) -> float:
    """Seconds from the first submit to the last end."""
    return times(events, TERMINATED)[-1] - times(events, SUBMIT)[0]
