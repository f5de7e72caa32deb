r"""The lines of a DAG file, read once from front to back, from blocks of text.

The rules are stock DAGMan's: lines are trimmed; empty ones and those that begin with `#` or `//`
are ignored; a last `\` joins a line with the next one that is not ignored.  A file is never in
memory as a whole, unless it is one line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator

from condor_pydagman.language import bulk
from condor_pydagman.language.bulk import SimpleLines
from condor_pydagman.language.lexer import TRIMMED, LineError, Words
from condor_pydagman.named_tuple import NamedTuple

BLOCK_LENGTH = 1 << 18  # characters; a block this small stays in the processor's cache
MIN_SEARCH_GAP, MAX_SEARCH_GAP = 1 << 10, 1 << 16  # characters
MAX_COMMAND_LENGTH = 1 << 25  # characters of a command
MAX_LOOSE_PIECES = 4096
MAX_PIECES = 10_000  # of a continued line; errors behind them are shown at the last of these


class Where(NamedTuple):
    """A place in the text: number of the physical line from 1, the line, column in it from 0."""

    number: int
    raw: str
    column: int


class Lines:
    """The lines of a text that comes in blocks, each but the last ending at a line's end."""

    def __init__(
        self, blocks: Iterable[str], known: deque[tuple[int, int, int]] | None = None
    ) -> None:
        """`known`: the sequences of simple lines, if the same text has been read before."""
        self.number = 0  # number of the physical line read last, from 1; 0 before the first
        self.cut_off = 0  # where the command begins that the file's end cut off; 0 if there is none
        self.block = ""  # the block that the line read last ended in
        self.continued = False  # whether the last command stood on several lines
        # where a block that has been begun holds a NUL character; None if there is none
        self.nul: Where | None = None
        # number of a line where there is no reading on, for it is part of a command longer than
        # MAX_COMMAND_LENGTH; else 0
        self.too_long = 0
        self.opening = ""  # the first physical line of the last command
        self._blocks = iter(blocks)
        self._position = 0
        self._known = known
        # Where few simple lines follow each other, looking for them costs more than they save:
        # each failure doubles the distance to the next attempt.
        self._no_search_before = 0
        self._search_gap = MIN_SEARCH_GAP
        self._has_odd_lines = False  # whether the block is known to have lines that are not simple
        self._raw = ""
        self._raw_number = 0
        self._pieces: list[tuple[int, int, str]] = []  # of a continued line: offset, number, raw

    def logical(self) -> str | None:
        """The next command: trimmed, its continuations joined by one blank.  None at the end.

        After it, `number` is that of its last physical line.  A command that the file's end cuts
        off is dropped, as stock DAGMan does; `cut_off` tells.
        """
        self.continued = False
        line = self._kept()
        self.opening = self._raw
        if line is None or line[-1] != "\\":
            return line
        self.continued = True
        return self._continued(line[:-1])

    def simple_lines(self) -> SimpleLines | None:
        """Simple lines that come next, read over.  None if there are none, or too few."""
        if self._position >= len(self.block) and not self._next_block():
            return None
        if self._known is not None:
            if not self._known or self._known[0][0] != self.number + 1:
                return None
            simple = bulk.lines_found_before(self.block, self._position, self._known.popleft())
        elif self._position < self._no_search_before:
            return None
        else:
            found = bulk.find_lines(
                self.block, self._position, self.number + 1, odd=self._has_odd_lines
            )
            self._has_odd_lines = True  # else nothing is left of the block
            if found is None:
                self._no_search_before = self._position + self._search_gap
                self._search_gap = min(2 * self._search_gap, MAX_SEARCH_GAP)
                return None
            simple = found
            self._search_gap = MIN_SEARCH_GAP
        self._position += len(simple.text)
        self.number += simple.lines
        return simple

    def description(self, closing: str) -> tuple[str, str] | None:
        """Text of an inline submit description, and the line that ends it, with what follows there.

        The latter begins with `closing`.  All are trimmed; empty lines and comments are left out; a
        `\\` at an end stays for the submit language.  None if the file ends first.
        """
        closing_and_more = closing + " "
        kept = _Joined("\n")
        opening = self._raw, self._raw_number
        while True:
            line = self._kept()
            if line is None:
                self._raw, self._raw_number = opening
                return None
            if line == closing or line.startswith(closing_and_more):
                self._pieces = []
                return kept.text(), line
            kept.add(line)

    def where(self, column: int) -> Where:
        """Where in the text that is which stands at `column`, from 0, of the current line.

        That is the line which `logical` gave last, or the one that ended the last `description`.
        """
        offset, number, raw = 0, self._raw_number, self._raw
        if self._pieces and self._pieces[-1][1] == number:
            after = bisect_right(self._pieces, (column, self.number + 1, ""))
            offset, number, raw = self._pieces[after - 1]
        indent = len(raw) - len(raw.lstrip(TRIMMED))
        return Where(number, raw, min(column - offset + indent, len(raw)))

    def _continued(self, begin: str) -> str | None:
        first = self._raw_number
        parts = _Joined(" ")
        self._pieces = []
        if begin:
            parts.add(begin)
            self._pieces.append((0, first, self._raw))
        while True:
            line = self._kept()
            if line is None:
                self.cut_off = first
                return None
            if parts.length > MAX_COMMAND_LENGTH:
                self.too_long = self.number
                return None
            if len(self._pieces) >= MAX_PIECES:
                self._pieces.pop()
            self._pieces.append((parts.length, self.number, self._raw))
            if line[-1] != "\\":
                parts.add(line)
                return parts.text()
            if line != "\\":
                parts.add(line[:-1])

    def _kept(self) -> str | None:
        """The next physical line, trimmed, that is neither empty nor a comment."""
        while True:
            block, begin = self.block, self._position
            if begin >= len(block):
                if not self._next_block():
                    return None
                continue
            end = block.find("\n", begin)
            if end < 0:
                end = len(block)
            self._position = end + 1
            self.number += 1
            if end - begin > MAX_COMMAND_LENGTH:
                self.too_long = self.number
                return None
            raw = block[begin:end]
            line = raw.strip(TRIMMED)
            if line and not is_comment(line):
                self._raw, self._raw_number = raw, self.number
                return line

    def _next_block(self) -> bool:
        for block in self._blocks:
            if block:
                self.block, self._position, self._no_search_before = block, 0, 0
                self._has_odd_lines = False
                if "\0" in block and self.nul is None:
                    self.nul = self._where_nul()
                return True
        self._position = len(self.block)
        return False

    def _where_nul(self) -> Where:
        block = self.block
        position = block.index("\0")
        begin = block.rfind("\n", 0, position) + 1
        end = block.find("\n", position)
        raw = block[begin : end if end >= 0 else len(block)]
        return Where(self.number + 1 + block.count("\n", 0, position), raw, position - begin)


def is_comment(line: str) -> bool:
    """Whether a trimmed line is one that means nothing."""
    return line[0] in "#/" and line.startswith(("#", "//"))


class _Joined:
    """Very many short pieces joined, without a list of all of them."""

    def __init__(self, separator: str) -> None:
        self.length = 0  # of the text so far, and of the separator that follows it
        self._separator = separator
        self._pieces: list[str] = []
        self._chunks: list[str] = []

    def add(self, piece: str) -> None:
        self._pieces.append(piece)
        self.length += len(piece) + 1
        if len(self._pieces) >= MAX_LOOSE_PIECES:
            self._chunks.append(self._separator.join(self._pieces))
            self._pieces.clear()

    def text(self) -> str:
        left = [self._separator.join(self._pieces)] if self._pieces else []
        return self._separator.join([*self._chunks, *left])


def in_blocks(text: str) -> Iterator[str]:
    """A text cut into blocks, each but the last ending at a line's end."""
    begin, length = 0, len(text)
    while begin < length:
        end = text.find("\n", begin + BLOCK_LENGTH) + 1 or length
        yield text[begin:end]
        begin = end


# What the lines of many commands are made of: names, files, numbers, and their ends.
#
# Each function reads one word.  It raises LineError with stock DAGMan's message if the word is not
# as it must be, QuotingError if a quote is not closed.

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
        raise LineError(invalid.format(word), words, hint=number_range(low, high), column=column)
    if not word.lstrip("+-").isdigit():
        words.remark(f"'{word[:40]}' is read as {value}")
    return value


def number_range(low: int, high: int) -> str:
    """What is expected of a number."""
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


def needed_file(words: Words, missing: str, hint: str = "") -> str:
    """The name of a file or directory, without its quotes."""
    word = words.next_file()
    if not word:
        raise LineError(missing, words, hint=hint)
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
