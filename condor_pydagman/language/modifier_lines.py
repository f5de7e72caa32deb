"""How the lines are read and written that say more of nodes: SCRIPT, VARS, RETRY, ..."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from condor_pydagman.language import commands
from condor_pydagman.language.commands import Command
from condor_pydagman.language.lexer import LineError, Words, file_word, joined, name_word, quoted
from condor_pydagman.language.lines import (
    HIGHEST,
    LOWEST,
    Context,
    checked_number,
    end,
    needed,
    node_name,
    normal,
    number,
    unexpected,
)
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import ScriptKind

# The key=value pairs of a VARS command.
#
# Stock DAGMan's rules: blanks may surround the `=`; a value is one word, bare or quoted; a key may
# not hold quotes, nor begin with `queue`; `+x` is short for `My.x`.

_PLACES = {"PREPEND": False, "APPEND": True}


def read_pairs(words: Words) -> tuple[bool | None, list[tuple[str, str]]]:
    """PREPEND/APPEND (False/True, None if neither is said), and the pairs.

    Raises:
        LineError: a pair is malformed, or there is none.
        QuotingError: a value's quote is not closed.
    """
    append = None
    pairs: list[tuple[str, str]] = []
    while words.peek():
        key = words.next_key()
        if not pairs and append is None and words.at_separator():
            append = _PLACES.get(key.upper())
            if append is not None:
                continue
        pairs.append(_pair(key, words))
    if not pairs:
        raise LineError("No key=value pairs specified", words)
    return append, pairs


def _pair(key: str, words: Words) -> tuple[str, str]:
    if '"' in key or "'" in key:
        raise LineError("Key contains quotation mark", words, hint="only the value may be quoted")
    if not key:
        raise LineError("Key value pair missing key", words)
    if key[0] == "+":
        key = "My." + key[1:]
    if key == "My.":
        raise LineError("Variable name must contain at least one alphanumeric character", words)
    if key[:5].lower() == "queue":
        raise LineError(f"Illegal variable name '{key}': name can not begin with 'queue'", words)
    return key, _value(key, words)


def _value(key: str, words: Words) -> str:
    follows = words.peek()
    if not follows:
        raise LineError("Key value pair missing operator and value", words)
    if not words.take_equals():
        raise LineError(
            "Key value pair missing value: Failed to locate operator",
            words,
            hint=f"expected = after {key[:40]}; a value with blanks must be quoted",
        )
    follows = words.peek()
    if not follows:
        raise LineError("Key value pair missing value: No value specified", words)
    if follows == "=":
        raise LineError(
            "Key value pair missing value: Double operator",
            words,
            hint="a value that begins with = must be quoted",
        )
    value = words.next()
    # Stock takes the first and the last character off, whether or not the last is the quote.
    return value[1:-1] if follows in "\"'" else value


_STREAMS = ("STDOUT", "STDERR", "ALL")
_SCRIPT_WORDS = ("PRE", "POST", "HOLD", "DEFER", "DEBUG")
_FAIL_FAST_WORDS = {"FAIL_FAST": True, "WAIT": False}


def read_script(words: Words, context: Context) -> Command:
    """SCRIPT."""
    defer_status, defer_seconds, debug_file, stream = None, 0, "", ""
    options: dict[str, Any] = {}
    while True:
        option = normal(words.next())
        if option == "DEFER":
            invalid = "Invalid DEFER status value '{}'"
            defer_status = number(words, "DEFER missing status value", invalid)
            invalid = "Invalid DEFER time value '{}'"
            defer_seconds = number(words, "DEFER missing time value", invalid)
        elif option == "DEBUG":
            debug_file, stream = _debug(words)
        elif option in _DEFER_OPTIONS and defer_status is not None:
            field = f"defer_{option.lower()}"
            if field in options:
                raise LineError(
                    f"Unexpected token '{option}'", words, hint=f"{option} stands twice"
                )
            options[field] = _DEFER_OPTIONS[option].read(words, option)
        elif option in ScriptKind.__members__:
            break
        else:
            missing = (
                "Missing script type (PRE, POST, HOLD) and optional sub-commands (DEFER, DEBUG)"
            )
            raise LineError(missing, words, _SCRIPT_WORDS)
    node, kind = node_name(words), ScriptKind[option]
    command = words.rest()
    if not command:
        raise LineError("No script specified", words, hint="the script's file follows the node")
    where = (defer_status, defer_seconds, debug_file, stream)
    return commands.ScriptLine(context.lines.number, node, kind, command, *where, **options)


def _debug(words: Words) -> tuple[str, str]:
    file = needed(words, "DEBUG missing filename")
    word = needed(words, "DEBUG missing output stream type (STDOUT, STDERR, ALL)", _STREAMS)
    if normal(word) not in _STREAMS:
        raise LineError(f"Unknown DEBUG output stream type '{word}'", words, _STREAMS)
    return file, normal(word)


def write_script(command: commands.ScriptLine) -> str:
    """SCRIPT."""
    defer = debug = ""
    if command.defer_status is not None:
        defer = f"DEFER {command.defer_status} {command.defer_seconds}"
        for option, value in zip(_DEFER_OPTIONS, command[8:]):
            if value != (1 if option == "BACKOFF" else 0):
                shown = option.replace("_", "-")
                defer += f" {shown} {_DEFER_OPTIONS[option].write(value)}"
    if command.debug_file:
        debug = f"DEBUG {name_word(command.debug_file)} {command.debug_stream}"
    what = f"{command.kind.value} {name_word(command.node)} {command.command}"
    return joined("SCRIPT", defer, debug, what)


def read_abort_dag_on(words: Words, context: Context) -> Command:
    """ABORT-DAG-ON."""
    node = node_name(words)
    word, invalid = (
        needed(words, "Missing exit status to abort on"),
        "Invalid exit status '{}' specified",
    )
    if normal(word) == "RETURN":
        hint = "expected the exit code of the node before RETURN"
        raise LineError(invalid.format(word), words, hint=hint)
    status = checked_number(word, words, invalid)
    exit_code = None
    word = words.next()
    if normal(word) == "RETURN":
        invalid = "Invalid RETURN code '{}' (Must be between 0 and 255)"
        exit_code = number(words, "RETURN is missing value", invalid, 0, 255)
        end(words)
    else:
        unexpected(word, words, "RETURN")
    return commands.AbortDagOn(context.lines.number, node, status, exit_code)


def write_abort_dag_on(command: commands.AbortDagOn) -> str:
    """ABORT-DAG-ON."""
    returns = "" if command.exit_code is None else f"RETURN {command.exit_code}"
    return joined(f"ABORT-DAG-ON {name_word(command.node)} {command.status}", returns)


def read_vars(words: Words, context: Context) -> Command:
    """VARS."""
    node = node_name(words)
    append, pairs = read_pairs(words)
    return commands.Vars(context.lines.number, node, append, tuple(pairs))


def write_vars(command: commands.Vars) -> str:
    """VARS."""
    where = {None: "", False: "PREPEND", True: "APPEND"}[command.append]
    pairs = " ".join(f"{key}={quoted(value)}" for key, value in command.pairs)
    return joined("VARS", name_word(command.node), where, pairs)


def read_tolerance(words: Words, context: Context) -> Command:
    """TOLERANCE; the `%` may be a word of its own."""
    node = node_name(words)
    value = needed(words, "Missing failure tolerance value")
    percent = value.endswith("%")
    if value == "%":
        raise LineError("Empty percentage specified for failure tolerance", words)
    column, invalid = words.column, "Invalid tolerance value '{}'"
    word = "%" if percent else words.next()  # before the value is looked at, as stock DAGMan does
    limit = checked_number(value[:-1] if percent else value, words, invalid, 0, column=column)
    if word == "%":
        percent, word = True, words.next()
    fail_fast = _FAIL_FAST_WORDS.get(normal(word))
    if fail_fast is None:
        unexpected(word, words, "FAIL-FAST", "WAIT", *(() if percent else ("%",)))
    else:
        end(words)
    return commands.ToleranceLine(context.lines.number, node, limit, percent, fail_fast)


def write_tolerance(command: commands.ToleranceLine) -> str:
    """TOLERANCE."""
    how = {None: "", True: "FAIL-FAST", False: "WAIT"}[command.fail_fast]
    limit = f"{command.limit}{'%' * command.percent}"
    return joined("TOLERANCE", name_word(command.node), limit, how)


def read_save_point_file(words: Words, context: Context) -> Command:
    """SAVE_POINT_FILE."""
    node = node_name(words)
    if node.upper() == "ALL_NODES":
        raise LineError("ALL_NODES cannot be used for save point file command", words)
    file = words.next_file()
    end(words)
    return commands.SavePointFile(context.lines.number, node, file)


def write_save_point_file(command: commands.SavePointFile) -> str:
    """SAVE_POINT_FILE."""
    file = file_word(command.file) if command.file else ""
    return joined("SAVE_POINT_FILE", name_word(command.node), file)


# How the line is read and written that says when a node runs again: RETRY; and lines with options.
#
# A line that stock DAGMan has is read as it reads it.  Ours are the options of RETRY
# beyond one number after UNLESS-EXIT (man page dagman-language); in them a number is a number or an
# error.

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


class Option(NamedTuple):
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
        read_options(words, _RETRY_OPTIONS, options)
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
    values = (
        (name, option, getattr(command, _field(name))) for name, option in _RETRY_OPTIONS.items()
    )
    return " ".join(
        f"{name} {option.write(value)}" for name, option, value in values if value is not None
    )


def read_options(words: Words, readable: Mapping[str, Option], options: dict[str, Any]) -> None:
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


def _times(words: Words, option: str) -> int:
    return number(words, f"{option} missing number", f"Invalid {option} value '{{}}'", 1)


def _written_codes(codes: tuple[int, ...]) -> str:
    return ",".join(map(str, codes))


def _written_factor(factor: float) -> str:
    return str(int(factor)) if factor.is_integer() else str(factor)


_RETRY_OPTIONS = {
    "UNLESS-EXIT": Option(_unless_exit, _written_codes),
    "ONLY-IF": Option(_only_if, _written_codes),
    "DELAY": Option(read_time),
    "BACKOFF": Option(_factor, _written_factor),
    "MAX-DELAY": Option(read_time),
}
# By their normal forms, in the order of the fields of a ScriptLine.
_DEFER_OPTIONS = {
    "TIMES": Option(_times),
    "FOR": Option(read_time),
    "BACKOFF": Option(_factor, _written_factor),
    "MAX_DELAY": Option(read_time),
}
