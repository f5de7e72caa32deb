"""How the DAG of a run has grown, as the nodes log tells."""

from __future__ import annotations

import re

from condor_pydagman.follow.dag_events import DagEvent
from condor_pydagman.follow.run_model import NodeRun, Seen
from condor_pydagman.follow.tracker import Records, Tracker
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.report.feature_words import Events
from condor_pydagman.vocabulary import FEEDING, LAST

_NUMBER = re.compile(r"[0-9]{1,9}")
REFUSED = "what it adds to the DAG is refused"


class GrowthSeen(Seen):
    """What is known of the growth of a run: the numbers of the `pieces` that it has got."""

    def __init__(self) -> None:
        self.pieces: set[int] = set()


class Fed(NamedTuple):
    """The number of a feeding, from 1; and whether it is the last."""

    number: int
    last: bool


def fed(read: RecordRead) -> Fed | None:
    """By the record of a piece; None if no FEEDER has given it."""
    _, word, number, *more = [*read.text.split(), "", "", ""]
    is_fed = word == FEEDING and _NUMBER.fullmatch(number)
    return Fed(int(number), LAST in more) if is_fed else None


def _grown(tracker: Tracker, node: NodeRun | None, read: RecordRead, time: float) -> None:
    pieces = GrowthSeen.put(tracker.run).pieces
    if read.value in pieces:
        return
    pieces.add(read.value)
    feeding = fed(read)
    data = {"piece": read.value, **({"feeding": feeding.number} if feeding is not None else {})}
    tracker.say(DagEvent("dag.grow", time, data=data))
    by = "FEEDER" if feeding is not None else "" if node is None else "EXTEND or SCATTER"
    name = node.name if node is not None else ""
    tracker.run.interventions.add(time, by, "nodes added", node=name)


def _refused(tracker: Tracker, node: NodeRun | None, read: RecordRead, _time: float) -> None:
    if node is not None:
        tracker.because(node, reason=refusal(read.text))


RECORDS: Records = {
    "GROWN": _grown,
    "GROWTH_FAILED": _refused,
}


def refusal(text: str) -> str:
    """Why a node has failed of which a record says that what it adds is refused."""
    return f"{REFUSED}: {text.removeprefix('ERROR: ')}"


EVENTS: Events = {"dag.grow": lambda event: "nodes were added to the DAG"}
