"""Sums over the placements of a worker: for the job's ad, a progress bar, and the last line."""

from __future__ import annotations

import time
from collections.abc import Iterable

from condor_pydagman.data_requests.urls import masked_text
from condor_pydagman.placement.attempt_lines import WORTH_A_RATE, rate_text
from condor_pydagman.placement.work import Work
from condor_pydagman.placement.worker import AttemptEnd
from condor_pydagman.printable import size_text
from condor_pydagman.records.placement_event import COMPLETED, FAILED
from condor_pydagman.words import duration

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
