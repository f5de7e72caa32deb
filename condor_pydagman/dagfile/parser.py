"""From the text of a DAG file to its commands and to what is wrong with it.

Reading goes on after an error, so that a person sees all of them at once; the first is the one that
stock DAGMan would show.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.lexer import (
    SEPARATORS,
    Lines,
    QuotingError,
    Words,
    first_word,
    splits_plainly,
)
from condor_pydagman.dagfile.syntax import (
    RESERVED_NAMES,
    SYNTAX,
    Context,
    Syntax,
    normal,
    skip_description,
)
from condor_pydagman.dagfile.variables import read_simple
from condor_pydagman.dagfile.wrong import Wrong
from condor_pydagman.errors import DagFileError

LIMIT_ERRORS = 20
LONGEST_EXCERPT = 160  # characters of a line that a message shows
LONGEST_MESSAGE = 1000

MANAGER_WORDS = frozenset(syntax.word for syntax in SYNTAX.values() if syntax.manager)


class Parsed(NamedTuple):
    """The commands of a DAG file in the order of the file, and its errors."""

    commands: list[Command]
    errors: list[DagFileError]


@dataclass
class Reading:
    """How a file is to be read, and the errors found so far.

    Attributes:
        file: name of the file, for messages.
        words: command words to read; lines of other commands of the language are skipped.
        limit_errors: reading stops after that many errors.
        again: the text has been read before; what was reported of skipped lines then is not
            reported again.
        allow_any_node_name_characters: see DAGMAN_ALLOW_ANY_NODE_NAME_CHARACTERS.
        errors: grows while the commands are read.
    """

    file: str
    words: Container[str] = field(default_factory=lambda: SYNTAX)
    limit_errors: int = LIMIT_ERRORS
    again: bool = False
    allow_any_node_name_characters: bool = False
    errors: list[DagFileError] = field(default_factory=list)


def parse(text: str, file: str, *, limit_errors: int = LIMIT_ERRORS) -> Parsed:
    """All commands of a DAG file and all errors, of which the first `limit_errors` are kept."""
    reading = Reading(file, limit_errors=limit_errors)
    return Parsed(list(iter_commands(text, reading)), reading.errors)


def manager_commands(text: str, file: str) -> list[Command]:
    """The CONFIG, SET_JOB_ATTR and ENV commands, which condor_submit_dag obeys.

    Other lines are not looked into, except that their command word must be known and that an inline
    submit description must end (as in the stock program).

    Raises:
        DagFileError: the first line that is wrong.
    """
    reading = Reading(file, words=MANAGER_WORDS, limit_errors=1)
    found = list(iter_commands(text, reading))
    if reading.errors:
        raise reading.errors[0]
    return found


def iter_commands(text: str, reading: Reading) -> Iterator[Command]:
    """Commands one by one, so that those of a million lines need not be in memory together.

    Errors are added to `reading.errors`; look there when the iterator is at its end.
    """
    lines = Lines(text)
    parser = _Parser(reading, lines, splits_plainly(text))
    nul = text.find("\0")
    if nul >= 0:
        number = text.count("\n", 0, nul) + 1
        parser.add(DagFileError("The line holds a NUL character", file=reading.file, line=number))
        return
    for line in lines.logical():
        command = parser.command(line)
        if command is not None:
            yield command
        elif len(reading.errors) >= reading.limit_errors:
            return


class _Parser:
    def __init__(self, reading: Reading, lines: Lines, plain: bool) -> None:
        self._reading = reading
        self._lines = lines
        self._plain = plain
        self._context = Context(lines, reading.allow_any_node_name_characters)
        wanted = {word: quick for word, quick in _QUICK.items() if word in reading.words}
        self._quick = wanted if plain else {}
        self._skipped = frozenset(word for word in SYNTAX if word not in reading.words)

    def add(self, error: DagFileError) -> None:
        self._reading.errors.append(error)

    def command(self, line: str) -> Command | None:
        """The command of a logical line; None if it is skipped or wrong."""
        word = line.split(None, 1)[0] if self._plain else first_word(line)
        if word in self._skipped and "{" not in line and "@=" not in line:
            return None
        quick = self._quick.get(word)
        command = quick(line, self._lines.number) if quick else None
        return command or self._ordinary(word, line)

    def _ordinary(self, word: str, line: str) -> Command | None:
        syntax = SYNTAX.get(word) or SYNTAX.get(normal(word))
        if syntax is None:
            if not self._reading.again:
                self.add(self._unknown(word, line))
            return None
        if syntax.word in self._reading.words:
            return self._parsed(syntax, word, line)
        if syntax.inline and ("{" in line or "@=" in line):
            self._skip_description(syntax, word, line)
        return None

    def _parsed(self, syntax: Syntax, word: str, line: str) -> Command | None:
        number = self._lines.number
        try:
            command = syntax.parse(Words(line, len(word)), self._context) if syntax.parse else None
        except (Wrong, QuotingError) as wrong:
            self.add(self._error(syntax, number, wrong))
            return None
        if not syntax.supported:
            self.add(self._later(syntax, number, line))
            return None
        return command

    def _skip_description(self, syntax: Syntax, word: str, line: str) -> None:
        number = self._lines.number
        try:
            skip_description(Words(line, len(word)), self._context)
        except Wrong as wrong:
            if not self._reading.again:
                self.add(self._error(syntax, number, wrong))

    def _error(self, syntax: Syntax, number: int, wrong: Wrong | QuotingError) -> DagFileError:
        text, column = _excerpt(wrong.line, wrong.column)
        return DagFileError(
            str(wrong)[:LONGEST_MESSAGE],
            file=self._reading.file,
            line=number,
            column=column,
            text=text,
            command=syntax.word,
            usage=syntax.usage,
        )

    def _later(self, syntax: Syntax, number: int, line: str) -> DagFileError:
        return DagFileError(
            f"{syntax.word} is not supported by this version yet",
            file=self._reading.file,
            line=number,
            column=1,
            text=_excerpt(line, 0)[0],
            hint="run this DAG with the stock condor_dagman, or leave the command out",
        )

    def _unknown(self, word: str, line: str) -> DagFileError:
        return DagFileError(
            f"'{word[:LONGEST_MESSAGE].replace('-', '_')}' is not a valid DAG command",
            file=self._reading.file,
            line=self._lines.number,
            column=1,
            text=_excerpt(line, 0)[0],
            usage="Not a valid command",
            hint=_hint(word),
        )


def _hint(word: str) -> str:
    if word.startswith("\ufeff"):
        return "the file begins with a byte order mark: save it as UTF-8 without one"
    near = difflib.get_close_matches(normal(word[:40]), SYNTAX, 1, 0.7)
    return f"did you mean {near[0]}?" if near else ""


def _excerpt(line: str, column: int) -> tuple[str, int]:
    """Part of the line to show, and the column in it, from 1, of what stood at `column`, from 0."""
    begin = 0
    if len(line) > LONGEST_EXCERPT:
        begin = max(0, min(column - LONGEST_EXCERPT // 2, len(line) - LONGEST_EXCERPT))
    shown = line[begin : begin + LONGEST_EXCERPT]
    return "".join(c if c.isprintable() else " " for c in shown), column - begin + 1


def _quick_job(line: str, number: int) -> Command | None:
    parts = line.split(None, 3)
    if len(parts) != 3 or '"' in line or "'" in line:
        return None
    _, name, submit = parts
    if "+" in name or name.upper() in RESERVED_NAMES or submit.startswith(("{", "@=")):
        return None
    return commands.Job(number, name, submit)


def _quick_parent(line: str, number: int) -> Command | None:
    if '"' in line or "'" in line:
        return None
    parts = line.split()
    if len(parts) == 4 and parts[2] == "CHILD":
        if parts[1].upper() == "CHILD" or parts[3].upper() == "CHILD":
            return None
        return commands.ParentChild(number, (parts[1],), (parts[3],))
    try:
        middle = parts.index("CHILD")
    except ValueError:
        return None
    parents, children = tuple(parts[1:middle]), tuple(parts[middle + 1 :])
    if not parents or not children or "CHILD" in map(str.upper, parents + children):
        return None
    return commands.ParentChild(number, parents, children)


def _quick_vars(line: str, number: int) -> Command | None:
    found = read_simple(line[4:].lstrip(SEPARATORS))
    if found is None:
        return None
    return commands.Vars(number, found[0], None, found[1])


_QUICK: dict[str, Callable[[str, int], Command | None]] = {
    "JOB": _quick_job,
    "PARENT": _quick_parent,
    "VARS": _quick_vars,
}
