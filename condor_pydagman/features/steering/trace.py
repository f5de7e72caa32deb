"""What people ask of nodes, as the nodes log tells."""

from __future__ import annotations

from condor_pydagman.engine.node_settings import read_settings
from condor_pydagman.features.steering.rules import RETRY, Words, read_text
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.trace.run_history import NodeRun
from condor_pydagman.trace.tracker import Records, Tracker
from condor_pydagman.vocabulary import JournalRecord, NodeCommand, NodeStatus

_MARKS = (NodeCommand.DONE, NodeCommand.SKIP)
_BUSY = (NodeStatus.PRERUN, NodeStatus.SUBMITTED, NodeStatus.POSTRUN)


def _steered(tracker: Tracker, node: NodeRun | None, read: RecordRead, time: float) -> None:
    """A person's command, which DAGMan obeys unless it comes too late."""
    words = read_text(read.text)
    if node is None or words is None:
        return
    command = words.command
    data = {"command": command.value, "by": words.by, "options": words.options}
    tracker.tell("node.steered", time, node, **data)
    ended = node.status in (NodeStatus.DONE, NodeStatus.ERROR)
    if command is NodeCommand.RERUN and ended:
        node.begin_anew()
        tracker.set_status(node, NodeStatus.READY, time)
    elif command in _MARKS and node.status not in _BUSY:
        node.skipped = not node.attempts
        tracker.set_status(node, NodeStatus.DONE, time, skipped=command is NodeCommand.SKIP)
        node.why = f"{command.value} by {words.by}"
    elif command is NodeCommand.SET:
        settings = read_settings(words.options)
        if settings is not None and settings.retries is not None:
            node.retries = settings.retries
    elif command is NodeCommand.CANCEL and not ended:
        _cancel(tracker, node, words, time)


def _cancel(tracker: Tracker, node: NodeRun, words: Words, time: float) -> None:
    node.no_retry = RETRY not in words.options.split()
    is_busy = node.status in _BUSY
    if node.no_retry or not is_busy:
        node.cancelled_by = node.cancelled_by or words.by
    if not is_busy:
        tracker.set_status(node, NodeStatus.ERROR, time, reason=f"cancelled by {words.by}")


RECORDS: Records = {JournalRecord.STEERED: _steered}
