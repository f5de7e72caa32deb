"""What is told of placements: lines of text, for the output of a DATA node and for terminals; sums,
for the job's ad, a progress bar, and the last line.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from condor_pydagman.data_requests.faults import FaultKind
from condor_pydagman.data_requests.requests import Placement, Transfer
from condor_pydagman.data_requests.urls import masked_text
from condor_pydagman.placement.rules.ways import obstacle_lines
from condor_pydagman.placement.work import Work
from condor_pydagman.placement.worker import AttemptEnd
from condor_pydagman.printable import escaped_line, size_text
from condor_pydagman.records.placement_event import COMPLETED, FAILED, RESCHEDULED
from condor_pydagman.words import duration

WORTH_A_RATE = 1 << 20  # bytes; of fewer, the rate tells how long it takes to begin


def name_of(placement: Placement) -> str:
    """A placement in a few words, without secrets."""
    if isinstance(placement, Transfer):
        return f"{placement.source} -> {placement.destination}"
    word = type(placement).__name__.lower()
    return masked_text(f"{word} {placement.allocation_id} of {placement.host}")


def ends_of(placement: Placement) -> tuple[str, str]:
    """Source and destination without secrets; of an allocation or release, its id and host."""
    if isinstance(placement, Transfer):
        return str(placement.source), str(placement.destination)
    return masked_text(placement.allocation_id), masked_text(placement.host)


def attempt_line(end: AttemptEnd) -> str:
    """A line about the end of an attempt, whatever the names of files have in them; if there is no
    way, more of them: why not, by way."""
    lines = [_line(end)]
    if end.fault is not None and end.fault.kind is FaultKind.NO_WAY:
        lines += obstacle_lines(end.fault.reason)
    return "\n    ".join(map(escaped_line, lines))


def _line(end: AttemptEnd) -> str:
    name = name_of(end.placement)
    if end.state == COMPLETED:
        return f"done: {name}: {_result(end)}"
    assert end.fault is not None
    kind, reason = end.fault.kind, end.fault.reason
    why = f"{kind.meaning}: {reason}"
    if kind is FaultKind.STOPPED:
        why = kind.meaning
    elif kind is FaultKind.NO_WAY:
        why = f"{kind.meaning}:"
    if end.state != RESCHEDULED:
        return f"FAILED: {name} ({end.way}, attempt {end.attempt}): {why}"
    again = f"again in {duration(end.delay_s)}" if end.delay_s else "the next way is tried"
    return f"attempt {end.attempt}: {name} ({end.way}): {why}; {again}"


def rate_text(size: float, seconds: float) -> str:
    """Bytes in seconds, for a person."""
    return f"{size_text(size / seconds)}/s" if seconds > 0 else "at once"


def _result(end: AttemptEnd) -> str:
    outcome = end.outcome
    assert outcome is not None
    if outcome.skipped:
        return "it was there already"
    if not isinstance(end.placement, Transfer):
        return outcome.way
    size = "" if outcome.size is None else f"{size_text(outcome.size)}, "
    went_on = outcome.size is not None and outcome.moved < outcome.size
    moved = f"{size_text(outcome.moved)} of it now, " if went_on else ""
    rate = f"{rate_text(outcome.moved, end.seconds)}, " if outcome.moved >= WORTH_A_RATE else ""
    return f"{size}{moved}{end.seconds:.1f} s, {rate}{outcome.way}"


LAST_FAULT = "PlacementLastFault"  # of the job's ad


class ProgressSum:
    """What has been done so far."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self.done = self.skipped = self.failed = 0  # placements
        self.retried = 0  # attempts that were followed by another
        self.moved = 0  # bytes of attempts that succeeded
        self._way = self._fault = ""

    def add(self, end: AttemptEnd) -> None:
        """An attempt has ended."""
        if end.state == COMPLETED and end.outcome is not None:
            self.done += 1
            self.skipped += end.outcome.skipped
            self.moved += end.outcome.moved
            self._way = end.outcome.way
        elif end.state == FAILED:
            self.failed += 1
        else:
            self.retried += 1
        if end.fault is not None:
            self._fault = masked_text(end.fault.reason)

    def bytes_so_far(self, running: Iterable[Work]) -> int:
        """Bytes moved, those of attempts under way included."""
        return self.moved + sum(work.progress.moved for work in list(running))

    def attributes(self, running: Iterable[Work]) -> dict[str, str]:
        """Attributes of the job's ad, name to expression."""
        running = list(running)
        moved = self.bytes_so_far(running)
        seconds = max(time.monotonic() - self._begun, 0.001)
        known = [work.progress for work in running if work.progress.total is not None]
        found = {
            "PlacementState": '"processing_request"',
            "PlacementBytes": str(moved),
            "PlacementRate": f"{moved / seconds:.0f}",
            "PlacementDone": str(self.done),
            "PlacementFailed": str(self.failed),
            "PlacementRetried": str(self.retried),
            "PlacementRunning": str(len(running)),
        }
        if known:
            total = sum(one.total or 0 for one in known)
            found["PlacementRunningBytes"] = str(sum(one.offset + one.moved for one in known))
            found["PlacementRunningTotal"] = str(total)
        if self._way:
            found["PlacementWay"] = as_string(self._way)
        if self._fault:
            found[LAST_FAULT] = as_string(self._fault)
        return found

    def summary(self) -> str:
        """The last line."""
        seconds = time.monotonic() - self._begun
        parts = [f"{self.done} placement{'s' * (self.done != 1)} done"]
        if self.skipped:
            parts.append(f"{self.skipped} of them done before")
        if self.failed:
            parts.append(f"{self.failed} failed")
        if self.retried:
            parts.append(f"{self.retried} attempt{'s' * (self.retried != 1)} had to be repeated")
        if self.moved:
            rate = f", {rate_text(self.moved, seconds)}" if self.moved >= WORTH_A_RATE else ""
            parts.append(f"{size_text(self.moved)}{rate}")
        return f"{'; '.join(parts)}; {duration(seconds)}"


def as_string(text: str) -> str:
    """A string as an expression of a ClassAd."""
    plain = "".join(c if c.isprintable() else "?" for c in text[:300])
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'
