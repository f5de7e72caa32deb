"""How the line is read and written by which what is left of some nodes is not needed: ENOUGH.

It is ours.
"""

from __future__ import annotations

import re

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.lexer import Words, name_word, node_word
from condor_pydagman.dagfile.lines import (
    Context,
    end,
    needed,
    normal,
    number_or_share,
    unexpected,
)

ALL_NODES, CATEGORY, PARENTS = MEMBERS = ("ALL_NODES", "CATEGORY", "PARENTS")
REMOVE, WAIT = EFFECTS = ("REMOVE", "WAIT")
OF = "OF"
_OF = re.compile(rf"{OF}(?=[ \t])", re.IGNORECASE)
_MISSING = "Missing how many nodes are enough"
_INVALID = "Invalid number of nodes that are enough '{}'"


def read_enough(words: Words, context: Context) -> Command:
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
    return commands.EnoughLine(context.lines.number, members, name, limit, percent, normal(effect))


def write_enough(command: commands.EnoughLine) -> str:
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
