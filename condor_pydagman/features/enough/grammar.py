"""The commands ENOUGH, and NOT_NEEDED of rescue files, and how their lines are read and written."""

from __future__ import annotations

import re

from condor_pydagman.dagfile.language import extension
from condor_pydagman.dagfile.lexer import Words, name_word, node_word
from condor_pydagman.dagfile.lines import (
    Context,
    end,
    needed,
    normal,
    number_or_share,
    unexpected,
)
from condor_pydagman.dagfile.syntax import NODE, Syntax, fixed
from condor_pydagman.named_tuple import NamedTuple

ALL_NODES, CATEGORY, PARENTS = MEMBERS = ("ALL_NODES", "CATEGORY", "PARENTS")
REMOVE, WAIT = EFFECTS = ("REMOVE", "WAIT")
OF = "OF"
_OF = re.compile(rf"{OF}(?=[ \t])", re.IGNORECASE)
_MISSING = "Missing how many nodes are enough"
_INVALID = "Invalid number of nodes that are enough '{}'"


class EnoughLine(NamedTuple):
    """ENOUGH: what is left of some nodes is not needed when so many of them, or percent, are done.

    `members` is ALL_NODES, CATEGORY or PARENTS; `name` is the category, or the node whose parents
    are meant; `effect` is REMOVE or WAIT.
    """

    line: int
    members: str
    name: str
    limit: int
    percent: bool = False
    effect: str = "REMOVE"


class NotNeeded(NamedTuple):
    """NOT_NEEDED: the node was not needed any more, since an ENOUGH was reached; of a rescue
    file."""

    line: int
    node: str


def read_enough(words: Words, context: Context) -> EnoughLine:
    """ENOUGH."""
    word = needed(words, "Missing which nodes are meant", MEMBERS)
    members, name = normal(word), ""
    if members == CATEGORY:
        name = needed(words, "CATEGORY missing its name")
    elif members == PARENTS:
        name = needed(words, "PARENTS missing the node whose parents are meant")
    elif members != ALL_NODES:
        unexpected(word, words, *MEMBERS)
    elif words.peek() and _OF.match(words.line, words.column):
        words.next()
        name = needed(words, "OF missing the name of a splice")
    limit, percent = number_or_share(words, _MISSING, _INVALID, 1)
    effect = words.next() or REMOVE
    if normal(effect) not in EFFECTS:
        unexpected(effect, words, *EFFECTS)
    end(words)
    return EnoughLine(context.lines.number, members, name, limit, percent, normal(effect))


def write_enough(command: EnoughLine) -> str:
    """ENOUGH."""
    words = ["ENOUGH", command.members]
    if command.members == ALL_NODES and command.name:
        words += [OF, name_word(command.name)]
    elif command.members == CATEGORY:
        words.append(name_word(command.name))
    elif command.members == PARENTS:
        words.append(node_word(command.name))
    words.append(f"{command.limit}{'%' * command.percent}")
    return " ".join(words if command.effect == REMOVE else [*words, command.effect])


LANGUAGE = (
    extension(
        "ENOUGH (ALL_NODES [OF <splice>]|CATEGORY <category>|PARENTS <node>) <number>[%]"
        " [REMOVE|WAIT]",
        "What is left of these nodes is not needed any more when so many of them are done.",
        after="CACHE",
    ),
    extension(
        "NOT_NEEDED <node>",
        "A node that was not needed any more, as in a rescue file.",
        after="ENOUGH",
    ),
)
SYNTAX = (
    Syntax("ENOUGH", EnoughLine, read_enough, write_enough),
    fixed("NOT_NEEDED", NotNeeded, NODE),
)
