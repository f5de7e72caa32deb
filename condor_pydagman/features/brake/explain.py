"""DAGs that brakes have halted or ended."""

from __future__ import annotations

from condor_pydagman.diagnosis.explanation import Evidence
from condor_pydagman.diagnosis.feature_findings import HaltedBy
from condor_pydagman.diagnosis.known_facts import Facts
from condor_pydagman.diagnosis.phrases import names_of
from condor_pydagman.features.brake.grammar import ABORT
from condor_pydagman.features.brake.trace import BrakesSeen
from condor_pydagman.printable import message


def halted_by(facts: Facts) -> HaltedBy | None:
    """The brakes that act, and why."""
    acting = BrakesSeen.of(facts.run).acting
    if not acting:
        return None
    named = f"Brake{'s' * (len(acting) > 1)} {names_of(list(acting))}"
    evidence = tuple(
        Evidence(facts.nodes_log, message(f"brake {name}: {brake.reason}"), brake.time)
        for name, brake in acting.items()
    )
    ends = any(brake.effect == ABORT for brake in acting.values())
    return HaltedBy("a brake", named, evidence, ends=ends)
