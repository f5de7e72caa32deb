"""The command BRAKE, and how its line is read and written."""

from __future__ import annotations

import re

from condor_pydagman.dagfile.language import extension
from condor_pydagman.dagfile.lexer import LineError, Words, name_word
from condor_pydagman.dagfile.lines import (
    Context,
    needed,
    normal,
    number_alone,
    number_or_share,
    unexpected,
)
from condor_pydagman.dagfile.syntax import Syntax
from condor_pydagman.named_tuple import NamedTuple

EXIT_CODE, HOLD_REASON, SITE = ALIKE = ("EXIT_CODE", "HOLD_REASON", "SITE")
HALT, HOLD, ABORT = EFFECTS = ("HALT", "HOLD", "ABORT")
_NUMBER = re.compile("[0-9]+%?")
_LAST = "{} is the last word of the line"
_OPTIONS = ("OF", "ALIKE", "CATEGORY")
_INVALID = "Invalid number of the brake '{}'"


class BrakeLine(NamedTuple):
    """BRAKE: what the DAG does when more nodes fail than so many, or percent; see `graph`."""

    line: int
    name: str
    limit: int
    percent: bool
    last: int
    alike: str
    category: str
    effect: str


def read_brake(words: Words, context: Context) -> BrakeLine:
    """BRAKE."""
    name = needed(words, "Missing name of the brake")
    _check_order(name, words)
    limit, percent = number_or_share(words, "Missing number of the brake", _INVALID, 0)
    said: dict[str, str | int] = {}
    while True:
        word = needed(words, "Missing what the brake does", EFFECTS)
        key = normal(word)
        left = [option for option in _OPTIONS if option not in said]
        if key in EFFECTS:
            break
        if key not in left:
            unexpected(word, words, *left, *EFFECTS)
        said[key] = _value(words, key)
    if said.get("ALIKE") == HOLD_REASON and "OF" in said:
        hint = "OF counts runs that have ended, and a job on hold has not: leave OF out"
        raise LineError("OF can't be told of HOLD_REASON", words, hint=hint)
    if words.peek():
        raise LineError(f"Unexpected token '{words.next()}'", words, hint=_LAST.format(key))
    last, alike, category = said.get("OF", 0), said.get("ALIKE", ""), said.get("CATEGORY", "")
    return BrakeLine(
        context.lines.number, name, limit, percent, int(last), str(alike), str(category), key
    )


def _check_order(name: str, words: Words) -> None:
    """Tell what comes first where the number is for the name, or the effect for the number."""
    rest = words.line[words.position :].split()
    word = rest[0] if rest else ""
    if _NUMBER.fullmatch(name) and normal(word) in ("OF", *EFFECTS):
        hint = " ".join(["as in: BRAKE sick", name, *rest])
        raise LineError("Missing name of the brake", words, hint=hint)
    if normal(word) in EFFECTS:
        words.next()
        raise LineError("Missing number of the brake", words, hint=_LAST.format(word))


def _value(words: Words, key: str) -> str | int:
    if key == "OF":
        return number_alone(words, "OF missing its number", "Invalid OF number '{}'", 1)
    if key == "CATEGORY":
        return needed(words, "CATEGORY missing its name")
    word = needed(words, "ALIKE missing what is alike", ALIKE)
    if normal(word) not in ALIKE:
        unexpected(word, words, *ALIKE)
    return normal(word)


def write_brake(command: BrakeLine) -> str:
    """BRAKE."""
    words = ["BRAKE", name_word(command.name), f"{command.limit}{'%' * command.percent}"]
    if command.last:
        words += ["OF", str(command.last)]
    if command.alike:
        words += ["ALIKE", command.alike]
    if command.category:
        words += ["CATEGORY", name_word(command.category)]
    return " ".join([*words, command.effect])


LANGUAGE = (
    extension(
        "BRAKE <name> <number>[%] [OF <last>] [ALIKE EXIT_CODE|HOLD_REASON|SITE]"
        " [CATEGORY <category>] (HALT|HOLD|ABORT)",
        "Stops the DAG when more nodes fail than so many, perhaps all in the same way.",
        after="NOT_NEEDED",
    ),
)
SYNTAX = (Syntax("BRAKE", BrakeLine, read_brake, write_brake),)
