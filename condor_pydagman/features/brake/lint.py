"""What the checker finds in BRAKE lines."""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.features.brake.commands import Brake, brakes_of, obstacle
from condor_pydagman.graph.model import Dag
from condor_pydagman.lint.findings import Code, Findings, Severity

CODES = {
    "DAG412": Code(
        Severity.WARNING,
        "a BRAKE without effect",
        "its number must be less than what it counts; categories of a splice are named"
        " splice+category",
    ),
}


def check(dag: Dag, findings: Findings) -> None:
    """Look for brakes that can't do anything."""
    for brake in brakes_of(dag):
        why = obstacle(dag, brake)
        if why:
            message = f"brake {brake.name} has no effect: {why}"
            findings.add("DAG412", message, words=("BRAKE", brake.name))


def is_about(command: Brake, words: Sequence[str], prefixes: Sequence[str]) -> bool:
    """Whether a line is what a finding is about.

    Args:
        words: of the finding, without the word of the command.
        prefixes: what may stand before a name of the line's file: nothing; the splices that the
            file is in; the same with the number of its DAG file.
    """
    return words[0] == command.name
