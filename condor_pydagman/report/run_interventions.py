"""What people and features have done to a run, in its order."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.trace.interventions import Intervention
from condor_pydagman.trace.run_history import Run


def interventions(run: Run) -> list[Intervention]:
    """Commands to nodes, brakes, growth, halts and resumes."""
    return sorted([*run.interventions.kept, *_halts(run)], key=lambda one: one.time)


def _halts(run: Run) -> Iterator[Intervention]:
    brakes = {f"{one.by}: {one.why}" for one in run.interventions.kept}
    for halt in run.halts:
        if halt.reason not in brakes:  # what a brake does is there already
            yield Intervention(halt.begun, halt.begun, halt.by, "halted", halt.reason)
        if halt.ended:
            yield Intervention(halt.ended, halt.ended, halt.resumed_by, "resumed", halt.resumed)
