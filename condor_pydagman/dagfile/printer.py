"""From a command to its line in a DAG file: what the parser reads from it is the same command.

Every line is read back before it is given out: what no line can say (a file name with a newline, a
node called CHILD) is refused, never written as something else.
"""

from __future__ import annotations

from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.parser import Reading, iter_commands
from condor_pydagman.dagfile.syntax import SYNTAX_OF


def lines(command: Command, *, allow_any_node_name_characters: bool = False) -> str:
    """The line of `command`, or the lines if it has an inline description; no newline at the end.

    Raises:
        ValueError: the command can't be written in the DAG language.
    """
    text = SYNTAX_OF[type(command)].write(command)
    reading = Reading("", allow_any_node_name_characters=allow_any_node_name_characters)
    read = list(iter_commands(text, reading))
    if reading.errors or len(read) != 1 or not _same(read[0], command):
        raise ValueError(f"can't be written in a DAG file: {command!r}")
    return text


def _same(one: Command, other: Command) -> bool:
    return type(one) is type(other) and one[1:] == other[1:]
