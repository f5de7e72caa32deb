"""What the pages of docs/ show, as files to write and commands to run.

A test takes the examples out of the page itself, so that they can't differ from it.  The first word
behind the fence is the language, for whatever shows the page; two forms have a meaning here:

    ```text file=my.dag      the block is the content of this file; the text before it names it
    ```console               commands, each behind `$ ` (further lines: `> `), and what they print

A file that begins with `#!` is made executable.  All other blocks are only shown.  In what a
command prints, `...` stands for anything, a line of its own for any number of lines, and a number
for any number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).resolve().parents[1] / "docs"
_FENCE = re.compile(r"(?P<indent> *)(?P<fence>```+) *(?P<info>[^`]*)")
_FILE = re.compile(r"\bfile=(\S+)")
_PIECES = re.compile(r"(\.\.\.|\d+|\s+)")


class Block(NamedTuple):
    """A fenced block.

    Attributes:
        language: the first word behind the fence, '' if there is none.
        file: the file whose content it is, '' if it is none.
        line: number of the fence's line in the page.
    """

    language: str
    file: str
    text: str
    line: int


class Step(NamedTuple):
    """A command and what it prints, with both outputs in one.

    Attributes:
        line: number of the command's line in the page.
    """

    command: str
    output: str
    line: int


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page, in their order.

    Raises:
        ValueError: one does not end.
    """
    lines = enumerate(page.splitlines(), 1)
    for number, line in lines:
        begin = _FENCE.fullmatch(line)
        if begin is None:
            continue
        inside = []
        for _, text in lines:
            if text.strip() == begin["fence"]:
                break
            inside.append(text[len(begin["indent"]) :] + "\n")
        else:
            raise ValueError(f"line {number}: the block does not end")
        language, _, rest = begin["info"].strip().partition(" ")
        file = _FILE.search(rest)
        yield Block(language, file[1] if file else "", "".join(inside), number)


def steps(page: str) -> Iterator[Step]:
    """The commands of all console blocks of a page, in their order."""
    for block in blocks(page):
        if block.language == "console":
            yield from _steps_of(block)


def _steps_of(block: Block) -> Iterator[Step]:
    for part in re.finditer(r"^\$ (.*(?:\n> .*)*)\n((?:(?!\$ ).*\n)*)", block.text, re.M):
        command = part[1].replace("\n> ", "\n")
        yield Step(command, part[2], block.line + 1 + block.text.count("\n", 0, part.start()))


def files(page: str) -> dict[str, str]:
    """The files that a page shows, by their names; of several with one name, the last."""
    return {block.file: block.text for block in blocks(page) if block.file}


def write_files(page: str, directory: Path) -> None:
    """Write the files that a page shows, below a directory."""
    for name, text in files(page).items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if text.startswith("#!"):
            path.chmod(0o755)


def agrees(output: str, printed: str) -> bool:
    """Whether a command printed what the page says."""
    return re.fullmatch(_pattern(output.strip()), printed.strip(), re.DOTALL) is not None


def _pattern(output: str) -> str:
    return "".join(map(_piece, _PIECES.split(output)))


def _piece(piece: str) -> str:
    if piece == "...":
        return ".*?"
    if piece.isdigit():
        return r"\d+"
    return r"\s+" if piece.isspace() else re.escape(piece)
