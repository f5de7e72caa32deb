"""What features make of journal records in the nodes log."""

from __future__ import annotations

from collections.abc import Mapping

from condor_pydagman import features
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.trace.dag_events import DagEvent
from condor_pydagman.trace.node_tracker import NodeTracker
from condor_pydagman.trace.run_history import NodePlan, Run


def take(
    run: Run, read: RecordRead, time: float, plans: Mapping[str, NodePlan] | None = None
) -> list[DagEvent]:
    """Take in a record; returns what has happened."""
    events: list[DagEvent] = []
    tracker = NodeTracker(run, plans, events.append)
    node = tracker.node(read.node) if read.node else None
    for feature in features.traced(read.record.name):
        feature.RECORDS[read.record](tracker, node, read, time)
    return events
