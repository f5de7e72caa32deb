"""What the DATA nodes of a run have moved."""

from __future__ import annotations

from condor_pydagman.follow.node_placements import NodePlacements, event_fields, total
from condor_pydagman.records.placement_event import COMPLETED, FAILED, RESCHEDULED, PlacementEvent

DONE = PlacementEvent(
    "in", 0, 12, 0, COMPLETED, 1, 100, 100, 1, 2.0, "direct http-file", "http://h/a", "/b"
)


def test_sums_of_nodes() -> None:
    one, two = NodePlacements(), NodePlacements()
    one.add(DONE, 10)
    one.add(DONE._replace(state=RESCHEDULED, moved=0, reason="busy"), 11)
    two.add(DONE._replace(state=FAILED, moved=0, reason="gone"), 14)
    for size in (-1, 0, 1):  # -1: it is not known
        two.add(DONE._replace(files=0, moved=0, size=size), 12)
    assert (one.begun, one.ended, one.per_second) == (8, 11, 100 / 3)
    whole = total({"one": one, "two": two})
    assert whole.as_json() == {
        "done": 4,
        "skipped": 2,
        "failed": 1,
        "retried": 1,
        "bytes": 100,
        "per_second": round(100 / 6),
        "reasons": ["gone"],
    }


def test_fields_of_events() -> None:
    assert event_fields(DONE)["bytes"] == 100
    failed = event_fields(DONE._replace(state=FAILED, reason="gone"))
    assert failed["reason"] == "gone"
    assert "bytes" not in failed
