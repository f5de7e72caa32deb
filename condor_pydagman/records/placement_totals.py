"""What the placements of a DAG add up to, and what `.dagman.out` says of each."""

from __future__ import annotations

from collections import Counter

from condor_pydagman.printable import printable, size_text
from condor_pydagman.records.placement_event import (
    COMPLETED,
    FAILED,
    PlacementEvent,
    parse_event,
)

MAX_SAID = 20  # placements of one job of which `.dagman.out` says that they are done


class PlacementTotals:
    """Sums over the placements of all DATA nodes.

    Attributes:
        counts: attempts by state; "skipped" are those of which the file was there already.
        moved: bytes.
        seconds: of attempts that succeeded, added up; those of a node may run side by side.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.moved = 0
        self.seconds = 0.0
        self._said: Counter[tuple[int, int]] = Counter()

    def add_noted(self, text: str) -> str:
        """One more attempt, if a generic event with this text tells of one; returns as `add`."""
        noted = parse_event(text)
        return "" if noted is None else self.add(noted)

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
