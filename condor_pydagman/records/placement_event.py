"""The event that the worker of a DATA node adds to the nodes log for each attempt at a placement.

It is a generic event (008) with the form of a journal record of DAGMan's, and like these has "no
job" in its head, so that other readers of the log skip it.  It decides nothing: DAGMan, `watch` and
`report` add it up.

    008 (-01.-01.-01) 2026-11-23 12:08:04 [ DAGManNote = "PLACEMENT"; Node = "in"; Job = "12.0";
        DAGManNodeRetry = 0; State = "request_completed"; ... ]      (on one line)
"""

from __future__ import annotations

import re
from collections import Counter

from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import printable, size_text
from condor_pydagman.records.own_events import (
    PLACEMENT_NOTE,
    STRING,
    escaped,
    event_head,
    fitting,
    unescaped,
)
from condor_pydagman.vocabulary import EventKind

# Stork's states of a request that end an attempt.
COMPLETED, RESCHEDULED, FAILED = "request_completed", "request_rescheduled", "request_failed"

_MAX_URL = 150  # bytes of a URL
_MAX_REASON = 200  # bytes
_EVENT = re.compile(
    r'\s*\[ DAGManNote = "PLACEMENT"; Node = ' + STRING + r'; Job = "(\d{1,9})\.(\d{1,9})";'
    r' DAGManNodeRetry = (\d{1,9}); State = "([a-z_]{1,40})"; Attempt = (\d{1,9});'
    r" Bytes = (-?\d{1,18}); Moved = (\d{1,18}); Files = (\d{1,9}); Seconds = (\d{1,9}\.\d{1,3});"
    r" Way = " + STRING + r"; Source = " + STRING + r"; Destination = " + STRING + r"; Text = "
    + STRING + r" \]\s*"
)  # fmt: skip


class PlacementEvent(NamedTuple):
    """The end of an attempt at a placement."""

    # run of the DATA node
    node: str
    retry: int
    # its job
    cluster: int
    proc: int
    state: str  # COMPLETED; RESCHEDULED, it is tried again; or FAILED, for good
    attempt: int  # number from 1
    size: int  # bytes at the destination; -1 if unknown
    moved: int  # bytes moved by this attempt
    files: int  # how many files it is of; 0 if all were there already
    seconds: float  # that the attempt took
    way: str  # "direct http-file", "module stork.transfer.http-file", "allocate", ..
    # URLs without secrets, their ends if they are long
    source: str
    destination: str
    reason: str = ""  # of a failure


def event_text(when: str, event: PlacementEvent) -> str:
    """Text of the event in the nodes log; `when` is what `own_events.stamp` gives."""
    head = event_head(EventKind.GENERIC, -1, -1, -1, when)
    seconds = min(max(event.seconds, 0), 999_999_999)
    job = f"{event.cluster}.{event.proc}"
    return (
        f'{head} {PLACEMENT_NOTE}Node = "{escaped(event.node)}"; Job = "{job}";'
        f' DAGManNodeRetry = {event.retry}; State = "{event.state}"; Attempt = {event.attempt};'
        f" Bytes = {event.size}; Moved = {event.moved}; Files = {event.files};"
        f' Seconds = {seconds:.3f}; Way = "{fitting(event.way, 80)}";'
        f' Source = "{_url(event.source)}"; Destination = "{_url(event.destination)}";'
        f' Text = "{fitting(event.reason, _MAX_REASON)}" ]\n...\n'
    )


def parse_event(info: str) -> PlacementEvent | None:
    """Read the text of a generic event; None if it is none of these, or damaged."""
    found = _EVENT.fullmatch(info) if PLACEMENT_NOTE in info else None
    if found is None:
        return None
    node, cluster, proc, retry, state, attempt, size, moved, files, seconds = found.groups()[:10]
    way, source, destination, reason = map(unescaped, found.groups()[10:])
    return PlacementEvent(
        unescaped(node), int(retry), int(cluster), int(proc), state, int(attempt), int(size),
        int(moved), int(files), float(seconds), way, source, destination, reason,
    )  # fmt: skip


def _url(text: str) -> str:
    """A URL as a string of the event; of a long one its beginning and its end."""
    if len(text) > _MAX_URL:
        text = f"{text[:40]}...{text[-(_MAX_URL - 43) :]}"
    return fitting(text, _MAX_URL + 60)


MAX_SAID = 20  # placements of one job of which `.dagman.out` says that they are done


class PlacementTotals:
    """Sums over the placements of all DATA nodes."""

    def __init__(self) -> None:
        # attempts by state; "skipped" are those of which the file was there already
        self.counts: Counter[str] = Counter()
        self.moved = 0  # bytes
        # of attempts that succeeded, added up; those of a node may run side by side
        self.seconds = 0.0
        self._said: Counter[tuple[int, int]] = Counter()

    def add(self, event: PlacementEvent) -> str:
        """One more attempt; returns the line of `.dagman.out`, '' if there is none."""
        self.counts[event.state] += 1
        self.moved += event.moved
        if event.state != COMPLETED:
            return line(event)
        self.seconds += event.seconds
        self.counts["skipped"] += not event.files and event.size >= 0
        job = event.cluster, event.proc
        self._said[job] += 1
        if self._said[job] > MAX_SAID:
            return ""
        more = "; further ones are not listed here" * (self._said[job] == MAX_SAID)
        return line(event) + more

    def metrics(self) -> list[tuple[str, int | float]]:
        """Pairs for the metrics file."""
        counts = self.counts
        return [
            ("placements_completed", counts[COMPLETED]),
            ("placements_skipped", counts["skipped"]),
            ("placements_failed", counts[FAILED]),
            ("placement_attempts", sum(counts.values()) - counts["skipped"]),
            ("placement_bytes", self.moved),
            ("placement_seconds", float(self.seconds)),
        ]


def line(event: PlacementEvent) -> str:
    """What `.dagman.out` says of an attempt."""
    what = printable(f"Node {event.node}: {event.source} -> {event.destination}")
    way = printable(event.way)
    if event.state != COMPLETED:
        ending = "failed" if event.state == FAILED else "is tried again"
        return f"{what}: attempt {event.attempt} {ending} ({way}): {printable(event.reason)}"
    if event.size < 0:
        return f"{what}: done ({way})"
    rate = f", {size_text(event.moved / event.seconds)}/s" if event.seconds > 0 else ""
    return f"{what}: {size_text(event.size)} in {event.seconds:.1f} s{rate} ({way})"
