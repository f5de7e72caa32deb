"""Which macros the statements of a submit description use: `if`, `elif`, `include`, `warning`, ...

A statement uses a macro if it is read, which one in a branch that is not taken is not, and if the
macro is set by then, which one that VARS ... APPEND sets is not.  So the description is followed
line by line as HTCondor does.  What can't be told here (the output of an included command, a
comparison of versions) counts as possible: a macro is rather taken for used than the other way
round.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Optional

from condor_pydagman.graph.lint.macro_references import references
from condor_pydagman.graph.lint.submit_file import SPECIAL, expand

MAX_INCLUDED_FILES = 50

_STATEMENT = re.compile(
    r"(if|elif|else|endif|include|use|warning|error|queue)\b(?!\s*@?=)(.*)", re.I | re.S
)
_INCLUDED_FILE = re.compile(r"(?!.*\bcommand\b[^:]*:)[^:]*:\s*(.*[^|\s])\s*", re.I | re.S)
_ASSIGNMENT = re.compile(r"([+\w.]+)\s*=(.*)", re.S)
_BLOCK = re.compile(r"([+\w.]+)\s*@=\s*(\S+)\s*")
_DEFINED = re.compile(r"defined\b\s*(.*)", re.I | re.S)
_NAME = re.compile(r"\w+")
_TRUE, _FALSE = ("true", "t", "yes", "y"), ("false", "f", "no", "n")

# The text of an included file; None if it can't be read.
ReadFile = Callable[[str], Optional[str]]
Truth = Optional[bool]  # None: it can't be told


def used_by_statements(text: str, read_file: ReadFile = lambda path: None) -> frozenset[str]:
    """Lower-case names of the macros that the statements of a description use.

    Args:
        text: the whole description, with the lines that DAGMan adds.
        read_file: gives the texts of included files.
    """
    reader = _Reader(read_file)
    reader.follow(text)
    return frozenset(reader.used)


class _Branch:
    """An `if` that is open: whether its present branch is read, and whether one has been."""

    def __init__(self, live: Truth, taken: Truth) -> None:
        self.live, self.taken = live, taken


class _Reader:
    def __init__(self, read_file: ReadFile) -> None:
        self.used: set[str] = set()
        self._values: dict[str, str | None] = {}  # None: set, but it can't be told to what
        self._all_told = True  # whether what is not in _values is not set
        self._branches: list[_Branch] = []
        self._read_file = read_file
        self._files_left = MAX_INCLUDED_FILES

    def follow(self, text: str) -> None:
        """Read a description up to its queue statement."""
        for line in _lines(text):
            statement = _STATEMENT.fullmatch(line)
            if statement is None:
                self._assign(line)
            elif statement[1].lower() != "queue":
                self._obey(statement[1].lower(), statement[2].strip())
            elif self._live:
                return

    @property
    def _live(self) -> Truth:
        """Whether the next line is read."""
        states = [branch.live for branch in self._branches]
        return False if False in states else None if None in states else True

    def _assign(self, line: str) -> None:
        block = _BLOCK.match(line)
        assignment = block or _ASSIGNMENT.fullmatch(line)
        if assignment is None or self._live is False:
            return
        name, value = assignment[1].lower(), assignment[2]
        can_be_told = not block and self._live
        if not block and name in references(value):  # expanded at once
            self._use({name})
            can_be_told = False
        self._values[name] = value.strip() if can_be_told else None

    def _obey(self, word: str, rest: str) -> None:
        if word == "if":
            self._open(rest)
        elif word in ("elif", "else", "endif"):
            self._continue(word, rest)
        elif self._live is not False:
            self._use(self._references(rest))
            if word == "include":
                self._include(rest)
            elif word == "use":
                self._all_told = False

    def _open(self, condition: str) -> None:
        truth = self._decide(condition) if self._live is not False else False
        self._branches.append(_Branch(truth, truth))

    def _continue(self, word: str, condition: str) -> None:
        if not self._branches:
            return
        branch = self._branches.pop()
        if word == "endif":
            return
        truth: Truth = False
        if self._live is not False and branch.taken is not True:
            truth = self._decide(condition) if word == "elif" else True
        if truth and branch.taken is None:
            truth = None
        taken = True if branch.taken or truth else None if None in (branch.taken, truth) else False
        self._branches.append(_Branch(truth, taken))

    def _decide(self, condition: str) -> Truth:
        """Whether a condition is true; what it mentions is used."""
        self._use(self._references(condition))
        negated = condition.startswith("!")
        words = self._expanded(condition.lstrip("!").strip())
        if words is None:
            return None
        defined = _DEFINED.fullmatch(words)
        truth = self._is_defined(defined[1]) if defined else _truth(words.lower())
        return truth if truth is None else truth is not negated

    def _is_defined(self, name: str) -> Truth:
        name = name.strip().lower()
        if not _NAME.fullmatch(name) or name in SPECIAL:
            return None
        self._use({name})
        return True if name in self._values else False if self._all_told else None

    def _expanded(self, text: str) -> str | None:
        def look_up(name: str) -> str | None:
            self._use({name})
            return self._values.get(name)

        return expand(text, look_up)

    def _use(self, names: set[str]) -> None:
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in self.used and (name in self._values or not self._all_told):
                self.used.add(name)
                waiting += self._references(self._values.get(name) or "")

    def _references(self, text: str) -> set[str]:
        return references(text, self._values.__contains__)

    def _include(self, rest: str) -> None:
        found = _INCLUDED_FILE.fullmatch(rest)
        path = self._expanded(found[1]) if found else None
        text = self._read_file(path) if path and self._files_left else None
        self._files_left -= 1
        if text is None:
            self._all_told = False
        else:
            self.follow(text)


def _truth(words: str) -> Truth:
    if words in _TRUE or words in _FALSE:
        return words in _TRUE
    try:
        return bool(float(words))
    except ValueError:
        return None


def _lines(text: str) -> Iterator[str]:
    """Trimmed lines, continued ones joined; of a block `NAME @=TAG` the first one."""
    begun, tag = "", ""
    for raw in text.split("\n"):
        line = raw.strip()
        if tag:
            tag = "" if line == f"@{tag}" else tag
            continue
        if not begun and line.startswith("#"):
            continue
        begun += line
        if begun.endswith("\\"):
            begun = begun[:-1]
            continue
        block = _BLOCK.fullmatch(begun)
        tag = block[2] if block else ""
        if begun:
            yield begun
        begun = ""
    if begun:
        yield begun
