"""How the lines are read and written that say when a node runs again: RETRY, and TIMEOUT.

A line that stock DAGMan has is read as it reads it.  Ours are TIMEOUT and the options of RETRY
beyond one number after UNLESS-EXIT (man page dagman-language); in them a number is a number or an
error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.lexer import Words
from condor_pydagman.dagfile.line_error import LineError
from condor_pydagman.dagfile.line_parts import (
    HIGHEST,
    LOWEST,
    Context,
    checked_number,
    needed,
    node_name,
    normal,
    number,
    unexpected,
)
from condor_pydagman.dagfile.quoting import joined, name_word
from condor_pydagman.named_tuple import NamedTuple

RETRY_USAGE = (
    "RETRY <node> <max retries> [UNLESS-EXIT <codes>] [ONLY-IF <codes>] [DELAY <time>]"
    " [BACKOFF <factor>] [MAX-DELAY <time>]"
)

_CODES = re.compile("[+-]?[0-9]{1,10}(?:,[+-]?[0-9]{1,10})*")
_TIME = re.compile("([0-9]{1,10})([smhd]?)", re.IGNORECASE)
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_FACTOR = re.compile(r"[0-9]{1,10}(?:\.[0-9]{1,15})?")

_CODES_HINT = "expected whole numbers with commas, not blanks, between them, as 1,3,-9"
_ZERO_HINT = "0 is success, which is never retried"
_TIME_HINT = "expected seconds, or a number with s, m, h or d after it, as 90 or 10m"
_FACTOR_HINT = f"expected a number from 1 to {HIGHEST}, as 2 or 1.5"


class _Option(NamedTuple):
    """An option of a line, whose field in the command has its name."""

    read: Callable[[Words, str], Any]
    write: Callable[[Any], str] = str


def read_retry(words: Words, context: Context) -> Command:
    """RETRY."""
    node = node_name(words)
    invalid = "Invalid max retry value '{}' (Must be positive integer)"
    limit = number(words, "Missing max retry value", invalid, 0)
    options: dict[str, Any] = {}
    try:
        _read_options(words, _RETRY_OPTIONS, options)
    except LineError as wrong:
        if options.keys() - {"unless_exit"}:
            wrong.usage = RETRY_USAGE
        raise
    return commands.RetryLine(context.lines.number, node, limit, **options)


def write_retry(command: commands.RetryLine) -> str:
    """RETRY."""
    return joined(f"RETRY {name_word(command.node)} {command.limit}", retry_options(command))


def retry_options(command: commands.RetryLine) -> str:
    """The options of a RETRY line, as they stand after the number of retries; '' if none."""
    return _written_options(command, _RETRY_OPTIONS)


def read_timeout(words: Words, context: Context) -> Command:
    """TIMEOUT."""
    node = node_name(words)
    options: dict[str, Any] = {}
    _read_options(words, _TIMEOUT_OPTIONS, options)
    if not options:
        expected = tuple(_TIMEOUT_OPTIONS)
        raise LineError("Missing time limit (QUEUED, RUNNING, TOTAL)", words, expected)
    return commands.TimeoutLine(context.lines.number, node, **options)


def write_timeout(command: commands.TimeoutLine) -> str:
    """TIMEOUT."""
    options = _written_options(command, _TIMEOUT_OPTIONS)
    return joined("TIMEOUT", name_word(command.node), options)


def _read_options(words: Words, readable: Mapping[str, _Option], options: dict[str, Any]) -> None:
    """Read options up to the end of the line, in any order, each at most once, into `options`.

    The one that is being read has its name there, whatever becomes of it.
    """
    by_name = {normal(option): option for option in readable}
    while True:
        word = words.next()
        option = by_name.get(normal(word))
        if option is None:
            left = (shown for shown in readable if _field(shown) not in options)
            unexpected(word, words, *left)
            return
        if _field(option) in options:
            hint = f"{option} can stand here once"
            raise LineError(f"Unexpected token '{word}'", words, hint=hint)
        options[_field(option)] = None
        options[_field(option)] = readable[option].read(words, option)


def _field(option: str) -> str:
    return normal(option).lower()


def _unless_exit(words: Words, option: str) -> tuple[int, ...]:
    """Without a comma, what stock DAGMan makes of it."""
    word = needed(words, f"{option} missing exit code")
    if "," in word:
        return _many_codes(word, words, option)
    return (checked_number(word, words, f"Invalid {option} code '{{}}' specified"),)


def _only_if(words: Words, option: str) -> tuple[int, ...]:
    return _many_codes(needed(words, f"{option} missing exit code"), words, option)


def _many_codes(word: str, words: Words, option: str) -> tuple[int, ...]:
    message = f"Invalid {option} code '{word}' specified"
    if _CODES.fullmatch(word) is None:
        raise LineError(message, words, hint=_CODES_HINT)
    codes = tuple(map(int, word.split(",")))
    if not all(codes):
        raise LineError(message, words, hint=_ZERO_HINT)
    if not all(LOWEST <= code <= HIGHEST for code in codes):
        raise LineError(message, words, hint="expected whole numbers of at most 32 bits")
    return codes


def read_time(words: Words, option: str) -> int:
    """The time that follows the word `option`, in seconds."""
    word = needed(words, f"{option} missing time value")
    found = _TIME.fullmatch(word)
    seconds = int(found.group(1)) * _SECONDS[found.group(2).lower()] if found else -1
    if not 0 <= seconds <= HIGHEST:
        hint = f"expected at most {HIGHEST} seconds" if found else _TIME_HINT
        raise LineError(f"Invalid {option} time value '{word}'", words, hint=hint)
    return seconds


def _factor(words: Words, option: str) -> float:
    word = needed(words, f"{option} missing factor")
    factor = float(word) if _FACTOR.fullmatch(word) else 0.0
    if not 1.0 <= factor <= HIGHEST:
        raise LineError(f"Invalid {option} factor '{word}'", words, hint=_FACTOR_HINT)
    return factor


def _written_options(
    command: commands.RetryLine | commands.TimeoutLine, options: Mapping[str, _Option]
) -> str:
    """The options that the command has, each as its name and its value."""
    values = ((name, option, getattr(command, _field(name))) for name, option in options.items())
    return " ".join(
        f"{name} {option.write(value)}" for name, option, value in values if value is not None
    )


def _written_codes(codes: tuple[int, ...]) -> str:
    return ",".join(map(str, codes))


def _written_factor(factor: float) -> str:
    return str(int(factor)) if factor.is_integer() else str(factor)


_RETRY_OPTIONS = {
    "UNLESS-EXIT": _Option(_unless_exit, _written_codes),
    "ONLY-IF": _Option(_only_if, _written_codes),
    "DELAY": _Option(read_time),
    "BACKOFF": _Option(_factor, _written_factor),
    "MAX-DELAY": _Option(read_time),
}
_TIMEOUT_OPTIONS = {
    "QUEUED": _Option(read_time),
    "RUNNING": _Option(read_time),
    "TOTAL": _Option(read_time),
}
