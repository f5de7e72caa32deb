"""Lines of a fixed number of arguments: a list of the arguments says how to read and write one.

Each argument is read with stock DAGMan's messages, and any word after the last is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.lexer import Words
from condor_pydagman.dagfile.line_error import LineError
from condor_pydagman.dagfile.line_parts import (
    LOWEST,
    Context,
    end,
    needed,
    needed_file,
    node_name,
    number,
)
from condor_pydagman.dagfile.quoting import file_word, name_word
from condor_pydagman.named_tuple import NamedTuple


class Argument(NamedTuple):
    """How an argument is read from the words of a line, and written as one.

    Attributes:
        read: raises LineError or QuotingError.
        write: raises ValueError for a value that can't be written.
    """

    read: Callable[[Words], Any]
    write: Callable[[Any], str]


NODE = Argument(node_name, name_word)  # ALL_NODES included


def name(missing: str) -> Argument:
    """A name of something else; `missing` is the message if there is none."""
    return Argument(lambda words: needed(words, missing), name_word)


def file(missing: str) -> Argument:
    """A file."""
    return Argument(lambda words: needed_file(words, missing), file_word)


def whole_number(missing: str, invalid: str, low: int = LOWEST) -> Argument:
    """A number, `low` or more; `invalid` has a place for the word."""
    return Argument(lambda words: number(words, missing, invalid, low), str)


def rest(missing: str) -> Argument:
    """The rest of the line as it stands."""

    def read(words: Words) -> str:
        text = words.rest()
        if not text:
            raise LineError(missing, words)
        return text

    return Argument(read, str)


class FixedLine(NamedTuple):
    """The line of a command whose fields, after the number of its line, are its arguments."""

    word: str
    command: Callable[..., Command]
    arguments: tuple[Argument, ...]

    def read(self, words: Words, context: Context) -> Command:
        """The command that the words after the command word say."""
        values = [argument.read(words) for argument in self.arguments]
        end(words)
        return self.command(context.lines.number, *values)

    def write(self, command: Command) -> str:
        """The line of the command."""
        values = zip(self.arguments, command[1:])
        return " ".join([self.word, *(argument.write(value) for argument, value in values)])
