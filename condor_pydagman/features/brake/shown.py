"""The brakes that act in a run, as the nodes log tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from condor_pydagman.features.brake.commands import ABORT
from condor_pydagman.features.brake.run import BrakeRecord, read_record
from condor_pydagman.follow.dag_events import DagEvent
from condor_pydagman.follow.notice import Evidence
from condor_pydagman.follow.notices.facts import Facts, HaltedBy
from condor_pydagman.follow.notices.name_lists import names_of
from condor_pydagman.follow.run_model import NodeRun, Seen
from condor_pydagman.follow.tally import Tally
from condor_pydagman.follow.tracker import Records, Tracker
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import message
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.report.feature_words import Events, why


class ActingBrake(NamedTuple):
    """A BRAKE that acts, and since when."""

    record: BrakeRecord
    time: float


class BrakesSeen(Seen):
    """What is known of the brakes of a run."""

    def __init__(self) -> None:
        self.acting: dict[str, ActingBrake] = {}  # those that act, by name
        self.resumes = 0  # how often a person has taken brakes back


def _braked(tracker: Tracker, _node: NodeRun | None, read: RecordRead, time: float) -> None:
    """A brake has begun to act, unless the record is of before a resume."""
    seen = BrakesSeen.put(tracker.run)
    in_round, effect, name, reason = record = read_record(read.text)
    if in_round == str(seen.resumes) and name not in seen.acting:
        seen.acting[name] = ActingBrake(record, time)
        data = {"brake": name, "effect": effect, "reason": reason}
        tracker.say(DagEvent("dag.brake", time, data=data))
        tracker.run.interventions.add(time, f"brake {name}", effect, reason)


def _taken_back(tracker: Tracker, _: NodeRun | None, read: RecordRead, time: float) -> None:
    seen = BrakesSeen.put(tracker.run)
    if read.value == seen.resumes:
        seen.resumes += 1
        seen.acting.clear()
        tracker.run.interventions.add(time, "", "brakes taken back", read.text)


RECORDS: Records = {
    "BRAKED": _braked,
    "BRAKES_OFF": _taken_back,
}


def overview(tally: Tally, _ad: Mapping[str, Any], *, running: bool) -> dict[str, Any]:
    """Why each brake that acts does so, by its name."""
    acting = BrakesSeen.of(tally.run).acting
    return {"brakes": {name: brake.record.reason for name, brake in acting.items()}}


def _acts(event: DagEvent) -> str:
    return f"brake {event.data['brake']} acts ({event.data['effect']}){why(event)}"


EVENTS: Events = {"dag.brake": _acts}


def halted_by(facts: Facts) -> HaltedBy | None:
    """The brakes that act, and why."""
    acting = BrakesSeen.of(facts.run).acting
    if not acting:
        return None
    named = f"Brake{'s' * (len(acting) > 1)} {names_of(list(acting))}"
    evidence = tuple(
        Evidence(facts.nodes_log, message(f"brake {brake.record.why}"), brake.time)
        for brake in acting.values()
    )
    ends = any(brake.record.effect == ABORT for brake in acting.values())
    return HaltedBy("a brake", named, evidence, ends=ends)
