"""How the lines are read and written that let a DAG grow: EXTEND and SCATTER.  Both are ours."""

from __future__ import annotations

import re

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.lexer import Words
from condor_pydagman.dagfile.line_error import LineError
from condor_pydagman.dagfile.line_parts import (
    Context,
    end,
    needed,
    needed_file,
    node_name,
    normal,
    unexpected,
)
from condor_pydagman.dagfile.quoting import file_word, joined, name_word

BETWEEN, ANYWHERE = "BETWEEN", "ANYWHERE"
PLACE = re.compile(r"\{(item|number|[1-9][0-9]?)\}")  # in patterns of SCATTER

_PAIR = re.compile(r"([A-Za-z_][A-Za-z_0-9]{0,99})=(.*)", re.S)
_EXTEND = (BETWEEN, ANYWHERE, "DIR", "PREFIX")
_SCATTER = ("VARS", "DIR", "PREFIX")


def read_extend(words: Words, context: Context) -> Command:
    """EXTEND."""
    node = node_name(words)
    file = needed_file(words, "Missing DAG file")
    found = commands.ExtendLine(context.lines.number, node, file)
    while True:
        word = words.next()
        option = normal(word)
        if not word:
            return found
        if option in (BETWEEN, ANYWHERE):
            found = found._replace(between=option == BETWEEN)
        elif option == "DIR":
            found = found._replace(directory=needed_file(words, "DIR missing its directory"))
        elif option == "PREFIX":
            found = found._replace(prefix=_prefix(words))
        else:
            unexpected(word, words, *_EXTEND)


def write_extend(command: commands.ExtendLine) -> str:
    """EXTEND."""
    return joined(
        f"EXTEND {name_word(command.node)} {file_word(command.file)}",
        "" if command.between else ANYWHERE,
        _written_options(command),
    )


def read_scatter(words: Words, context: Context) -> Command:
    """SCATTER."""
    node = node_name(words)
    file = needed_file(words, "Missing list file")
    pattern = needed(words, "Missing pattern of the nodes' names")
    if not PLACE.search(pattern):
        hint = "expected {item}, {number} or {1}, {2} ... in it, so that names differ"
        raise LineError(f"Pattern '{pattern}' gives all nodes the same name", words, hint=hint)
    submit = needed_file(words, "Missing submit description")
    found = commands.ScatterLine(context.lines.number, node, file, pattern, submit)
    while True:
        word = words.next()
        option = normal(word)
        if not word:
            return found
        if option == "DIR":
            found = found._replace(directory=needed_file(words, "DIR missing its directory"))
        elif option == "PREFIX":
            found = found._replace(prefix=_prefix(words))
        elif option == "VARS":
            return found._replace(pairs=_pairs(words))
        else:
            unexpected(word, words, *_SCATTER)


def write_scatter(command: commands.ScatterLine) -> str:
    """SCATTER."""
    pairs = " ".join(f"{key}={value}" for key, value in command.pairs)
    return joined(
        f"SCATTER {name_word(command.node)} {file_word(command.file)}"
        f" {name_word(command.pattern)} {file_word(command.submit)}",
        _written_options(command),
        f"VARS {pairs}" if pairs else "",
    )


def _written_options(command: commands.ExtendLine | commands.ScatterLine) -> str:
    directory = f"DIR {file_word(command.directory)}" if command.directory else ""
    if command.prefix is None:
        return directory
    return joined(directory, f"PREFIX {name_word(command.prefix) if command.prefix else 'NONE'}")


def _prefix(words: Words) -> str:
    """NONE stands for ''."""
    word = needed(words, "PREFIX missing its text")
    return "" if word.upper() == "NONE" else word


def _pairs(words: Words) -> tuple[tuple[str, str], ...]:
    """The rest of the line."""
    pairs: dict[str, str] = {}
    while True:
        word = words.next()
        if not word:
            break
        found = _PAIR.fullmatch(word)
        if found is None:
            hint = "expected key=value, without blanks; {item} stands for an item of the list"
            raise LineError(f"Invalid variable '{word}'", words, hint=hint)
        pairs[found[1]] = found[2]
    end(words)
    if not pairs:
        raise LineError("VARS missing its variables", words)
    return tuple(pairs.items())
