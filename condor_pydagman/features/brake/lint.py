"""What the checker finds in BRAKE lines."""

from __future__ import annotations

from condor_pydagman.features.brake.grammar import BrakeLine
from condor_pydagman.features.brake.graph import brakes_of, obstacle
from condor_pydagman.graph.model import Dag
from condor_pydagman.lint.findings import Findings


def check(dag: Dag, findings: Findings) -> None:
    """Look for brakes that can't do anything."""
    for brake in brakes_of(dag):
        why = obstacle(dag, brake)
        if why:
            message = f"brake {brake.name} has no effect: {why}"
            findings.add("DAG412", message, words=("BRAKE", brake.name))


def subject(command: BrakeLine) -> str:
    """What findings about a line are found by, beside its word."""
    return command.name
