"""Reads a table of command lines, `submit.txt`; its head says how one is written."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

ALWAYS = ("t.dag", "u.dag")
_VARIABLE = re.compile(r"([A-Za-z_][\w%]*)=(.*)", re.S)
_DIFFERS = re.compile(r"! differs: (.*) \[([\w ]+)\]")


@dataclass
class Line:
    """One command line: `differs` names what may not be as stock's, `why` the reason."""

    title: str
    words: list[str]
    environment: dict[str, str]
    files: list[File]
    text: str
    differs: frozenset[str] = frozenset()
    why: str = ""

    @classmethod
    def simple(cls, text: str) -> Line:
        """One that needs no files but those that are always there."""
        environment, words = _words(text)
        return cls("", words, environment, [], text)

    def prepare(self, directory: Path) -> None:
        """Make its directory, open to everybody, with its files."""
        directory.mkdir()
        for name in ALWAYS:
            (directory / name).write_text("JOB A j.sub\n")
        for file in self.files:
            file.make(directory)
        for path in (directory, *directory.rglob("*")):
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o777)
        for file in self.files:
            file.finish(directory)


@dataclass
class File:
    """A file that is there before: its kind is `file`, `directory`, `link`, or `none`."""

    name: str
    kind: str = "file"
    mode: int | None = None
    lines: list[str] = field(default_factory=list)
    target: str = ""
    escaped: bool = False

    def make(self, directory: Path) -> None:
        """Put it into a directory; its mode is set by `finish`."""
        path = directory / self.name
        path.parent.mkdir(parents=True, exist_ok=True)
        if self.kind == "none":
            path.unlink()
        elif self.kind == "directory":
            path.mkdir(exist_ok=True)
        elif self.kind == "link":
            path.symlink_to(self.target)
        elif self.escaped:
            text = "".join(self.lines)
            path.write_bytes(text.encode("latin-1").decode("unicode_escape").encode("latin-1"))
        else:
            path.write_text("".join(line + "\n" for line in self.lines), encoding="utf-8")

    def finish(self, directory: Path) -> None:
        """Give it its mode."""
        if self.mode is not None:
            (directory / self.name).chmod(self.mode)


def read(path: Path) -> list[Line]:
    """All command lines of a table."""
    lines: list[Line] = []
    title, why = "", ""
    differs: frozenset[str] = frozenset()
    files: list[File] = []
    in_files = False
    for text in path.read_text(encoding="utf-8").splitlines():
        if text.startswith("== "):
            title, files, differs, in_files = text[3:], [], frozenset(), False
        elif text.startswith("--- "):
            files = [*files, _file(text[4:])]
            in_files = True
        elif text == "! as stock":
            differs, why = frozenset(), ""
        elif text.startswith("! "):
            match = _DIFFERS.fullmatch(text)
            assert match, text
            why, differs = match.group(1), frozenset(match.group(2).split())
        elif text == ">" or text.startswith("> "):
            in_files = False
            environment, words = _words(text[2:])
            lines.append(Line(title, words, environment, files, text[2:], differs, why))
        elif in_files:
            files[-1].lines.append(text)
        else:
            assert not text or text.startswith("#"), text
    return lines


def _words(text: str) -> tuple[dict[str, str], list[str]]:
    environment: dict[str, str] = {}
    words = [word.replace("⏎", "\n").replace("⇥", "\t") for word in shlex.split(text)]
    while words:
        match = _VARIABLE.fullmatch(words[0])
        if not match:
            break
        environment[match.group(1)] = match.group(2)
        del words[0]
    return environment, words


def _file(head: str) -> File:
    if head.endswith("/"):
        return File(head[:-1], "directory")
    if head.startswith("-") and not head.startswith("-x"):
        return File(head[1:], "none")
    if " -> " in head:
        name, target = head.split(" -> ")
        return File(name, "link", target=target)
    if head.endswith(" escaped"):
        return File(head[: -len(" escaped")], escaped=True)
    match = re.fullmatch(r"(.*) mode ([0-7]+)", head)
    if match:
        name = match.group(1)
        return File(name, "directory" if name == "." else "file", int(match.group(2), 8))
    return File(head)
