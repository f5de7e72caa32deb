"""The ENOUGH lines of a run that are reached, and what can't be done any more of what they ask."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from condor_pydagman.engine.node_states import State
from condor_pydagman.features.enough.counts import FOLLOWS, EnoughCounts
from condor_pydagman.features.enough.graph import EnoughsOfDag, words
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.trace.dag_events import DagEvent
from condor_pydagman.trace.run_history import Attempt, NodeRun, Run, Seen
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
OPENS = ("dag.enough",)


def before_failed(tracker: Tracker, node: NodeRun, attempt: Attempt, time: float) -> bool:
    """Whether its jobs were removed since it is not needed."""
    line = unneeded_by(attempt.reason)
    if line:
        tracker.not_needed(node, line, time)
    return bool(line)


def unneeded_by(reason: str) -> str:
    """The ENOUGH line by which a node is not needed, by the reason why its jobs were removed; '' if
    that is another one."""
    found = _UNNEEDED.fullmatch(reason)
    return found[1] if found is not None else ""


def overview(tally: Tally, _ad: Mapping[str, Any], *, running: bool) -> dict[str, Any]:
    """How many nodes were done when each ENOUGH was reached that is, by its line."""
    return {"enough": {line: of.counts for line, of in EnoughSeen.of(tally.run).reached.items()}}


def opened(dag: Dag, run: Run) -> Iterable[int]:
    """Nodes of whose parents enough are done."""
    own, reached = EnoughsOfDag.of(dag), EnoughSeen.of(run).reached
    return (node for node, number in own.enough_of.items() if words(own.enoughs[number]) in reached)


class Parents:
    """Counts how many parents can be done of the nodes that wait for enough of them.

    Args:
        dag: the DAG.
    """

    def __init__(self, dag: Dag) -> None:
        self._counts = EnoughCounts(dag)

    def lose(self, node: int, state: State) -> None:
        """A node has failed, or can't run."""
        if node in self._counts.of:
            self._counts.moved(node, State.WAITING, state)

    def leave(self, node: int) -> None:
        """A node counts as done, and is not needed."""
        self._counts.mark(node, FOLLOWS)
        self.lose(node, State.DONE)

    def pop_hopeless(self) -> Iterable[int]:
        """Nodes of whose parents enough can't be done any more, since the last call."""
        return self._counts.pop_hopeless()


def limits_parents(dag: Dag) -> Parents | None:
    """None if no node waits for a part of its parents."""
    return Parents(dag) if EnoughsOfDag.of(dag).enough_of else None


def was_unneeded(dag: Dag, node: int) -> bool:
    """Whether an earlier run did not need a node, so that it counts as done."""
    return node in EnoughsOfDag.of(dag).not_needed
