"""The command SHARED_LIMIT, and how its line is read and written: nodes that keep to a limit which
DAGs share.

The command is ours.  Whether there is a limit of that name is found out when DAGMan starts: limits
are defined in the configuration, see `definitions`.
"""

from __future__ import annotations

from condor_pydagman.dagfile.language import extension
from condor_pydagman.dagfile.lexer import LineError, Words, name_word
from condor_pydagman.dagfile.lines import Context, end, needed, normal, unexpected
from condor_pydagman.dagfile.syntax import Syntax
from condor_pydagman.named_tuple import NamedTuple

_DEFINED = "PYDAGMAN_SHARED_LIMITS and ~/.condor/pydagman_limits define limits; this line uses one"
ALL_NODES, CATEGORY, NODES = _KINDS = ("ALL_NODES", "CATEGORY", "NODES")


class SharedLimit(NamedTuple):
    """SHARED_LIMIT: nodes that keep to a limit which DAGs share.

    `members` is ALL_NODES, CATEGORY or NODES; `names` are of the nodes, or of the category.
    """

    line: int
    limit: str
    members: str
    names: tuple[str, ...] = ()


def read_shared_limit(words: Words, context: Context) -> SharedLimit:
    """SHARED_LIMIT."""
    limit = needed(words, "Missing name of the limit")
    word = needed(words, "Missing what keeps to the limit", _KINDS)
    members = normal(word)
    names: tuple[str, ...] = ()
    if members == CATEGORY:
        names = (needed(words, "Missing name of the category"),)
        end(words)
    elif members == NODES:
        names = _names(words)
    elif members == ALL_NODES:
        end(words)
    elif word == "=":
        raise LineError("A limit can't be defined in a DAG file", words, hint=_DEFINED)
    else:
        unexpected(word, words, *_KINDS)
    return SharedLimit(context.lines.number, limit, members, names)


def _names(words: Words) -> tuple[str, ...]:
    names = [needed(words, "The limit has no nodes")]
    while True:
        name = words.next()
        if not name:
            return tuple(names)
        names.append(name)


def write_shared_limit(command: SharedLimit) -> str:
    """SHARED_LIMIT."""
    words = (command.limit, command.members, *command.names)
    return " ".join(["SHARED_LIMIT", *map(name_word, words)])


LANGUAGE = (
    extension(
        "SHARED_LIMIT <limit> (ALL_NODES|CATEGORY <category>|NODES <node1> [<node2> ...])",
        "Nodes that keep to a limit which several DAGs share.",
        after="CHOOSE",
    ),
)
SYNTAX = (Syntax("SHARED_LIMIT", SharedLimit, read_shared_limit, write_shared_limit),)
