"""The ENOUGH lines of a run that are reached, and what can't be done any more of what they ask."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.trace.dag_events import DagEvent
from condor_pydagman.trace.run_history import NodeRun, Seen
from condor_pydagman.trace.tally import Tally
from condor_pydagman.trace.tracker import Records, Tracker
from condor_pydagman.vocabulary import UNNEEDED_WORDS, JournalRecord

_UNNEEDED = re.compile(rf"{UNNEEDED_WORDS}: (.+?)(?: \(by user \S+\))?")


class ReachedEnough(NamedTuple):
    """An ENOUGH is reached: how many nodes were done then, in words, and when."""

    counts: str
    time: float


class EnoughSeen(Seen):
    """What is known of the ENOUGH lines of a run: those that are `reached`."""

    def __init__(self) -> None:
        self.reached: dict[str, ReachedEnough] = {}


def _reached(tracker: Tracker, _node: NodeRun | None, read: RecordRead, time: float) -> None:
    line, _, counts = read.text.rpartition(": ")
    reached = EnoughSeen.put(tracker.run).reached
    if not line or (line in reached and reached[line].counts == counts):
        return
    reached[line] = ReachedEnough(counts, time)
    tracker.say(DagEvent("dag.enough", time, data={"enough": line, "reason": counts}))


RECORDS: Records = {JournalRecord.ENOUGH: _reached}


def unneeded_by(reason: str) -> str:
    """The ENOUGH line by which a node is not needed, by the reason why its jobs were removed; '' if
    that is another one."""
    found = _UNNEEDED.fullmatch(reason)
    return found[1] if found is not None else ""


def overview(tally: Tally, _ad: Mapping[str, Any], *, running: bool) -> dict[str, Any]:
    """How many nodes were done when each ENOUGH was reached that is, by its line."""
    return {"enough": {line: of.counts for line, of in EnoughSeen.of(tally.run).reached.items()}}
