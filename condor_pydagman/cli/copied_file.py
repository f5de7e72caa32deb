"""Copies files that jobs write to standard output, in pieces, also while they grow."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence

from condor_pydagman.adapters.followed_files import open_known
from condor_pydagman.cli.say import say
from condor_pydagman.errors import FileError
from condor_pydagman.monitor.file_facts import shown

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
        reader: user and group; what they can't read is not copied.
        follow: whether they may grow: then one that is long already begins near its end.
    """

    def __init__(self, reader: tuple[int, int], *, follow: bool) -> None:
        self._reader, self._follow = reader, follow
        self._files: dict[str, CopiedFile] = {}
        self._headed = ""  # whose text was written last

    def copy(self, files: Mapping[str, Sequence[str]]) -> list[str]:
        """Copy what is new in files, given by path with the jobs that write them; returns why some
        can't be read."""
        problems = []
        for path, jobs in files.items():
            file = self._files.setdefault(
                path, CopiedFile(path, self._reader, last=LAST_BYTES * self._follow)
            )
            heading = _heading(path, jobs) if len(self._files) > 1 or len(files) > 1 else ""
            while self._copy_piece(file, heading):
                pass
            problems += [file.problem] if file.problem else []
        sys.stdout.flush()
        return problems

    def _copy_piece(self, file: CopiedFile, heading: str) -> bool:
        """Whether there may be more."""
        is_new = not file.is_known
        data = file.read()
        if file.problem:
            return False
        if is_new and file.left_out:
            say(f"condor_pydagman: {file.left_out}", error=True)
        if heading and (data or is_new) and self._headed != file.path:
            say(heading)
            self._headed = file.path
        if data:
            write(data)
        return bool(data)


class CopiedFile:
    """A file, and how far it has been read.

    Args:
        last: with how many bytes it begins, at most, counted from its end; 0: all.
    """

    def __init__(self, path: str, reader: tuple[int, int], *, last: int = 0) -> None:
        self.path, self._reader = path, reader
        self.for_terminal = sys.stdout.isatty()  # which gets no binary file
        self.problem = ""  # why it can't be read; '' if it can
        self.left_out = ""  # what is said of its begin if it is not read; '' if it is
        self._last = last
        self._offset = self._inode = 0

    @property
    def is_known(self) -> bool:
        """Whether it has been read, and be it that nothing was in it."""
        return bool(self._inode)

    def read(self) -> bytes:
        """The next piece; b'' if there is no more now, or there is a problem.  A file that has
        become shorter, or is another one of that name, is read from its beginning."""
        self.problem = ""
        try:
            return self._read()
        except FileNotFoundError:
            self.problem = f"{shown(self.path)} is not there"
        except FileError:
            self.problem = f"{shown(self.path)} is not a regular file"
        except OSError as error:
            self.problem = f"{shown(self.path)} can't be read: {error.strerror}"
        return b""

    def _read(self) -> bytes:
        with open_known(self.path, self._reader) as file:
            found = os.fstat(file.fileno())
            if found.st_size < self._offset or self._inode not in (0, found.st_ino):
                self._offset = 0
            if not self._inode and self._is_unfit(file.read(_HEAD_BYTES), found.st_size):
                return b""
            if not self._inode:
                self._begin(found.st_size)
            self._inode = found.st_ino
            file.seek(self._offset)
            data = file.read(PIECE_BYTES)
        self._offset += len(data)
        return data

    def _is_unfit(self, head: bytes, size: int) -> bool:
        """Whether it is no text, and for a terminal."""
        if b"\0" not in head or not self.for_terminal:
            return False
        self.problem = (
            f"{shown(self.path)} is no text ({size:,} bytes): send it into a file or a program, as"
            " with > FILE"
        )
        return True

    def _begin(self, size: int) -> None:
        if 0 < self._last < size:
            self._offset = size - self._last
            self.left_out = f"{shown(self.path)} has {size:,} bytes: its last {self._last:,} follow"


def write(data: bytes) -> None:
    """Write bytes of a file to standard output; on a terminal, without what could change it."""
    if sys.stdout.isatty():
        data = without_controls(data)
    sys.stdout.flush()
    sys.stdout.buffer.write(data)


def without_controls(data: bytes) -> bytes:
    """What jobs have written, with codes in place of what could change a terminal."""
    return _CONTROLS.sub(lambda control: b"\\x%02x" % control[0][-1], data)


def end_of(path: str, reader: tuple[int, int], most: int) -> bytes:
    """What is in a file by now; of one with more than `most` bytes a line that says so, and the
    last.

    Args:
        reader: as of CopiedFiles.

    Raises:
        FileError: it can't be read.
    """
    file = CopiedFile(path, reader, last=most)
    file.for_terminal = False
    data = b""
    while len(data) < most and (piece := file.read()):  # it may grow for ever
        data += piece
    if file.problem:
        raise FileError(file.problem)
    told = f"condor_pydagman: {file.left_out}\n" if file.left_out else ""
    return told.encode("utf-8", "surrogateescape") + data


def _heading(path: str, jobs: Sequence[str]) -> str:
    which = jobs[0] if len(jobs) == 1 else f"{jobs[0]} and {len(jobs) - 1} more"
    return f"==> {shown(path)} (job {which}) <=="
