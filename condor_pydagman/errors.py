"""Every error that can reach a user, by whose fault it is.

    PydagmanError
      DagFileError      the DAG file is wrong: file, line, column, the line, what was expected
      UsageError        the command line is wrong
      ConfigError       the configuration is wrong
      FileError         a file of ours can't be read or written
      PoolError         the pool said no; `transient` says whether asking again can help

Anything else that is raised is a bug of ours.
"""

from __future__ import annotations


class PydagmanError(Exception):
    """Root of all errors that are meant for a person; `str()` is the message they read."""


class DagFileError(PydagmanError):
    """A line of a DAG file (or of a rescue file) that can't be obeyed.

    `str()` gives stock DAGMan's first line (`ERROR: <file>:<line> ...`), which tools match on;
    `detail()` adds the line with a caret, the usage and what to do.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str,
        line: int = 0,
        column: int = 0,
        text: str = "",
        command: str = "",
        usage: str = "",
        hint: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.column = column
        self.text = text
        self.command = command
        self.usage = usage
        self.hint = hint

    def __str__(self) -> str:
        place = f"{self.file}:{self.line} " if self.line else ""
        if self.command:
            return f"ERROR: {place}Failed to parse {self.command} command: {self.message}"
        return f"ERROR: {place}{self.message}"

    def detail(self) -> str:
        """Everything a person needs to mend the line: several lines of text."""
        lines = [str(self)]
        if self.usage:
            lines.append(f"       Example sytanx: {self.usage}")  # sic: tools know it so
        if self.text:
            lines.append(f"    {self.text}")
            if self.column:
                lines.append("    " + " " * (self.column - 1) + "^")
        if self.hint:
            lines.append(f"       {self.hint}")
        return "\n".join(lines)


class UsageError(PydagmanError):
    """A command line that can't be obeyed."""


class ConfigError(PydagmanError):
    """A configuration knob with a value that can't be used, or a CONFIG file that can't be read."""


class FileError(PydagmanError):
    """A file of ours that can't be read or written; the message names it and says what to do."""


class PoolError(PydagmanError):
    """The schedd refused or could not be reached."""

    def __init__(self, reason: str, *, transient: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.transient = transient
