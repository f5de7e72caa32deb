"""The command CHOOSE, and how its line is read and written."""

from __future__ import annotations

from condor_pydagman.dagfile.language import extension
from condor_pydagman.dagfile.lexer import Words, name_word
from condor_pydagman.dagfile.lines import Context, needed, normal, unexpected
from condor_pydagman.dagfile.syntax import Syntax
from condor_pydagman.named_tuple import NamedTuple

FROM, UNTIL, ONLY = EXTENTS = ("FROM", "UNTIL", "ONLY")


class Choose(NamedTuple):
    """CHOOSE: which nodes run; `extent` is FROM, UNTIL or ONLY, names may be patterns."""

    line: int
    extent: str
    names: tuple[str, ...]


def read_choose(words: Words, context: Context) -> Choose:
    """CHOOSE."""
    word = needed(words, "Missing which nodes are chosen", EXTENTS)
    extent = normal(word)
    if extent not in EXTENTS:
        unexpected(word, words, *EXTENTS)
    names = [needed(words, f"{extent} missing the names of nodes")]
    while True:
        name = words.next()
        if not name:
            return Choose(context.lines.number, extent, tuple(names))
        names.append(name)


def write_choose(command: Choose) -> str:
    """CHOOSE."""
    return " ".join(["CHOOSE", command.extent, *map(name_word, command.names)])


LANGUAGE = (
    extension(
        "CHOOSE (FROM|UNTIL|ONLY) <node1> [<node2> ...]",
        "Which nodes run: these and what depends on them, all that does not come after them, or"
        " these and what they need.",
        after="SITE_MATCHED",
    ),
)
SYNTAX = (Syntax("CHOOSE", Choose, read_choose, write_choose),)
