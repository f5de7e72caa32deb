"""What the lines of many commands are made of: names, files, numbers, and their ends.

Each function reads one word.  It raises LineError with stock DAGMan's message if the word is not as
it must be, QuotingError if a quote is not closed.
"""

from __future__ import annotations

import re

from condor_pydagman.dagfile.lexer import Words
from condor_pydagman.dagfile.line_error import LineError
from condor_pydagman.dagfile.lines import Lines
from condor_pydagman.named_tuple import NamedTuple

RESERVED_NAMES = frozenset(("PARENT", "CHILD", "ALL_NODES"))
LOWEST, HIGHEST = -(2**31), 2**31 - 1  # of any number in a DAG file

_INTEGER = re.compile(r"([+-]?)0*([0-9]+)")


class Context(NamedTuple):
    """What reading a command takes besides its words: the lines after it, what names may hold."""

    lines: Lines
    allow_any_node_name_characters: bool = False


def normal(word: str) -> str:
    """The form in which words of the language are compared: upper case, `-` and `_` alike."""
    return word.upper().replace("-", "_")


def integer(word: str) -> int | None:
    """The number that `word` begins with, whatever follows it; None if none or beyond 32 bits."""
    found = _INTEGER.match(word)
    if found is None or len(found.group(2)) > 10:
        return None
    number = int(found.group(1) + found.group(2))
    return number if LOWEST <= number <= HIGHEST else None


def number(words: Words, missing: str, invalid: str, low: int = LOWEST, high: int = HIGHEST) -> int:
    """A number from `low` to `high`; `invalid` has a place for the word."""
    return checked_number(needed(words, missing), words, invalid, low, high)


def checked_number(
    word: str,
    words: Words,
    invalid: str,
    low: int = LOWEST,
    high: int = HIGHEST,
    column: int | None = None,
) -> int:
    """As `number`, for a word that was read before, at `column` if not last."""
    value = integer(word)
    if value is None or not low <= value <= high:
        raise LineError(invalid.format(word), words, hint=_range(low, high), column=column)
    if not word.lstrip("+-").isdigit():
        words.remark(f"'{word[:40]}' is read as {value}")
    return value


def number_alone(
    words: Words, missing: str, invalid: str, low: int = LOWEST, high: int = HIGHEST
) -> int:
    """As `number`, for commands of ours: nothing may follow the digits.  1h is not one second."""
    word = needed(words, missing)
    if not _INTEGER.fullmatch(word):
        hint = f"{_range(low, high)}, without a unit, a point or anything else behind it"
        raise LineError(invalid.format(word), words, hint=hint)
    return checked_number(word, words, invalid, low, high)


def number_or_share(words: Words, missing: str, invalid: str, low: int) -> tuple[int, bool]:
    """A whole number from `low`, and whether it is a share: per cent, of at most 100.  The `%` may
    be a word of its own."""
    said = needed(words, missing)
    column = words.column
    if words.peek() == "%":
        said += f" {words.next()}"
    percent = said.endswith("%")
    digits = said[:-1].rstrip() if percent else said
    value = integer(digits) if _INTEGER.fullmatch(digits) else None
    if value is None or not low <= value <= (100 if percent else HIGHEST):
        hint = f"{_range(low, HIGHEST)}, or a share of them: a whole number of per cent from {low}"
        raise LineError(
            invalid.format(said), words, hint=f"{hint} to 100, as in 50%", column=column
        )
    return value, percent


def _range(low: int, high: int) -> str:
    if (low, high) == (LOWEST, HIGHEST):
        return "expected a whole number of at most 32 bits"
    if high == HIGHEST:
        return f"expected a whole number, {low} or more"
    return f"expected a whole number from {low} to {high}"


def needed(words: Words, missing: str, expected: tuple[str, ...] = ()) -> str:
    """A word; `missing` is said if there is none."""
    word = words.next()
    if not word:
        raise LineError(missing, words, expected)
    return word


def needed_file(words: Words, missing: str) -> str:
    """The name of a file or directory, without its quotes."""
    word = words.next_file()
    if not word:
        raise LineError(missing, words)
    return word


def node_name(words: Words) -> str:
    """The name of a node that a line refers to, ALL_NODES included."""
    return needed(words, "No node name specified")


def new_node_name(words: Words, context: Context) -> str:
    """The name of a node that a line defines."""
    name = needed(words, "Missing node name")
    if name.upper() in RESERVED_NAMES:
        raise LineError(
            "Node name is a reserved word",
            words,
            hint="PARENT, CHILD and ALL_NODES, in any case, can't be names of nodes",
        )
    if "+" in name and not context.allow_any_node_name_characters:
        raise LineError(
            "Node name contains illegal charater",
            words,
            hint="+ stands between the name of a splice and that of a node in it; use another "
            "character, or set DAGMAN_ALLOW_ANY_NODE_NAME_CHARACTERS",
            column=words.column + max(0, words.line[words.column :].find("+")),
        )
    return name


def end(words: Words, *expected: str) -> None:
    """Nothing; `expected` could have stood there."""
    unexpected(words.next(), words, *expected)


def unexpected(word: str, words: Words, *expected: str) -> None:
    """Refuse `word` unless it is the '' of the line's end."""
    if word:
        hint = "" if expected else "expected the end of the line"
        raise LineError(f"Unexpected token '{word}'", words, expected, hint)
