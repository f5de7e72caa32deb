"""Lines of the simplest form, many at a time.

Nearly every line that a program writes is `JOB name file`, `VARS name key="value" ...`,
`PARENT name CHILD name ...` or the like.  Regular expressions take a whole run of such lines apart
in less than half a microsecond a line; everything else goes the ordinary way, one line after the
other (`parser`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

SHORTEST = 16  # lines; shorter runs are not worth the trouble

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
_PATTERNS = {kind: re.compile(f"\n{line}[ \t\r]*$", re.MULTILINE) for kind, line in _LINES.items()}
_ODD = re.compile(f"\n(?!(?:{'|'.join(_LINES.values())})[ \t\r]*$)", re.MULTILINE)
_FIRST_LETTER = re.compile("\n(.?)")
_KEY_VALUE = re.compile(r'(\+?)([A-Za-z_][A-Za-z0-9_]*)="([^"]*)"')

KINDS = tuple(kind for kind in _LINES if kind)
USES = tuple(kind for kind in KINDS if kind != "JOB")

Rows = Sequence[tuple[str, str]]


class Run:
    """Simple lines that follow each other in a file.

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


def take(block: str, begin: int, line: int) -> Run | None:
    """The simple lines of `block` from `begin` on, where line number `line` begins.

    None if there are too few.
    """
    end = block.rfind("\n")
    if end < begin:
        return None
    text = "\n" + block[begin:end]
    return _whole(text, line) or _begin(text, line)


def again(block: str, begin: int, run: tuple[int, int, int]) -> Run:
    """A run that was taken before: number of its first line, lines, characters."""
    line, lines, length = run
    return Run(line, lines, "\n" + block[begin : begin + length - 1], {})


def kind_of(line: str) -> str:
    """The kind of a line of a run."""
    words = line.split(None, 2)
    return f"{words[0]} {words[1]}" if words[0] == "SCRIPT" else words[0]


def simple_pairs(text: str) -> list[tuple[str, str]]:
    """Keys and values of the second part of a VARS line."""
    return [("My." + key if plus else key, value) for plus, key, value in _KEY_VALUE.findall(text)]


def _whole(text: str, line: int) -> Run | None:
    """All of `text`, if it is simple throughout."""
    left = lines = text.count("\n")
    if lines < SHORTEST:
        return None
    rows: dict[str, Rows] = {}
    for kind in _LINES:
        rows[kind] = _rows(kind, text)
        left -= len(rows[kind])
        if not left:
            return Run(line, lines, text, rows)
    return None


def _begin(text: str, line: int) -> Run | None:
    """The lines before the first that is not simple."""
    odd = _ODD.search(text)
    text = text[: odd.start()] if odd else text
    lines = text.count("\n")
    return Run(line, lines, text, {}) if lines >= SHORTEST else None


def _rows(kind: str, text: str) -> Rows:
    if kind and "\n" + kind.partition(" ")[0] not in text:
        return ()
    return _PATTERNS[kind].findall(text)
