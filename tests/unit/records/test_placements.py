"""Placements: their note in the nodes log, the job that makes them, and what they add up to."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.data_requests.requests import Allocate, Transfer
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.features.data.jobs import WorkerCommand, description, job_text
from condor_pydagman.records.own_events import PLACEMENT_NOTE, with_info
from condor_pydagman.records.placement_event import (
    COMPLETED,
    FAILED,
    MAX_SAID,
    RESCHEDULED,
    PlacementEvent,
    PlacementTotals,
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


@given(st.text(), st.text(), st.text(), st.integers(-1, 10**17), st.floats(-9, 1e12))
def test_whatever_is_in_an_event_it_is_one_line_that_readers_take(
    node: str, url: str, reason: str, size: int, seconds: float
) -> None:
    event = EVENT._replace(node=node[:50], source=url, reason=reason, size=size, state=FAILED)
    text = event_text(WHEN, event._replace(seconds=seconds))
    assert re.search(r" Seconds = \d{1,9}\.\d{3}; ", text)
    assert len(text.encode("utf-8", "surrogateescape")) < 1023
    read = parse_event(info(text))
    assert read is not None
    assert (read.size, read.state) == (size, FAILED)


# The submit description of a DATA node's job.


TRANSFER = Transfer(parse_url("http://me:geheim@h/a"), parse_url("/b"))
COMMAND = WorkerCommand("/opt/my python/p", ("transfer", "--order"))


def test_the_description() -> None:
    text = job_text(COMMAND, "/d/it's $(x).order", "/d/o", "my.log", [TRANSFER], [("A", 'b "c')])
    assert text.splitlines() == [
        "universe = local",
        "executable = /opt/my python/p",
        "arguments = \"'transfer' '--order' '/d/it''s $(DOLLAR)(x).order'\"",
        'environment = "\'A=b ""c\'"',
        "output = /d/o",
        "error = /d/o",
        'My.PlacementState = "request_received"',
        "My.PlacementRequests = 1",
        "description = transfer a",
        "on_exit_remove = ExitBySignal =!= True || (NumJobStarts ?: 0) >= 5",
        "log = my.log",
    ]


def test_what_the_queue_shows() -> None:
    assert description([]) == "data placement"
    assert description([TRANSFER, TRANSFER, Allocate("h", "1")]) == "transfer 2, allocate 1"
    assert description([TRANSFER._replace(source=parse_url("/x/$(y)"))]) == "transfer 1"


# What placements add up to.


DONE = PlacementEvent(
    "in", 0, 12, 0, COMPLETED, 1, 5 << 20, 5 << 20, 1, 2.0, "direct http-file", "http://h/a", "/b"
)


def test_totals() -> None:
    totals = PlacementTotals()
    assert totals.add(DONE) == (
        "Node in: http://h/a -> /b: 5.0 MB in 2.0 s, 2.5 MB/s (direct http-file)"
    )
    again = DONE._replace(state=RESCHEDULED, moved=0, size=-1, reason="503")
    assert totals.add(again).endswith("attempt 1 is tried again (direct http-file): 503")
    assert "attempt 1 failed" in totals.add(again._replace(state=FAILED))
    totals.add(DONE._replace(files=0, moved=0))
    assert dict(totals.metrics()) == {
        "placements_completed": 2,
        "placements_skipped": 1,
        "placements_failed": 1,
        "placement_attempts": 4,
        "placement_bytes": 5 << 20,
        "placement_seconds": 4.0,
    }


def test_a_request_of_10000_files_does_not_fill_the_log() -> None:
    totals = PlacementTotals()
    lines = [line for line in (totals.add(DONE) for _ in range(1000)) if line]
    assert len(lines) == MAX_SAID
    assert "further ones are not listed" in lines[-1]
