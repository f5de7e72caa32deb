"""What is decided by the RUN_IF of nodes, as the nodes log tells."""

from __future__ import annotations

from condor_pydagman.follow.run_model import NodeRun
from condor_pydagman.follow.tracker import Records, Tracker
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.report.feature_words import Events, why


def _decided(tracker: Tracker, node: NodeRun | None, read: RecordRead, time: float) -> None:
    """It is true (1), false (0), or can't be evaluated (-1)."""
    if node is None:
        return
    tracker.tell("node.decided", time, node, value=read.value, reason=read.text)
    if read.value == 0:
        tracker.because(node, skipped=True, reason=f"RUN_IF is false: {read.text}".rstrip(": "))
    elif read.value < 0:
        tracker.because(node, reason=f"RUN_IF fails: {read.text}")


RECORDS: Records = {"CONDITION": _decided}


_DECISIONS = {1: "is true", 0: "is false", -1: "can't be evaluated"}

EVENTS: Events = {
    "node.decided": lambda event: f"its RUN_IF {_DECISIONS[event.data['value']]}{why(event)}",
}
