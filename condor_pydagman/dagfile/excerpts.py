"""Lines and words of a DAG file as a message can show them: in part, and with nothing invisible."""

from __future__ import annotations

from typing import NamedTuple

from condor_pydagman.dagfile.lexer import TRIMMED

LONGEST_EXCERPT = 160  # characters of a line that a message shows
LONGEST_MESSAGE = 1000


class Excerpt(NamedTuple):
    """Part of a line, and where the caret goes under it, from 1 to the text's length + 1."""

    text: str
    caret: int


def excerpt(line: str, column: int) -> Excerpt:
    """The part of `line` around `column`, from 0, in one row of printable characters."""
    indent = len(line) - len(line.lstrip(TRIMMED))
    length = max(len(line.rstrip(TRIMMED)), indent)
    column = min(max(column, indent), length)
    begin = indent
    if length - indent > LONGEST_EXCERPT:
        begin = max(indent, min(column - LONGEST_EXCERPT // 2, length - LONGEST_EXCERPT))
    end = min(length, begin + LONGEST_EXCERPT)
    before = printable(line[begin:column])
    text = before + printable(line[column:end])
    return Excerpt(text, len(before) + 1)


def printable(text: str) -> str:
    """`text` with tabs as blanks and what can't be printed as `\\\\x1b` or `\\\\u00a0`."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _named(c) for c in text)


def message(text: str) -> str:
    """`text` as part of a message: not too long, in one row."""
    if len(text) > LONGEST_MESSAGE:
        text = text[:LONGEST_MESSAGE] + "..."
    return printable(text)


def _named(character: str) -> str:
    code = ord(character)
    if character == "\t":
        return " "
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
