"""What placements add up to."""

from __future__ import annotations

from condor_pydagman.records.placement_event import COMPLETED, FAILED, RESCHEDULED, PlacementEvent
from condor_pydagman.records.placement_totals import MAX_SAID, PlacementTotals

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
