"""What a test of one command's line asks: its command, its first error, its warnings."""

from __future__ import annotations

from condor_pydagman.errors import DagFileError
from condor_pydagman.language.commands import Command
from condor_pydagman.language.parser import parse


def good(text: str) -> Command:
    """The only command of `text`, which must be right."""
    parsed = parse(text, "x.dag")
    assert parsed.errors == []
    (command,) = parsed.commands
    return command


def wrong(text: str) -> DagFileError:
    """The only error of `text`."""
    (error,) = parse(text, "x.dag").errors
    return error


def message(text: str) -> str:
    """The message of the only error of `text`, with the command it names."""
    error = wrong(text)
    return f"{error.command}: {error.message}"


def warnings(text: str) -> list[str]:
    """What is said of `text`, which is applied."""
    parsed = parse(text, "x.dag")
    assert parsed.errors == []
    return [str(warning) for warning in parsed.warnings]
