"""What brakes do, for people."""

from __future__ import annotations

from condor_pydagman.features.brake.grammar import ABORT
from condor_pydagman.features.brake.trace import BrakesSeen
from condor_pydagman.notices.known import HaltedBy, Known
from condor_pydagman.notices.phrases import names_of
from condor_pydagman.printable import message, printable
from condor_pydagman.report.feature_words import Events, why
from condor_pydagman.trace.dag_events import DagEvent
from condor_pydagman.trace.notice import Evidence


def _acts(event: DagEvent) -> str:
    return printable(f"brake {event.data['brake']} acts ({event.data['effect']}){why(event)}")


EVENTS: Events = {"dag.brake": _acts}


def halted_by(known: Known) -> HaltedBy | None:
    """The brakes that act, and why."""
    acting = BrakesSeen.of(known.run).acting
    if not acting:
        return None
    named = f"Brake{'s' * (len(acting) > 1)} {names_of(list(acting))}"
    evidence = tuple(
        Evidence(known.nodes_log, message(f"brake {brake.record.why}"), brake.time)
        for brake in acting.values()
    )
    ends = any(brake.record.effect == ABORT for brake in acting.values())
    return HaltedBy("a brake", named, evidence, ends=ends)
