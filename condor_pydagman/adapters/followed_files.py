"""Puts the files that a submit description names (`include : FILE`, `queue ... from FILE`) into its
text, for a reader that can open none (`foreign_texts`).

Only regular files of the description's owner are followed, and only names without macros, but for
those that the description and its DAG set: which files are opened must tell the owner nothing of
whoever looks.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import islice
from typing import BinaryIO

from condor_pydagman.adapters.files import closed_at_end, open_ordinary, refuse_secret
from condor_pydagman.errors import FileError
from condor_pydagman.graph.model import Dag
from condor_pydagman.language.description import (
    NOTHING,
    SET,
    Include,
    Queue,
    Statement,
    expand,
    mentioned,
    statements,
)
from condor_pydagman.printable import message

MAX_BYTES = 1 << 20  # of the files of a description
MAX_TEXT_BYTES = 1 << 26  # of a description
MAX_DEPTH = 20  # of files in files
MAX_NAMES = 100_000  # in the directories in which a description looks for names that match
Owner = tuple[int, int]  # of a file: its user and group
UNKNOWN: Owner = (-1, -1)
_MATCHING = re.compile(r"\bmatching\b\s*(files|dirs|any)?", re.I)
_MAGIC = re.compile(r"[*?[]")


def owner_of(path: str) -> Owner:
    """Who owns a file; UNKNOWN if it is gone."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return UNKNOWN
    return found.st_uid, found.st_gid


def text_of_node(dag: Dag, node: int, owner: Owner) -> tuple[str, Owner]:
    """The description of a node, in whose directory one is, and the owner of its file.

    Args:
        owner: of the DAG file.

    Raises:
        FileError, OSError: see `read_known`.
    """
    name = dag.submits[node]
    text = dag.descriptions.get(name)
    return (text, owner) if text is not None else read_known(name, owner)


def open_known(path: str, reader: tuple[int, int]) -> BinaryIO:
    """As `open_ordinary`, but not if `reader` could not read the file.  Else we might open files
    that a secret file names: their owner would notice, and learn what the secret file says.

    Args:
        reader: user and group, who can read the file by the modes of it and its directories.

    Raises:
        PermissionError: that user can't read it.
    """
    file = open_ordinary(path)
    try:
        refuse_secret(file.fileno(), path, reader)
    except BaseException:
        file.close()
        raise
    return file


def read_known(path: str, reader: Owner) -> tuple[str, Owner]:
    """The text of a file that the owner of a DAG can read as well, and its owner.

    Raises:
        FileError: it is no ordinary file, or too large.
        OSError: it can't be opened or read, or not by that user.
    """
    with open_known(path, reader) as file:
        found, data = os.fstat(file.fileno()), file.read(MAX_TEXT_BYTES + 1)
    if len(data) > MAX_TEXT_BYTES:
        raise FileError(f"{path} is not read: it is too large")
    return data.decode("utf-8", "surrogateescape"), (found.st_uid, found.st_gid)


class Followed:
    """A description with its files, by names from the working directory.

    Args:
        given: the macros of its node; None: names with macros are not followed.
        late: those that are set behind its own lines.
    """

    def __init__(
        self,
        text: str,
        owner: Owner,
        given: Mapping[str, str] | None = None,
        late: Mapping[str, str] = {},
    ) -> None:
        self.owner = owner  # of the description
        # Values by lower-case names, None where it can't be told; None if nothing can.
        self._macros: dict[str, str | None] | None = None if given is None else {**given}
        self._late = late
        self._conditions = 0  # `if` blocks in which one is
        self._left, self._names_left = MAX_BYTES, MAX_NAMES
        self.unread: dict[str, str] = {}  # by reasons, what is not read or run (`PROGRAM|`)
        self.missing: list[str] = []  # the files of `include` statements that are not there
        self.included: dict[str, str] = {}  # the texts of those that are there, by their names
        self.text = self._with_files(text, 0)  # what to read

    def _with_files(self, text: str, depth: int) -> str:
        parts = []
        for one in statements(text):
            instead = ""
            self._learn(one)
            if one.queue is not None:
                instead = self._with_items(one.queue)
            elif one.include is not None:
                instead = self._with_included(one.include, depth)
            parts.append(f"{instead}\n" if instead else one.text)
        return "".join(parts)

    def _learn(self, one: Statement) -> None:
        """What a statement makes known of macros."""
        word = one.word
        self._conditions += (word == "if") - (word == "endif")
        if self._macros is None or word == "use":  # what that sets is in no file
            self._macros = None
        elif one.assigned is not None:
            name, value = one.assigned
            is_known = not self._conditions and name not in mentioned(value)
            self._macros[name] = value if is_known else None

    def _plain(self, name: str, late: Mapping[str, str] = {}) -> str:
        """A name with its macros expanded; raises OSError."""
        if "$" not in name:
            return name
        known = None if self._macros is None else {**self._macros, **late}
        found = known and expand(name, known.get, {*SET, *known}.__contains__)
        if not found:
            raise OSError(0, "its name has macros")
        return found

    def _with_included(self, include: Include, depth: int) -> str:
        """What stands for a statement that names a file; '' if there is none to follow."""
        inner = self._text_of(include.source, include.runs, self.missing)
        if inner is None or self._conditions:
            self._macros = None  # it may set some
        if inner is None:
            return ""
        if depth == MAX_DEPTH:
            self._leave(include.source, OSError(0, "files are included too deep"))
            return ""
        self.included[include.source] = inner
        return self._with_files(_closed(inner), depth + 1).removesuffix("\n")

    def _with_items(self, queue: Queue) -> str:
        """The same of a queue statement."""
        items = queue.items
        if items is None:
            return ""
        before = f"queue {queue.arguments[: len(queue.arguments) - len(items.source)]}"
        kind = None if items.is_list else _MATCHING.search(before, len("queue ") + len(items.names))
        if kind is not None:
            part = "" if items.slice is None else f"[{items.slice}]"
            return f"queue {items.names}from {part}{self._listed_names(items.source, kind[1])}"
        if not items.is_list or items.source.startswith("("):
            return ""
        text = self._text_of(items.source, "|" in items.source, [], self._late)
        if text is None:
            return ""
        if re.search(r"^\s*[#)]", text, re.M):  # which a list in the text can't have
            self._leave(items.source, OSError(0, "one of its lines begins with # or )"))
            return ""
        return f"{before}(\n{text.rstrip()}\n)"

    def _listed_names(self, patterns: str, kind: str | None) -> str:
        """The names that fit, as a list of items."""
        try:
            names = self._matching(patterns, (kind or "any").lower())
        except (OSError, ValueError, RecursionError) as error:
            self._leave(patterns.strip(), error)
            return "."  # which can't be opened: no items would be an answer
        return "(\n" + "".join(f"{name}\n" for name in names) + ")"

    def _text_of(
        self, name: str, is_command: bool, missing: list[str], late: Mapping[str, str] = {}
    ) -> str | None:
        """The text of a file that may be followed; a name that is not there goes to `missing`."""
        if is_command:
            self.unread[f"the command '{message(name)}' is not run"] = f"{name}|"
            return None
        try:
            name = self._plain(name, late)
            return self._read(name)
        except FileNotFoundError:
            missing.append(name)
            return None
        except (OSError, ValueError) as error:
            self._leave(name, error)
            return None

    def _read(self, path: str) -> str:
        if not stat.S_ISREG(os.lstat(path).st_mode):  # to open a device might do something
            raise OSError(0, "it is not a regular file")
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        with open(os.open(path, flags), "rb") as file:
            if not stat.S_ISREG(self._own(os.fstat(file.fileno())).st_mode):
                raise OSError(0, "it is not a regular file")
            data = file.read(self._left + 1)
        if len(data) > self._left:
            raise OSError(0, "it is too large")
        self._left -= len(data)
        return data.decode("utf-8", "surrogateescape")

    def _leave(self, name: str, why: Exception) -> None:
        reason = getattr(why, "strerror", None) or why
        self.unread[f"{message(name)} is not read: {reason}"] = name

    def _matching(self, patterns: str, kind: str) -> list[str]:
        """The names that fit, as HTCondor writes them."""
        patterns = self._plain(patterns, self._late)
        found: dict[str, None] = {}
        for pattern in re.findall(r"[^\s,()]+", patterns):
            wanted = "dirs" if pattern.endswith("/") else kind
            for name in sorted(self._names(pattern.rstrip("/"))):
                is_directory = stat.S_ISDIR(self._own(os.stat(name)).st_mode)
                if wanted == "any" or is_directory == (wanted == "dirs"):
                    found.setdefault(name + "/" * is_directory)
        return list(found)

    def _names(self, pattern: str) -> Iterator[str]:
        directory, last = os.path.split(pattern)
        for parent in self._names(directory) if _MAGIC.search(directory) else [directory]:
            for name in self._listed(parent or "."):
                if fnmatchcase(name, last) and name.startswith(".") <= last.startswith("."):
                    yield os.path.join(parent, name)

    def _own(self, found: os.stat_result) -> os.stat_result:
        """Of a file or directory of the owner's: others would tell something new."""
        if found.st_uid != self.owner[0]:
            raise OSError(0, "it does not belong to the owner of the description")
        return found

    def _listed(self, directory: str) -> list[str]:
        try:
            opened = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        except (FileNotFoundError, NotADirectoryError):
            return []
        with closed_at_end(opened):
            self._own(os.fstat(opened))
            with os.scandir(opened) as entries:
                names = [entry.name for entry in islice(entries, self._names_left + 1)]
        self._names_left -= len(names)
        if self._names_left < 0:
            raise OSError(0, "there are too many names")
        return names


def _closed(text: str) -> str:
    """A text behind which another one may stand: its last line does not go on."""
    text = text.rstrip("\r\n")
    return text + NOTHING if text.endswith("\\") else text
