"""The ENOUGH lines of a run that are reached, and what can't be done any more of what they ask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from condor_pydagman.features.enough.run import EnoughRecord, read_record
from condor_pydagman.follow.dag_events import DagEvent
from condor_pydagman.follow.notice import Evidence, Notice, Weight
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.follow.run_model import NodeRun, Seen
from condor_pydagman.follow.tally import Tally
from condor_pydagman.follow.tracker import Records, Tracker
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import does, message, number_of
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.report.feature_words import Events, why


class ReachedEnough(NamedTuple):
    """An ENOUGH is reached, as its record says, and when."""

    record: EnoughRecord
    time: float

    def evidence(self, nodes_log: str) -> tuple[Evidence, ...]:
        """The record, in the log of that name."""
        return (Evidence(nodes_log, message(self.record.text), self.time),)


class EnoughSeen(Seen):
    """What is known of the ENOUGH lines of a run: those that are `reached`."""

    def __init__(self) -> None:
        self.reached: dict[str, ReachedEnough] = {}


def _reached(tracker: Tracker, _node: NodeRun | None, read: RecordRead, time: float) -> None:
    line, counts = record = read_record(read.text)
    reached = EnoughSeen.put(tracker.run).reached
    if not line or (line in reached and reached[line].record == record):
        return
    reached[line] = ReachedEnough(record, time)
    tracker.say(DagEvent("dag.enough", time, data={"enough": line, "reason": counts}))


RECORDS: Records = {"ENOUGH": _reached}


def overview(tally: Tally, _ad: Mapping[str, Any], *, running: bool) -> dict[str, Any]:
    """How many nodes were done when each ENOUGH was reached that is, by its line."""
    reached = EnoughSeen.of(tally.run).reached
    return {"enough": {line: one.record.counts for line, one in reached.items()}}


EVENTS: Events = {
    "dag.enough": lambda event: f"{event.data['enough']} is reached{why(event)}",
}


def notices(facts: Facts) -> Iterator[Notice]:
    """Those that are reached."""
    for line, reached in EnoughSeen.of(facts.run).reached.items():
        yield _reached_words(facts, line, reached)


def _reached_words(facts: Facts, line: str, reached: ReachedEnough) -> Notice:
    nodes = facts.run.nodes.values() if facts.may_count else ()
    names = tuple(node.name for node in nodes if node.is_unneeded and line in node.why)
    left = f"; {number_of(len(names), 'node')} {does(len(names), 'be')} not needed" if names else ""
    sentence = f"{message(line)} is reached: {message(reached.record.counts)}{left}."
    evidence = reached.evidence(facts.nodes_log)
    notice = Notice("enough.reached", Weight.NOTE, sentence, names, evidence, since=reached.time)
    return notice._replace(says_all=True)
