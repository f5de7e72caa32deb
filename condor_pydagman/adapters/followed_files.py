"""Puts the files that a submit description names (`include : FILE`, `queue ... from FILE`) into its
text, for a reader that can open none (`foreign_texts`).

Only regular files of the description's owner are followed, and only names without macros: which
files are opened must tell the owner nothing of whoever looks.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
import stat

from condor_pydagman.adapters.files import open_ordinary
from condor_pydagman.graph.model import Dag
from condor_pydagman.language.submit_file import items_of, one_line, queue_arguments
from condor_pydagman.records.job_description import NOTHING, statements

MAX_BYTES = 1 << 20  # of the description with its files
MAX_DEPTH = 20  # of files in files
Owner = tuple[int, int]  # of a file: its user and group
UNKNOWN: Owner = (-1, -1)
_INCLUDE = re.compile(r"\s*@?include\b([^:]*):\s*(.*?)\s*", re.I | re.S)
_MATCHING = re.compile(r"\bmatching\b\s*(files|dirs|any)?", re.I)


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
        FileError: it is no ordinary file.
        OSError: it can't be opened or read.
    """
    name = dag.submits[node]
    text = dag.descriptions.get(name)
    if text is not None:
        return text, owner
    with open_ordinary(name) as file:
        found = os.fstat(file.fileno())
        return file.read().decode("utf-8", "surrogateescape"), (found.st_uid, found.st_gid)


class Followed:
    """A description with its files, by names from the working directory.

    Attributes:
        text: what to read.
        owner: of the description.
        unread: the names that are not followed, each with the reason.
    """

    def __init__(self, text: str, owner: Owner) -> None:
        self.owner = owner
        self._left = MAX_BYTES
        self.unread: list[str] = []
        self.text = self._with_files(text, 0)

    def _with_files(self, text: str, depth: int) -> str:
        lines = text.split("\n")
        parts = []
        for begin, end in statements(lines):
            whole = "\n".join(lines[begin:end])
            parts.append(self._followed(one_line(whole), depth) or whole)
        return "\n".join(parts)

    def _followed(self, statement: str, depth: int) -> str:
        """What stands for a statement that names a file; '' if it names none, or none to follow."""
        found = _INCLUDE.fullmatch(statement)
        if found is not None:
            is_command = "command" in found[1].lower() or found[2].endswith("|")
            inner = self._text_of(found[2], is_command)
            if inner is None or depth == MAX_DEPTH:
                return ""
            return self._with_files(_closed(inner), depth + 1)
        return self._with_items(statement)

    def _with_items(self, statement: str) -> str:
        arguments = queue_arguments(statement)
        items = None if arguments is None else items_of(arguments)
        if arguments is None or items is None:
            return ""
        before = f"queue {arguments[: len(arguments) - len(items.source)]}"
        matching = None if items.is_list else _MATCHING.search(before, 5 + len(items.names))
        if matching is not None and not re.search(r"[$(]", items.source):
            part = "" if items.slice is None else f"[{items.slice}]"
            names = _matching(items.source.split(), (matching[1] or "any").lower())
            lines = "".join(f"{name}\n" for name in names)
            return f"queue {items.names} from {part}(\n{lines})"
        if not items.is_list or items.source.startswith("("):
            return ""
        text = self._text_of(items.source, "|" in items.source)
        if text is None:
            return ""
        if re.search(r"^\s*[#)]", text, re.M):  # which a list in the text can't have
            self.unread.append(f"{items.source} is not followed: it has a line with # or ) first")
            return ""
        return f"{before}(\n{text.rstrip()}\n)"

    def _text_of(self, name: str, is_command: bool) -> str | None:
        """The text of a file that may be followed."""
        try:
            if is_command:
                raise OSError(0, "no command is run")
            if "$" in name:
                raise OSError(0, "its name depends on macros")
            text = _read(name, self.owner, self._left)
        except FileNotFoundError:  # so says its reader, too
            return None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            self.unread.append(f"{name} is not followed: {reason}")
            return None
        self._left -= len(text)
        return text


def _read(path: str, owner: Owner, most: int) -> str:
    if not stat.S_ISREG(os.lstat(path).st_mode):  # to open a device might do something
        raise OSError(0, "it is not a regular file")
    with open(
        os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb"
    ) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_uid != owner[0]:
            raise OSError(0, "it does not belong to the owner of the description")
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(0, "it is too large")
    return data.decode("utf-8", "surrogateescape")


def _closed(text: str) -> str:
    """A text behind which another one may stand: its last line does not go on."""
    text = text.rstrip("\r\n")
    return text + NOTHING if text.endswith("\\") else text


def _matching(patterns: list[str], kind: str) -> list[str]:
    found: dict[str, None] = {}
    for pattern in patterns:
        for name in sorted(glob.glob(pattern)):
            is_directory = False
            with contextlib.suppress(OSError):
                is_directory = stat.S_ISDIR(os.stat(name).st_mode)
            if kind == "any" or is_directory == (kind == "dirs"):
                found.setdefault(name + "/" * is_directory)
    return list(found)
