"""From a logical line of a DAG file to its words.

The rules are stock DAGMan's: words are separated by blanks, tabs and CRs; quotes may begin anywhere
in a word.  Everything here takes time linear in the length of the line, which may be 100 MB.
"""

from __future__ import annotations

import re

from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import printable

TRIMMED = " \t\r\n\v\f"
SEPARATORS = " \t\r"

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


class Words:
    """The words of one logical line, one after the other."""

    def __init__(self, line: str, position: int = 0, *, plain: bool = False) -> None:
        """`plain`: `splits_plainly` holds for the line."""
        self.line = line  # the line
        # where the word read last began, from 0; the line's length at its end
        self.column = position
        # what was noticed of good words that look like a mistake
        self.remarks: list[str] | None = None
        self._position = position
        self._plain = plain

    @property
    def position(self) -> int:
        """Where the word read last ended, from 0."""
        return self._position

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

    def all_plain(self) -> list[str] | None:
        """All words that are left, which still come one by one as well.

        None if there may be a quote in one, or they can't be told apart fast.
        """
        if not self._plain or '"' in self.line or "'" in self.line:
            return None
        return self.line[self._position :].split()

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

    def remark(self, text: str) -> None:
        """Notice something about a word that is applied nevertheless."""
        self.remarks = [*(self.remarks or ()), text]

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


def first_word(line: str) -> str:
    """The first word of a trimmed line, quotes meaning nothing."""
    found = _SEPARATOR.search(line)
    return line[: found.start()] if found else line


# What is wrong with a command's line, before it is known in which file and where that line is.


class LineError(ValueError):
    """A word of `words` is not what the command needs there."""

    def __init__(
        self,
        message: str,
        words: Words,
        expected: tuple[str, ...] = (),
        hint: str = "",
        column: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message  # stock DAGMan's, word for word
        self.line = words.line  # the line
        # of the wrong word, from 0; of the word read last unless said otherwise
        self.column = words.column if column is None else column
        self.expected = expected  # the words of the language that could have stood there
        self.hint = hint  # what else a person should know
        self.usage = ""  # the example that is shown, '' for that of the command


# How names, files and values are written in a line so that the lexer reads them as they are.

ITEM_DOLLAR = "$(DAGMAN_DOLLAR)"
_MAY_BEGIN = re.compile(r"X(?=[$(\[]|\Z)".replace("X", re.escape(ITEM_DOLLAR)))
_QUOTES = "\"'"


def name_word(name: str) -> str:
    """The word that the lexer reads as `name`, of which it keeps the quotes.

    What stands between quotes gets its backslashes back.  A quote that was escaped is inside, one
    that was not opens or closes; several readings may be possible, and one of them that fits the
    whole word is taken.

    Raises:
        ValueError: a quote in `name` is not closed.
    """
    closes = _closing_quotes(name)
    written: list[str] = []
    position = 0
    while position < len(name):
        character = name[position]
        position += 1
        written.append(character)
        if character in _QUOTES:
            end = closes.get(position - 1)
            if end is None:
                raise ValueError(f"a quote of {name!r} is not closed")
            inside = name[position:end].replace("\\", "\\\\").replace(character, "\\" + character)
            written += (inside, character)
            position = end + 1
    return "".join(written)


def node_word(name: str) -> str:
    """A node's name as the word that is read as that name; as it is if no word can say it."""
    if '"' not in name and "'" not in name:
        return name
    try:
        return name_word(name)
    except ValueError:
        return name


def file_word(name: str) -> str:
    """The word that the lexer reads as the file `name`, of which it drops the quotes."""
    if name and not any(c in name for c in " \t\r\v\f\"'\\"):
        return name
    return quoted(name)


def quoted(text: str) -> str:
    """`text` in double quotes."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def item_text(text: str) -> str:
    """`text` as the value of a variable in which no macro counts, since somebody else has written
    it: whoever uses the value puts a dollar for ITEM_DOLLAR, as the language of that use has it."""
    return text.replace("$", ITEM_DOLLAR)


def may_begin_macro(value: str) -> bool:
    """Whether a dollar of `item_text` in a value of the submit language may become part of a macro,
    by what the value is joined with: the language has no form that prevents it."""
    return _MAY_BEGIN.search(value) is not None


def joined(*words: str) -> str:
    """The words that are not empty, with blanks between them."""
    return " ".join(word for word in words if word)


def _closing_quotes(name: str) -> dict[int, int]:
    """For each quote that can open a quoted part, where that part may end so that the rest fits."""
    fits = True  # whether what follows the position can be read by itself
    ends: dict[str, int] = {}
    closes: dict[int, int] = {}
    for position in range(len(name) - 1, -1, -1):
        character = name[position]
        if character not in _QUOTES:
            fits = fits and character not in SEPARATORS
            continue
        rest_fits = fits
        fits = character in ends
        if fits:
            closes[position] = ends[character]
        if rest_fits:
            ends[character] = position
    return closes


# Lines and words of a DAG file as a message can show them: in part, and with nothing invisible.

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
