"""Lines and words of a DAG file as a message can show them: in part, and with nothing invisible."""

from __future__ import annotations

from condor_pydagman.dagfile.lexer import TRIMMED
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import printable

MAX_EXCERPT_LENGTH = 160  # characters of a line that a message shows


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
    if length - indent > MAX_EXCERPT_LENGTH:
        begin = max(indent, min(column - MAX_EXCERPT_LENGTH // 2, length - MAX_EXCERPT_LENGTH))
    end = min(length, begin + MAX_EXCERPT_LENGTH)
    before = printable(line[begin:column])
    text = before + printable(line[column:end])
    return Excerpt(text, len(before) + 1)
