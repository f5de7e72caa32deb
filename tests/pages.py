"""The fenced blocks of a page of the documentation, for tests that do what the page says.

A file is a block behind a line that ends with its name in backquotes and a colon: "Save this as
`a.sub`:".  A block ```` ```console ```` has commands behind `$ `, each with its output: lines that
the output has in this order, where `...` stands for any others, and any digits for a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Union

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
_NAME = re.compile(r"`([\w./-]+)`[^`\n]*:\n*\Z")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


@dataclass
class File:
    """A file that the reader is to write."""

    name: str
    text: str


@dataclass
class Command:
    """A command that the reader is to type, and what it prints."""

    line: str
    output: list[str]

    def missing(self, printed: str) -> str:
        """The first line of the output that `printed` has not where it should; '' if it has all."""
        lines = iter(map(_shape, printed.splitlines()))
        for wanted in self.output:
            if wanted.strip() != "..." and not any(line == _shape(wanted) for line in lines):
                return wanted
        return ""


Step = Union[File, Command]


def steps_of(page: Path) -> Iterator[Step]:
    """What a page asks its reader to do, in order."""
    text = page.read_text(encoding="utf-8")
    for block in _BLOCK.finditer(text):
        name = _NAME.search(text[: block.start()])
        if block[1] == "console":
            yield from _commands(block[2])
        elif name is not None:
            yield File(name[1], block[2])


def _commands(block: str) -> Iterator[Command]:
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        line, *output = part.splitlines()
        yield Command(line, output)


def _shape(line: str) -> str:
    """A line without its numbers, and the blanks at its end."""
    return _NUMBER.sub("N", line).rstrip()
