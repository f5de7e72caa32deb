"""A log that grows, read from an offset on; it may be absent, emptied, replaced or deleted."""

from __future__ import annotations

import os
import zlib
from typing import BinaryIO

from condor_pydagman.adapters.files import open_ordinary
from condor_pydagman.errors import FileError

BLOCK_BYTES = 4 << 20  # read at a time backwards
MAX_FIRST_LINE = 1024  # bytes
MAX_ENTRY_BYTES = 1 << 20  # what has no end of an entry in so many bytes is passed over


class FollowedFile:
    """A log.

    Args:
        path: of the file, which need not exist yet.
        ends: what an entry may end with.
    """

    def __init__(self, path: str, *ends: bytes) -> None:
        self.path = path
        self.offset = 0  # behind what has been read of it, whole entries; bytes
        self.more = False  # whether there was more at the last read
        self.problem = ""  # why it can't be read, '' if it can
        self._ends = ends
        self._inode = 0  # of what was read last

    def read(self, most: int) -> bytes:
        """The next whole entries, about `most` bytes; b'' if there are none.

        A file that has become shorter, is gone, or is another one of that name is read from its
        beginning: `offset` is less than before then.
        """
        self.more = False
        try:
            with open_ordinary(self.path) as file:
                found = os.fstat(file.fileno())
                size, self.problem = found.st_size, ""
                if size < self.offset or self._inode not in (0, found.st_ino):
                    self.offset = 0
                self._inode = found.st_ino
                if size == self.offset:
                    return b""
                file.seek(self.offset)
                data = self._whole(file.read(most))
        except FileNotFoundError:
            self.offset = 0
            self.problem = f"there is no {self.path}"
            return b""
        except OSError as error:
            self.problem = f"can't read {self.path}: {error.strerror}"
            return b""
        except FileError as error:
            self.problem = str(error)
            return b""
        self.offset += len(data)
        self.more = bool(data) and self.offset < size
        return data

    def _whole(self, data: bytes) -> bytes:
        whole = max(_behind(data.rfind(end), end) for end in self._ends)
        if not whole:
            return data if len(data) >= MAX_ENTRY_BYTES else b""
        return data[:whole]

    def mark(self) -> int:
        """A number that tells this content from another's, by its first line; 0 if it has none."""
        try:
            with open_ordinary(self.path) as file:
                line = file.readline(MAX_FIRST_LINE)
        except (FileError, OSError):
            return 0
        return (zlib.crc32(line) or 1) if line.endswith(b"\n") else 0

    def skip_to_last(self, most: int) -> bool:
        """Begin with the first entry of the last `most` bytes; whether that leaves any out."""
        try:
            with open_ordinary(self.path) as file:
                size = os.fstat(file.fileno()).st_size
                if size <= most:
                    return False
                file.seek(size - most)
                data = file.read(most)
        except (FileError, OSError):
            return False
        begins = filter(None, (_behind(data.find(end), end) for end in self._ends))
        self.offset = size - most + min(begins, default=most)
        return True

    def line_of_last(self, *words: bytes) -> int:
        """Offset of the line with the last of the first words before the last of the second words,
        and so on; 0 if there is none behind `offset`."""
        try:
            with open_ordinary(self.path) as file:
                at = os.fstat(file.fileno()).st_size
                for word in words:
                    at = _last(file, word, self.offset, at)
                    if at < 0:
                        return 0
                return max(_last(file, b"\n", self.offset, at) + 1, self.offset)
        except (FileError, OSError):
            return 0


def _behind(found: int, end: bytes) -> int:
    """Offset behind the end of an entry that was found there; 0 if it was not."""
    return found + len(end) if found >= 0 else 0


def _last(file: BinaryIO, word: bytes, after: int, before: int) -> int:
    """Offset of a word's last occurrence between two offsets, -1 if there is none."""
    # not by mmap: if the file is cut meanwhile, that ends the process
    end = before
    while end > after:
        begin = max(end - BLOCK_BYTES, after)
        file.seek(begin)
        found = file.read(min(end + len(word) - 1, before) - begin).rfind(word)
        if found >= 0:
            return begin + found
        end = begin
    return -1
