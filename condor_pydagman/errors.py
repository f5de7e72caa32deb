"""The exceptions that can reach a user, by cause.

    PydagmanError
      DagFileError      the DAG file is wrong: file, line, column, the line, what was expected
      UsageError        the command line is wrong
      ConfigError       the configuration is wrong
      FileError         a file of DAGMan's can't be read or written
      PoolError         the schedd refused or did not answer; `transient`: a retry may succeed

Any other exception is a bug of DAGMan.
"""

from __future__ import annotations

import errno

from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import message

MAX_TRAIL_LINES = 20  # lines


class PydagmanError(Exception):
    """Base class of all errors that a user can see; `str()` is the message."""


class DagFileError(PydagmanError):
    """A line of a DAG file (or of a rescue file) that is wrong.

    `str()` gives stock DAGMan's first line (`ERROR: <file>:<line> ...`), which tools match on;
    `detail()` adds the usage, the place, the line with a caret and what to do.

    Attributes:
        text: that line, or the part of it around the wrong word.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str,
        line: int = 0,
        place: int = 0,
        column: int = 0,
        excerpt: tuple[str, int] = ("", 0),
        command: str = "",
        usage: str = "",
        hint: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message  # what is wrong, in stock DAGMan's words
        self.file = file  # name of the file as it is known to the user
        # number of the line from 1, 0 if there is none; of a command that is continued over several
        # lines, that of the last one, as stock DAGMan counts
        self.line = line
        # number of the line that has the wrong word; 0 if that is `line`
        self.place = place or line
        self.column = column  # of the wrong word on that line, in characters from 1; 0 if unknown
        self.text, caret = excerpt
        # where in `text` the wrong word begins, from 1; 0 if that is at `column`
        self.caret = caret or column
        self.command = command  # the command word
        self.usage = usage  # how the command is to be written
        self.hint = hint  # what to do
        # if the file was read because of a line of another file, and so on, stock DAGMan's lines
        # that say so
        self.trail: list[str] = []
        self.others: tuple[DagFileError, ...] = ()  # further errors of the same file

    def __str__(self) -> str:
        place = f"{message(self.file)}:{self.line} " if self.line else ""
        if self.command:
            return f"ERROR: {place}Failed to parse {self.command} command: {self.message}"
        return f"ERROR: {place}{self.message}"

    def detail(self) -> str:
        """The whole message, with what is needed to correct the line: several lines of text."""
        lines = [str(self)]
        if self.usage:
            lines.append(f"       {_EXAMPLE}: {self.usage}")
        lines += self.shortened_trail()
        lines += self.place_lines()
        if self.hint:
            lines.append(f"       {self.hint}")
        lines += [other.detail() for other in self.others]
        return "\n".join(lines)

    def shortened_trail(self) -> list[str]:
        """The trail; the middle of one longer than MAX_TRAIL_LINES is left out."""
        if len(self.trail) <= MAX_TRAIL_LINES:
            return self.trail
        left = len(self.trail) - MAX_TRAIL_LINES
        return [*self.trail[: MAX_TRAIL_LINES - 1], f"    ... {left} more ...", self.trail[-1]]

    def place_lines(self) -> list[str]:
        """The place, the line and the caret, as far as they are known."""
        lines = []
        if self.column:
            lines.append(f"    {message(self.file)}:{self.place}:{self.column}:")
        if self.text:
            lines.append(f"    {self.text}")
            if self.caret:
                lines.append("    " + " " * (self.caret - 1) + "^")
        return lines


_EXAMPLE = "Example sytanx"  # sic: tools know the stock programs' messages by it


def own_spelling(text: str) -> str:
    """The text of errors in a program that is not one of stock's."""
    return text.replace(f"       {_EXAMPLE}: ", "       Example syntax: ")


class DagFileWarning(NamedTuple):
    """A line of a DAG file that is accepted, but probably does not do what its author meant."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"Warning: {message(self.file)}:{self.line} {self.message}"


class UsageError(PydagmanError):
    """A wrong command line."""


class ConfigError(PydagmanError):
    """A configuration knob with a value that can't be used, or a CONFIG file that can't be read."""


# Errors of the machine that may be temporary: a disk that is full, read-only or failing, memory,
# open files.
_MACHINE_ERRNOS = (
    errno.EIO,
    errno.ESTALE,
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EROFS,
    errno.ENOMEM,
    errno.EMFILE,
    errno.ENFILE,
)


def is_machine_error(error: OSError) -> bool:
    """Whether the machine is the cause: DAGMan exits with EXIT_RESTART then."""
    return error.errno in _MACHINE_ERRNOS


class FileError(PydagmanError):
    """A file of DAGMan's that can't be read or written; the message names it and says what to do.

    `transient`: a retry may succeed, for example because the disk is full now.
    """

    def __init__(self, message: str, *, transient: bool = False) -> None:
        super().__init__(message)
        self.transient = transient


class PoolError(PydagmanError):
    """The schedd refused or could not be reached."""

    def __init__(self, reason: str, *, transient: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.transient = transient


def bindings_missing(error: ImportError) -> str:
    """The sentence for somebody whose Python lacks HTCondor's bindings, or can't load them."""
    return f"HTCondor's Python bindings are needed ({error}); to install them: pip install htcondor"


def is_about_bindings(error: ImportError) -> bool:
    """Whether it is HTCondor's bindings that could not be imported, or a part of them."""
    return (error.name or "").partition(".")[0] in ("htcondor2", "classad2")


class CannotPrepare(PydagmanError):
    """The submit file of a sub-DAG can't be made: its node can't be submitted.

    `str()` is one line that begins with stock DAGMan's.
    """

    def __init__(self, node: str, reason: str, *, transient: bool = False) -> None:
        super().__init__(f"ERROR: condor_submit_dag -no_submit failed for node {node}. {reason}")
        self.reason = reason  # what is wrong and with which file, in one line
        self.transient = transient  # it may be possible later
