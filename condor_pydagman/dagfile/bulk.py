"""Lines of the simplest form: read faster than by `dagfile.syntax`, for one line or many at a time.

Nearly every line that a program writes is `JOB name file`, `VARS name key="value" ...`,
`PARENT name CHILD name ...` or the like.  Regular expressions take many such lines apart at once,
in less than half a microsecond a line; everything else is read word by word (`parser`), with the
same result.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.vocabulary import ScriptKind

MIN_LINES = 16  # fewer lines that follow each other are faster read one by one

# No quotes, backslashes, braces or '@' (inline descriptions), no '+' (splices).
_NAME = r"[\w.:/,%$()-]+"
_NEW_NAME = rf"(?!(?i:PARENT|CHILD|ALL[-_]NODES)[ \t]){_NAME}"
_FILE = r"[\w.:/,%$()=-]+(?<!\.condor\.sub)"
_NAMES = rf"{_NAME}(?:[ \t]+[\w.:/,%$()\- \t]*[\w.:/,%$()-])?(?<![ \t](?i:CHILD))"
_PAIR = r'\+?[A-PR-Za-pr-z_][A-Za-z0-9_]*="[ !#-\[\]-~]*"'  # no 'queue', no escapes
_COMMAND = r"[!-\[\]-~](?:[ -~\t]*[!-\[\]-~])?"
_LINES = {
    "JOB": f"JOB[ \t]+({_NEW_NAME})[ \t]+({_FILE})",
    "VARS": f"VARS[ \t]+({_NAME})[ \t]+({_PAIR}(?:[ \t]+{_PAIR}){{0,50}})",
    "PARENT": rf"PARENT[ \t]+((?!(?i:CHILD)[ \t]){_NAME})[ \t]+CHILD[ \t]+({_NAMES})",
    "RETRY": f"RETRY[ \t]+({_NAME})[ \t]+([0-9]{{1,9}})",
    "SCRIPT PRE": f"SCRIPT[ \t]PRE[ \t]+({_NAME})[ \t]+({_COMMAND})",
    "SCRIPT POST": f"SCRIPT[ \t]POST[ \t]+({_NAME})[ \t]+({_COMMAND})",
    "": "((?:#[^\n]*)?)()",
}
_FIRST_LETTER = re.compile("\n(.?)")
_KEY_VALUE = re.compile(r'(\+?)([A-Za-z_][A-Za-z0-9_]*)="([^"]*)"')

KINDS = tuple(kind for kind in _LINES if kind)
USES = tuple(kind for kind in KINDS if kind != "JOB")

Rows = Sequence[tuple[str, str]]


class SimpleLines:
    """Lines of simple forms that follow each other in a file.

    Attributes:
        line: number of the first one.
        lines: how many there are.
        text: the lines, each with a line feed before it, none after the last.
    """

    def __init__(self, line: int, lines: int, text: str, rows: dict[str, Rows]) -> None:
        self.line = line
        self.lines = lines
        self.text = text
        self._rows = rows

    def rows(self, kind: str) -> Rows:
        """The two parts of each line of a kind: node and file, pairs, children, ..., in order."""
        rows = self._rows.get(kind)
        if rows is None:
            rows = self._rows[kind] = _rows(kind, self.text)
        return rows

    def job_lines(self) -> Sequence[int]:
        """The number of each JOB line."""
        return self._numbers("JOB")

    def parent_lines(self) -> Sequence[int]:
        """The number of each PARENT line."""
        return self._numbers("PARENT")

    def _numbers(self, kind: str) -> Sequence[int]:
        if len(self.rows(kind)) == self.lines:
            return range(self.line, self.line + self.lines)
        letters = _FIRST_LETTER.findall(self.text)
        return [number for number, letter in enumerate(letters, self.line) if letter == kind[0]]

    def numbered(self) -> Iterator[tuple[int, str]]:
        """Each line with its number."""
        return enumerate(self.text[1:].split("\n"), self.line)


def find_lines(block: str, begin: int, line: int) -> SimpleLines | None:
    """The simple lines of `block` from `begin` on, where line number `line` begins.

    None if there are too few.
    """
    end = block.rfind("\n")
    if end < begin:
        return None
    text = "\n" + block[begin:end]
    return _whole(text, line) or _begin(text, line)


def lines_found_before(block: str, begin: int, simple: tuple[int, int, int]) -> SimpleLines:
    """The lines of an earlier `find_lines`: number of the first one, of lines, of characters."""
    line, lines, length = simple
    return SimpleLines(line, lines, "\n" + block[begin : begin + length - 1], {})


def kind_of(line: str) -> str:
    """The kind of a simple line."""
    words = line.split(None, 2)
    return f"{words[0]} {words[1]}" if words[0] == "SCRIPT" else words[0]


def simple_pairs(text: str) -> list[tuple[str, str]]:
    """Keys and values of the second part of a VARS line."""
    return [("My." + key if plus else key, value) for plus, key, value in _KEY_VALUE.findall(text)]


def read_line(line: str, word: str, number: int) -> Command | None:
    """The command of a trimmed line, which begins with `word`; None if it is not of a simple form.

    None is no error: the line is to be read word by word.
    """
    for match, make in _readers(word):
        found = match(line)
        if found is not None:
            return make(number, *found.groups())
    return None


def _parent(number: int, parent: str, children: str) -> Command | None:
    if "CHILD" in children.upper():  # it may be that word, which then means nothing
        return None
    return commands.ParentChild(number, (parent,), tuple(children.split()))


def _whole(text: str, line: int) -> SimpleLines | None:
    """All of `text`, if it is simple throughout."""
    left = lines = text.count("\n")
    if lines < MIN_LINES:
        return None
    rows: dict[str, Rows] = {}
    for kind in _LINES:
        rows[kind] = _rows(kind, text)
        left -= len(rows[kind])
        if not left:
            return SimpleLines(line, lines, text, rows)
    return None


def _begin(text: str, line: int) -> SimpleLines | None:
    """The lines before the first that is not simple."""
    odd = _odd().search(text)
    text = text[: odd.start()] if odd else text
    lines = text.count("\n")
    return SimpleLines(line, lines, text, {}) if lines >= MIN_LINES else None


def _rows(kind: str, text: str) -> Rows:
    if kind and "\n" + kind.partition(" ")[0] not in text:
        return ()
    return _pattern(kind).findall(text)


# What is for many lines is compiled for the first of them: most DAG files have few.
@cache
def _pattern(kind: str) -> re.Pattern[str]:
    return re.compile(f"\n{_LINES[kind]}[ \t\r]*$", re.MULTILINE)


@cache
def _odd() -> re.Pattern[str]:
    """Matches before a line that is not simple."""
    return re.compile(f"\n(?!(?:{'|'.join(_LINES.values())})[ \t\r]*$)", re.MULTILINE)


_Make = Callable[[int, str, str], "Command | None"]
_COMMANDS: dict[str, _Make] = {
    "JOB": commands.Job,
    "VARS": lambda number, node, pairs: commands.Vars(
        number, node, None, tuple(simple_pairs(pairs))
    ),
    "PARENT": _parent,
    "RETRY": lambda number, node, limit: commands.RetryLine(number, node, int(limit)),
    "SCRIPT PRE": lambda number, node, command: commands.ScriptLine(
        number, node, ScriptKind.PRE, command
    ),
    "SCRIPT POST": lambda number, node, command: commands.ScriptLine(
        number, node, ScriptKind.POST, command
    ),
}
WORDS = frozenset(kind.partition(" ")[0] for kind in KINDS)


@cache
def _readers(word: str) -> list[tuple[Callable[[str], re.Match[str] | None], _Make]]:
    """How lines that begin with a word are read."""
    return [
        (re.compile(_LINES[kind]).fullmatch, make)
        for kind, make in _COMMANDS.items()
        if kind.partition(" ")[0] == word
    ]
