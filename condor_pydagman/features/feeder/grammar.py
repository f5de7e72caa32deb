"""The command FEEDER, and how its line is read and written."""

from __future__ import annotations

from condor_pydagman.dagfile.language import extension
from condor_pydagman.dagfile.lexer import LineError, Words, joined
from condor_pydagman.dagfile.lines import Context, needed, normal, number_alone, unexpected
from condor_pydagman.dagfile.syntax import Syntax
from condor_pydagman.named_tuple import NamedTuple

FEEDER_TIMEOUT_S = 3600
FEEDER_RETRIES = 5
_FEEDER = {"BELOW": 1, "AT_MOST": 1, "TIMEOUT": 1, "RETRIES": 0}  # and the lowest value
# Macros of a FEEDER's arguments, as those of scripts.
FEEDER_MACROS = frozenset(
    (
        *("FEEDING", "FED_COUNT", "OPEN_COUNT", "NODE_COUNT", "DONE_COUNT", "QUEUED_COUNT"),
        *("FAILED_COUNT", "FUTILE_COUNT", "DAG_STATUS", "DAGID"),
    )
)


class FeederLine(NamedTuple):
    """FEEDER: a program whose output is added to the DAG while few nodes are left.

    Attributes:
        below: it runs when fewer nodes than this have not ended.
        program: its file and its arguments, as they are written.
        at_most: nodes that it may add in all; 0 for no limit.
        timeout_s: seconds that it may run.
        retries: how often it runs again after a failure, in a row.
    """

    line: int
    below: int
    program: str
    at_most: int = 0
    timeout_s: int = FEEDER_TIMEOUT_S
    retries: int = FEEDER_RETRIES


def read_feeder(words: Words, context: Context) -> FeederLine:
    """FEEDER."""
    found: dict[str, int] = {}
    while True:
        word = needed(words, "Missing PROGRAM of the feeder", ("PROGRAM",))
        key = normal(word)
        left = [option for option in _FEEDER if option not in found]
        if key == "PROGRAM":
            break
        if key not in left:
            unexpected(word, words, *(option.replace("_", "-") for option in left), "PROGRAM")
        shown = key.replace("_", "-")
        missing, invalid = f"{shown} missing its number", f"Invalid {shown} number '{{}}'"
        found[key] = number_alone(words, missing, invalid, _FEEDER[key])
    if "BELOW" not in found:
        hint = "expected BELOW <n> before PROGRAM: it runs when fewer than n nodes have not ended"
        raise LineError("The feeder has no BELOW", words, hint=hint)
    return FeederLine(
        context.lines.number,
        found["BELOW"],
        _program(words),
        found.get("AT_MOST", 0),
        found.get("TIMEOUT", FEEDER_TIMEOUT_S),
        found.get("RETRIES", FEEDER_RETRIES),
    )


def _program(words: Words) -> str:
    """The rest of the line: as of a script, without quotes."""
    program = words.rest().strip()
    if not program:
        raise LineError("PROGRAM missing its path", words)
    if program[0] in "\"'":
        hint = "quotes mean nothing there: write the program and its arguments without them"
        raise LineError(f"Invalid program {program}", words, hint=hint)
    for word in program.split():
        if word.startswith("$") and word[1:].upper() not in FEEDER_MACROS:
            known = ", ".join(f"${name}" for name in sorted(FEEDER_MACROS))
            message, column = f"Unknown macro '{word}' of a feeder", words.line.find(word)
            raise LineError(message, words, hint=f"known are {known}", column=column)
    return program


def write_feeder(command: FeederLine) -> str:
    """FEEDER."""
    return joined(
        f"FEEDER BELOW {command.below}",
        f"AT-MOST {command.at_most}" if command.at_most else "",
        f"TIMEOUT {command.timeout_s}" if command.timeout_s != FEEDER_TIMEOUT_S else "",
        f"RETRIES {command.retries}" if command.retries != FEEDER_RETRIES else "",
        f"PROGRAM {command.program}",
    )


LANGUAGE = (
    extension(
        "FEEDER BELOW <n> [AT-MOST <nodes>] [TIMEOUT <seconds>] [RETRIES <n>]"
        " PROGRAM <program> [<arguments>]",
        "A program that is run when few nodes are left, and whose output is added to the DAG.",
        after="SCATTER",
    ),
)
SYNTAX = (Syntax("FEEDER", FeederLine, read_feeder, write_feeder),)
