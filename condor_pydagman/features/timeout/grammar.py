"""The command TIMEOUT, and how its line is read and written."""

from __future__ import annotations

from typing import Any

from condor_pydagman.dagfile.language import extension
from condor_pydagman.dagfile.lexer import LineError, Words, joined, name_word
from condor_pydagman.dagfile.lines import Context, node_name
from condor_pydagman.dagfile.modifier_lines import Option, read_options, read_time, written_options
from condor_pydagman.dagfile.syntax import Syntax
from condor_pydagman.named_tuple import NamedTuple

_OPTIONS = {"QUEUED": Option(read_time), "RUNNING": Option(read_time), "TOTAL": Option(read_time)}


class TimeoutLine(NamedTuple):
    """TIMEOUT: seconds; what is None is not in the line (see `graph.Timeout`)."""

    line: int
    node: str
    queued: int | None = None
    running: int | None = None
    total: int | None = None


def read_timeout(words: Words, context: Context) -> TimeoutLine:
    """TIMEOUT."""
    node = node_name(words)
    options: dict[str, Any] = {}
    read_options(words, _OPTIONS, options)
    if not options:
        expected = tuple(_OPTIONS)
        raise LineError("Missing time limit (QUEUED, RUNNING, TOTAL)", words, expected)
    return TimeoutLine(context.lines.number, node, **options)


def write_timeout(command: TimeoutLine) -> str:
    """TIMEOUT."""
    options = written_options(command, _OPTIONS)
    return joined("TIMEOUT", name_word(command.node), options)


LANGUAGE = (
    extension(
        "TIMEOUT <node> [QUEUED <time>] [RUNNING <time>] [TOTAL <time>]",
        "How long the node's jobs may wait, run, and take.",
        after="TOLERANCE",
    ),
)
SYNTAX = (Syntax("TIMEOUT", TimeoutLine, read_timeout, write_timeout),)
