"""Whether nodes with a CACHE command run, as the nodes log tells."""

from __future__ import annotations

from condor_pydagman.follow.dag_events import DagEvent
from condor_pydagman.follow.run_model import NodeRun
from condor_pydagman.follow.tracker import Records, Tracker
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.report.feature_words import Events, why

UNCHANGED = "nothing has changed since it was last done"


def _looked_up(tracker: Tracker, node: NodeRun | None, read: RecordRead, time: float) -> None:
    """Nothing of it has changed (1), so that it is done; or it runs (0)."""
    if node is None or node.attempts or node.cached:
        return
    why = read.text.partition(" ")[2] or UNCHANGED * (read.value == 1)
    tracker.tell("node.looked_up", time, node, value=read.value, reason=why)
    if read.value:
        tracker.because(node, cached=True, reason=why)


RECORDS: Records = {"CACHED": _looked_up}


def _looked_up_words(event: DagEvent) -> str:
    return "CACHE: done already" if event.data["value"] else f"CACHE: needs to run{why(event)}"


EVENTS: Events = {"node.looked_up": _looked_up_words}
