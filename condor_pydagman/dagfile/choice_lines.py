"""How the line is read and written that chooses which nodes run: CHOOSE.  It is ours."""

from __future__ import annotations

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.lexer import Words, name_word
from condor_pydagman.dagfile.lines import Context, needed, normal, unexpected

FROM, UNTIL, ONLY = EXTENTS = ("FROM", "UNTIL", "ONLY")


def read_choose(words: Words, context: Context) -> Command:
    """CHOOSE."""
    word = needed(words, "Missing which nodes are chosen", EXTENTS)
    extent = normal(word)
    if extent not in EXTENTS:
        unexpected(word, words, *EXTENTS)
    names = [needed(words, f"{extent} missing the names of nodes")]
    while True:
        name = words.next()
        if not name:
            return commands.Choose(context.lines.number, extent, tuple(names))
        names.append(name)


def write_choose(command: commands.Choose) -> str:
    """CHOOSE."""
    return " ".join(["CHOOSE", command.extent, *map(name_word, command.names)])
