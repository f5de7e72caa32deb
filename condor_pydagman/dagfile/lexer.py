"""From the text of a DAG file to logical lines, and from a logical line to its words.

The rules are stock DAGMan's: lines are trimmed; empty ones and those that begin with `#` or `//`
are ignored; a last `\\` joins a line with the next one that is not ignored.  Words are separated by
blanks, tabs and CRs; quotes may begin anywhere in a word.  Everything here takes time linear in the
length of the text, and none of it recurses: a file may have a million lines, or one of 100 MB.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

TRIMMED = " \t\r\n\v\f"
SEPARATORS = " \t\r"
BLOCK = 1 << 20  # characters cut into lines at a time, so that no list of all lines exists

# str.split() also splits at these; in a file without them it does what the words of a line need.
_ODD_BLANKS = re.compile("[\v\f\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
_WORD_STOP = re.compile("[ \t\r\"']")
_QUOTE_STOP = {'"': re.compile(r'["\\]'), "'": re.compile(r"['\\]")}
_KEY = re.compile("[^= \t\r]*")
_SEPARATOR = re.compile("[ \t\r]")
_NOT_SEPARATOR = re.compile("[^ \t\r]")


class QuotingError(ValueError):
    """A quote that opens at `column` (from 0) of `line` is never closed."""

    def __init__(self, line: str, column: int) -> None:
        super().__init__("Invalid quoting: no ending quote found")
        self.line = line
        self.column = column


def splits_plainly(text: str) -> bool:
    """Whether `str.split()` finds the words of unquoted lines of `text`."""
    return _ODD_BLANKS.search(text) is None


class Lines:
    """The lines of a text, read once from front to back.

    Attributes:
        number: number of the physical line read last, from 1; 0 before the first.
    """

    def __init__(self, text: str) -> None:
        self.number = 0
        self._physical = _physical_lines(text)

    def logical(self) -> Iterator[str]:
        """Trimmed lines with continuations joined by one blank.

        After each, `number` is that of its last physical line.  A command that the file's end cuts
        off is dropped, as stock DAGMan does.
        """
        for raw in self._physical:
            self.number += 1
            line = raw.strip(TRIMMED)
            if not line or (line[0] in "#/" and _is_comment(line)):
                continue
            if line[-1] == "\\":
                joined = self._continued(line[:-1])
                if joined is None:
                    return
                line = joined
            yield line

    def description(self, closing: str) -> tuple[list[str], str] | None:
        """Lines of an inline submit description, and the one that ends it, with what follows there.

        The last begins with `closing`.  All are trimmed; empty lines and comments are left out; a
        `\\` at an end stays for the submit language.  None if the file ends first.
        """
        closing_and_more = closing + " "
        kept: list[str] = []
        for raw in self._physical:
            self.number += 1
            line = raw.strip(TRIMMED)
            if not line or _is_comment(line):
                continue
            if line == closing or line.startswith(closing_and_more):
                return kept, line
            kept.append(line)
        return None

    def _continued(self, begin: str) -> str | None:
        parts = [begin]
        for raw in self._physical:
            self.number += 1
            line = raw.strip(TRIMMED)
            if not line or _is_comment(line):
                continue
            if line[-1] != "\\":
                parts.append(line)
                return " ".join(parts)
            parts.append(line[:-1])
        return None


class Words:
    """The words of one logical line, one after the other.

    Attributes:
        line: the line.
        column: where the word read last began, from 0; the line's length at its end.
    """

    def __init__(self, line: str, position: int = 0) -> None:
        self.line = line
        self.column = position
        self._position = position

    def next(self) -> str:
        """The next word, '' at the end.  Quote characters stay, escapes in quotes are resolved.

        Raises:
            QuotingError: a quote is not closed.
        """
        return self._next(keep_quotes=True)

    def next_file(self) -> str:
        """As `next`, for names of files: quote characters go, a word of quotes only is skipped."""
        while True:
            word = self._next(keep_quotes=False)
            if word or self._position >= len(self.line):
                return word

    def rest(self) -> str:
        """What is left of the line, unprocessed."""
        begin = self._skip_separators()
        self._position = len(self.line)
        return self.line[begin:]

    def next_key(self) -> str:
        """Characters up to the next separator or `=`, quotes meaning nothing; may be ''."""
        found = _KEY.match(self.line, self._skip_separators())
        key = found.group() if found else ""
        self._position += len(key)
        return key

    def peek(self) -> str:
        """The first character of the next word, '' at the end."""
        begin = self._skip_separators()
        return self.line[begin : begin + 1]

    def at_separator(self) -> bool:
        """Whether the key or word read last ends at a separator or at the end of the line."""
        return self.line[self._position : self._position + 1] in ("", *SEPARATORS)

    def take_equals(self) -> bool:
        """Whether the next word begins with `=`, which is then taken."""
        found = self.peek() == "="
        self._position += found
        return found

    def _skip_separators(self) -> int:
        found = _NOT_SEPARATOR.search(self.line, self._position)
        self._position = self.column = found.start() if found else len(self.line)
        return self._position

    def _next(self, keep_quotes: bool) -> str:
        line = self.line
        position = self._skip_separators()
        pieces: list[str] = []
        while position < len(line):
            found = _WORD_STOP.search(line, position)
            end = found.start() if found else len(line)
            pieces.append(line[position:end])
            position = end
            if found is None or found.group() in SEPARATORS:
                break
            position = self._quoted(position, pieces, keep_quotes)
        self._position = position
        return "".join(pieces)

    def _quoted(self, begin: int, pieces: list[str], keep_quotes: bool) -> int:
        """Append the quoted part that opens at `begin` to `pieces`; return where it ends."""
        line, quote = self.line, self.line[begin]
        if keep_quotes:
            pieces.append(quote)
        position = begin + 1
        while True:
            found = _QUOTE_STOP[quote].search(line, position)
            if found is None or (found.group() == "\\" and found.end() == len(line)):
                raise QuotingError(line, begin)
            pieces.append(line[position : found.start()])
            position = found.end()
            if found.group() == quote:
                break
            pieces.append(line[position])
            position += 1
        if keep_quotes:
            pieces.append(quote)
        return position


def _is_comment(line: str) -> bool:
    return line.startswith(("#", "//"))


def first_word(line: str) -> str:
    """The first word of a trimmed line, quotes meaning nothing."""
    found = _SEPARATOR.search(line)
    return line[: found.start()] if found else line


def _physical_lines(text: str) -> Iterator[str]:
    begin, length = 0, len(text)
    while begin < length:
        end = text.find("\n", begin + BLOCK)
        if end < 0:
            end = length
        yield from text[begin:end].split("\n")
        begin = end + 1
