"""The note of a placement in the nodes log, and what DAGMan makes of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.records.own_events import PLACEMENT_NOTE, with_info
from condor_pydagman.records.placement_event import (
    COMPLETED,
    FAILED,
    PlacementEvent,
    event_text,
    parse_event,
)
from condor_pydagman.vocabulary import EventKind

EVENT = PlacementEvent(
    "in", 1, 12, 0, COMPLETED, 2, 5000, 3000, 1, 1.25, "direct http-file", "http://h/a", "/b"
)
WHEN = "2026-11-23 12:08:04"


def info(text: str) -> str:
    """What the bindings give as the text of a generic event."""
    head, end = text.split("\n", 1)
    assert end == "...\n"
    assert head.startswith(f"008 (-01.-01.-01) {WHEN} ")
    return head[len(f"008 (-01.-01.-01) {WHEN} ") :]


def test_an_event_is_read_back() -> None:
    text = info(event_text(WHEN, EVENT))
    assert parse_event(text) == EVENT
    event = LogEvent(kind=EventKind.GENERIC, cluster=-1, proc=-1, subproc=0, time=0.0, stamp="")
    noted = with_info(event, text)
    assert (noted.record, noted.text) == (None, text)


def test_other_texts() -> None:
    assert parse_event("") is None
    assert parse_event(PLACEMENT_NOTE) is None
    assert parse_event("x" * 10000) is None


@given(st.text(), st.text(), st.text(), st.integers(-1, 10**17))
def test_whatever_is_in_an_event_it_is_one_line_that_readers_take(
    node: str, url: str, reason: str, size: int
) -> None:
    event = EVENT._replace(node=node[:50], source=url, reason=reason, size=size, state=FAILED)
    text = event_text(WHEN, event)
    assert len(text.encode("utf-8", "surrogateescape")) < 1023
    read = parse_event(info(text))
    assert read is not None
    assert (read.size, read.state) == (size, FAILED)
