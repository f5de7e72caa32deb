"""The submit description of a DATA node's job: a job of the local universe, which runs the worker.

HTCondor runs such a job on the access point at once, without a slot, and starts it again if it or
the schedd dies.
"""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.data_requests.requests import Placement, Transfer
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records.job_description import literal

# Attributes of the job's ad; the worker changes them while it runs.
STATE, REQUESTS = "PlacementState", "PlacementRequests"
RECEIVED = "request_received"
MAX_DESCRIPTION = 60  # characters


class WorkerCommand(NamedTuple):
    """How the worker is started: the program, and its arguments but for the work order."""

    program: str
    arguments: Sequence[str]


def job_text(
    command: WorkerCommand,
    order: str,
    output: str,
    log: str,
    placements: Sequence[Placement],
    environment: Sequence[tuple[str, str]],
) -> str:
    """The user's part of the description, without a queue statement.

    Args:
        order: absolute path of the work order.
        output: absolute path for what the worker prints.
        log: the job event log that the request names, '' for none.
        placements: what the request asks for; empty if it was not read.
        environment: variables that are no secrets.
    """
    words = _quoted([*command.arguments, order])
    variables = _quoted([f"{name}={value}" for name, value in environment])
    lines = [
        "universe = local",
        f"executable = {literal(command.program)}",
        f'arguments = "{literal(words)}"',
        f'environment = "{literal(variables)}"',
        f"output = {literal(output)}",
        f"error = {literal(output)}",
        f'My.{STATE} = "{RECEIVED}"',
        f"My.{REQUESTS} = {len(placements)}",
        f"description = {literal(description(placements))}",
    ]
    if log:
        lines.append(f"log = {literal(log)}")
    return "\n".join(lines) + "\n"


def description(placements: Sequence[Placement]) -> str:
    """What `condor_q` shows of the job: "transfer 3 files", "allocate 1"."""
    if not placements:
        return "data placement"
    counts: dict[str, int] = {}
    for one in placements:
        word = type(one).__name__.lower()
        counts[word] = counts.get(word, 0) + 1
    if len(placements) == 1 and isinstance(placements[0], Transfer):
        name = placements[0].source.name or placements[0].source.path
        if name.isascii() and name.isprintable() and "$" not in name:
            return f"transfer {name}"[:MAX_DESCRIPTION]
    return ", ".join(f"{word} {count}" for word, count in counts.items())


def _quoted(words: Sequence[str]) -> str:
    """Words as the new syntax of arguments and environments has them, without the outer quotes."""
    return " ".join("'" + word.replace("'", "''").replace('"', '""') + "'" for word in words)
