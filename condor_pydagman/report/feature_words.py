"""What features say of a run, for people; the core of the programs that show it names none.

The module `shown` of a feature may have:

- `EVENTS`: by the names of its events of the stream the functions that put these in words.
- `overview_lines(seen)`: what a glance at the DAG says of it.
- `sections(run, end)`: its tables in the report, at the end of which what goes on is cut off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from condor_pydagman import feature_table
from condor_pydagman.follow.dag_events import DagEvent
from condor_pydagman.follow.overview import Overview
from condor_pydagman.follow.run_model import Run
from condor_pydagman.named_tuple import NamedTuple

Piece = tuple[str, str]  # text, style
SPACE = "  "
Clock = Callable[[float], str]  # local time of seconds since the epoch
Events = Mapping[str, Callable[[DagEvent], str]]


class Flow(NamedTuple):
    """Pieces side by side, on as many lines as that takes; `space` is between them."""

    pieces: Sequence[Piece]
    space: str = " "


class Section(NamedTuple):
    """A table of the report."""

    # of its heading; '' if it has none
    anchor: str
    title: str
    # of the table
    caption: str
    head: Sequence[str]
    rows: Sequence[Any]
    texts: Sequence[int]  # columns that are no numbers
    cells: Callable[[Any], Iterable[str]] = iter  # texts of a row that is to be shown


def flow(text: str, style: str) -> Flow:
    """A text that may break between words."""
    return Flow([(word, style) for word in text.split(" ")])


def why(event: DagEvent) -> str:
    """The event's reason behind a colon, if it has one."""
    reason = event.data.get("reason")
    return f": {reason}" if reason else ""


def event_words(event: DagEvent) -> str:
    """An event that a feature puts in words."""
    words: Events = feature_table.own(feature_table.OF_EVENT[event.name], "shown", "EVENTS")
    return words[event.name](event)


def overview_flows(seen: Overview) -> Iterator[Flow]:
    """What features say in a glance at a DAG."""
    for lines in feature_table.told("shown", "overview_lines") if seen.of_features else ():
        yield from lines(seen)


def sections(run: Run, end: float) -> Iterator[Section]:
    """Tables of features in a report."""
    for made in feature_table.told("shown", "sections"):
        yield from made(run, end)
