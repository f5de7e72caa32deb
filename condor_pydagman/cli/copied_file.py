"""Copies files that jobs write to standard output, in pieces, also while they grow."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence

from condor_pydagman.adapters.files import open_ordinary
from condor_pydagman.errors import FileError
from condor_pydagman.monitor.file_facts import shown
from condor_pydagman.printable import printable

PIECE_BYTES = 1 << 20
LAST_BYTES = 1 << 16  # of a file that is followed, from where it begins
_HEAD_BYTES = 8192  # in which a binary file has a byte of 0
# What could change the terminal; colours, `ESC [ ... m`, may pass.
_CONTROLS = re.compile(
    rb"[\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]|\xc2(?:[\x80-\x9f]|\Z)|\x1b(?!\[[0-9;]*m)"
)


class CopiedFiles:
    """Files that are copied to standard output; each is headed by its name if there are several.

    Args:
        follow: whether they may grow: then one that is long already begins near its end.
    """

    def __init__(self, *, follow: bool) -> None:
        self._follow = follow
        self._files: dict[str, CopiedFile] = {}
        self._headed = ""  # whose text was written last

    def copy(self, files: Mapping[str, Sequence[str]]) -> list[str]:
        """Copy what is new in files, given by path with the jobs that write them; returns why some
        can't be read."""
        problems = []
        for path, jobs in files.items():
            file = self._files.setdefault(path, CopiedFile(path, near_end=self._follow))
            heading = _heading(path, jobs) if len(self._files) > 1 or len(files) > 1 else ""
            try:
                self._copy(file, heading)
            except FileNotFoundError:
                problems.append(f"{_name(path)} is not there")
            except FileError:
                problems.append(f"{_name(path)} is not a regular file")
            except Binary as error:
                problems.append(str(error))
            except OSError as error:
                problems.append(f"{_name(path)} can't be read: {error.strerror}")
        return problems

    def _copy(self, file: CopiedFile, heading: str) -> None:
        while True:
            data = file.read()
            if (data or not file.is_known) and heading and self._headed != file.path:
                sys.stdout.write(f"{heading}\n")
                self._headed = file.path
            file.is_known = True
            if not data:
                break
            write(data)
        sys.stdout.flush()


class Binary(Exception):
    """A file that is no text, for a terminal; the text says what to do."""


class CopiedFile:
    """A file, and how far it has been read.

    Attributes:
        path: of the file.
        is_known: whether it has been read.
    """

    def __init__(self, path: str, *, near_end: bool) -> None:
        self.path = path
        self.is_known = False
        self._near_end = near_end
        self._offset = self._inode = 0

    def read(self) -> bytes:
        """The next piece, b'' if there is no more now; of a file that has become shorter, or is
        another one of that name, from its beginning.

        Raises:
            FileError: it is no ordinary file.
            OSError: it can't be read.
            Binary: it is no text, and standard output is a terminal.
        """
        with open_ordinary(self.path) as file:
            found = os.fstat(file.fileno())
            if found.st_size < self._offset or self._inode not in (0, found.st_ino):
                self._offset = 0
            if not self._inode:
                self._begin(file.read(_HEAD_BYTES), found.st_size)
            self._inode = found.st_ino
            file.seek(self._offset)
            data = file.read(PIECE_BYTES)
        self._offset += len(data)
        return data

    def _begin(self, head: bytes, size: int) -> None:
        if b"\0" in head and sys.stdout.isatty():
            raise Binary(
                f"{_name(self.path)} is no text ({size:,} bytes): send it into a file or a program,"
                " as with > FILE"
            )
        if self._near_end and size > LAST_BYTES:
            self._offset = size - LAST_BYTES
            print(
                f"condor_pydagman: {_name(self.path)} has {size:,} bytes: following its last"
                f" {LAST_BYTES:,}",
                file=sys.stderr,
            )


def write(data: bytes) -> None:
    """Write bytes of a file to standard output; on a terminal, without what could change it."""
    if sys.stdout.isatty():
        data = _CONTROLS.sub(lambda control: b"\\x%02x" % control[0][-1], data)
    sys.stdout.flush()
    sys.stdout.buffer.write(data)


def _name(path: str) -> str:
    return printable(shown(path))


def _heading(path: str, jobs: Sequence[str]) -> str:
    which = jobs[0] if len(jobs) == 1 else f"{jobs[0]} and {len(jobs) - 1} more"
    return f"==> {_name(path)} (job {which}) <=="
