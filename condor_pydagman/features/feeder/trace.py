"""What the FEEDER of a run has given, as the nodes log and DAGMan's job ad tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from condor_pydagman.features.feeder.report import ATTRIBUTE, adds_no_more, feeder_text
from condor_pydagman.features.growth.trace import fed
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.trace.dag_events import DagEvent
from condor_pydagman.trace.run_history import NodeRun, Seen
from condor_pydagman.trace.tally import Tally
from condor_pydagman.trace.tracker import Records, Tracker
from condor_pydagman.vocabulary import JournalRecord


class FeederSeen(Seen):
    """What is known of the FEEDER of a run.

    Attributes:
        number: of the last feeding, from 1; 0 for none in this run.
        state: "ended" or "failed"; '' if it is neither.
        reason: why it has failed.
        time: of the last record about it.
    """

    def __init__(
        self, number: int = 0, state: str = "", reason: str = "", time: float = 0.0
    ) -> None:
        self.number, self.state, self.reason, self.time = number, state, reason, time


def _grown(tracker: Tracker, _node: NodeRun | None, read: RecordRead, time: float) -> None:
    """A piece has come, which may be of the FEEDER."""
    feeding = fed(read)
    seen = FeederSeen.of(tracker.run)
    if feeding is None or feeding.number <= seen.number:
        return
    seen = FeederSeen.put(tracker.run)
    seen.number, seen.state = feeding.number, "ended" if feeding.last else ""
    seen.reason, seen.time = "", time
    if seen.state:
        _tell(tracker, seen)


def _failed(tracker: Tracker, _node: NodeRun | None, read: RecordRead, time: float) -> None:
    seen = FeederSeen.put(tracker.run)
    if not seen.state:
        seen.state, seen.reason, seen.time = "failed", read.text, time
        _tell(tracker, seen)


def _tell(tracker: Tracker, seen: FeederSeen) -> None:
    data = {"state": seen.state, "feedings": seen.number}
    if seen.reason:
        data["reason"] = seen.reason
    tracker.say(DagEvent("dag.feeder", seen.time, data=data))


RECORDS: Records = {
    JournalRecord.GROWN: _grown,
    JournalRecord.FEEDER_FAILED: _failed,
}


def overview(tally: Tally, ad: Mapping[str, Any], *, running: bool) -> dict[str, Any]:
    """How it does, '' if there is none, or nothing is known of it."""
    return {"feeder": _how(tally, ad)}


def _how(tally: Tally, ad: Mapping[str, Any]) -> str:
    """As DAGMan says it, or else the nodes log."""
    said, seen = ad.get(ATTRIBUTE), FeederSeen.of(tally.run)
    if isinstance(said, str) and said and not seen.state:
        return said
    if not seen.time:
        return ""
    return feeder_text(seen.state, seen.number, error=seen.reason)


def may_grow(tally: Tally, ad: Mapping[str, Any]) -> bool:
    """Whether there may be more nodes to come, nobody knows how many."""
    how = _how(tally, ad)
    if FeederSeen.of(tally.run).state or adds_no_more(how):
        return False
    return bool(how) or (tally.dag is not None and bool(tally.dag.features.get("feeder")))
