"""What DAGMan has decided of nodes: RUN_IF and CACHE before they start."""

from __future__ import annotations

from typing import Any, Protocol

from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.trace.run_history import NodeRun
from condor_pydagman.vocabulary import JournalRecord, NodeStatus

RECORDS = (JournalRecord.CONDITION, JournalRecord.CACHED)
UNCHANGED = "nothing has changed since it was last done"


class Tracker(Protocol):
    """What is done with it; `trace.node_tracker` has the tracker."""

    def tell(self, name: str, time: float, node: NodeRun, job: str = "", **data: Any) -> None:
        """Send an event about the node."""

    def set_status(self, node: NodeRun, status: NodeStatus, time: float, **data: Any) -> None:
        """The node comes into a state."""

    def not_needed(self, node: NodeRun, why: str, time: float) -> None:
        """It is skipped."""


def take_record(tracker: Tracker, node: NodeRun, read: RecordRead, time: float) -> None:
    """Take in a record, which may be in the log twice."""
    if read.record is JournalRecord.CONDITION:
        _decided(tracker, node, read, time)
    elif not node.attempts and not node.cached:
        _looked_up(tracker, node, read, time)


def _decided(tracker: Tracker, node: NodeRun, read: RecordRead, time: float) -> None:
    """Its RUN_IF is true (1), false (0), or can't be evaluated (-1)."""
    tracker.tell("node.decided", time, node, value=read.value, reason=read.text)
    if read.value == 0:
        tracker.not_needed(node, f"RUN_IF is false: {read.text}", time)
    elif read.value < 0:
        tracker.set_status(node, NodeStatus.ERROR, time, reason=f"RUN_IF fails: {read.text}")


def _looked_up(tracker: Tracker, node: NodeRun, read: RecordRead, time: float) -> None:
    """Nothing of it has changed (1), so that it is done; or it runs (0)."""
    why = UNCHANGED if read.value else read.text.partition(" ")[2]
    tracker.tell("node.looked_up", time, node, value=read.value, reason=why)
    if read.value:
        node.cached = True
        tracker.set_status(node, NodeStatus.DONE, time, cached=True, reason=why)
