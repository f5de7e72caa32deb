"""What the DATA nodes of a run have moved, by node, as the notes of their workers say."""

from __future__ import annotations

from typing import Any

from condor_pydagman.records.placement_event import COMPLETED, FAILED, PlacementEvent


class NodePlacements:
    """Placements of one DATA node, over all its attempts."""

    MAX_REASONS = 3

    def __init__(self) -> None:
        # placements that ended so; those skipped were there already
        self.done = self.skipped = self.failed = 0
        self.retried = 0  # attempts that were followed by another
        self.moved = 0  # bytes
        # that placements took, added up, though some ran side by side
        self.seconds = self.begun = self.ended = 0.0
        self.ways: list[str] = []  # by which ways, without repetition
        self.reasons: list[str] = []  # why the last attempts failed, newest last

    def add(self, event: PlacementEvent, time: float) -> None:
        """One more attempt at a placement, which ended then."""
        begun = time - event.seconds
        # of the first and the last, seconds since the epoch
        self.begun = min(self.begun, begun) if self.begun else begun
        self.ended = max(self.ended, time)
        self.moved += event.moved
        if event.way and event.way not in self.ways and len(self.ways) < self.MAX_REASONS:
            self.ways.append(event.way)
        if event.state == COMPLETED:
            self.done += 1
            self.skipped += not event.files and event.size >= 0
            self.seconds += event.seconds
            return
        self.failed += event.state == FAILED
        self.retried += event.state != FAILED
        self.reasons = [*self.reasons, event.reason][-self.MAX_REASONS :]

    @property
    def per_second(self) -> float:
        """Bytes in a second, from the first to the last; 0.0 if that took no time."""
        return self.moved / (self.ended - self.begun) if self.ended > self.begun else 0.0

    def as_json(self) -> dict[str, Any]:
        """The fields by name."""
        return {
            "done": self.done,
            "skipped": self.skipped,
            "failed": self.failed,
            "retried": self.retried,
            "bytes": self.moved,
            "per_second": round(self.per_second),
            "reasons": self.reasons,
        }


def total(parts: dict[str, NodePlacements]) -> NodePlacements:
    """All nodes together."""
    whole = NodePlacements()
    for part in parts.values():
        for name in ("done", "skipped", "failed", "retried", "moved", "seconds"):
            setattr(whole, name, getattr(whole, name) + getattr(part, name))
        whole.begun = min(whole.begun, part.begun) if whole.begun else part.begun
        if part.ended >= whole.ended:
            whole.ended = part.ended
            whole.reasons = part.reasons or whole.reasons
    return whole


def event_fields(event: PlacementEvent) -> dict[str, Any]:
    """Fields of the event `data.*` in the stream of events."""
    fields: dict[str, Any] = {
        "try": event.attempt,
        "source": event.source,
        "destination": event.destination,
        "way": event.way,
        "seconds": event.seconds,
    }
    if event.state == COMPLETED:
        return {**fields, "bytes": event.size, "moved": event.moved}
    return {**fields, "reason": event.reason}
