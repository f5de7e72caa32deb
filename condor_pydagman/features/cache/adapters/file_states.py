"""Facts of files for nodes with a CACHE command: size and modification time, or a checksum.

Files are others': a FIFO or a device is not opened, a directory is no fact of what is in it.
"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import BinaryIO

from condor_pydagman.adapters import files
from condor_pydagman.adapters.followed_files import Owner, owner_of, read_known
from condor_pydagman.errors import FileError
from condor_pydagman.named_tuple import NamedTuple

_BLOCK = 1 << 20
_MAX_CHECKSUMS = 10_000  # that are remembered

_Identity = tuple[int, int, int, int, int]


class FileFact(NamedTuple):
    """What is known of a file; `problem` says, after its name, why nothing is, else it is ''."""

    fact: str
    problem: str = ""


class CachedFiles:
    """Looks at files; a checksum is made once of a file that many nodes have.

    Args:
        reader: user and group on whose behalf descriptions are read; None for our own.
    """

    def __init__(self, reader: Owner | None = None) -> None:
        self._reader = reader
        self._checksums: dict[_Identity, str] = {}

    def text(self, path: str, inline: str | None) -> tuple[str, Owner]:
        """The text of a description, which may be inline, and its owner; raises OSError,
        FileError."""
        if inline is not None:
            return inline, self._reader or (os.geteuid(), os.getegid())
        if self._reader:
            return read_known(path, self._reader)
        return files.read_text(path), owner_of(path)

    def look(self, path: str, *, checksum: bool) -> FileFact:
        """The fact of a file now."""
        if "$(" in path:
            return FileFact("", "has a macro that no VARS of the node sets")
        try:
            found = os.stat(path)
            if stat.S_ISDIR(found.st_mode):
                return FileFact("", "is a directory: name the files in it")
            if not stat.S_ISREG(found.st_mode):
                return FileFact("", "is not a regular file")
            if checksum:
                return FileFact(self._checksum(path, found))
        except FileNotFoundError:
            return FileFact("", "is not there")
        except (OSError, FileError, ValueError) as error:  # ValueError: a byte 0 in the name
            return FileFact("", f"can't be read: {getattr(error, 'strerror', None) or error}")
        return FileFact(f"{found.st_size} bytes of {found.st_mtime_ns}")

    def _checksum(self, path: str, found: os.stat_result) -> str:
        known = self._checksums.get(_identity(found))
        if known is not None:
            return known
        with files.open_ordinary(path) as file:
            before = os.fstat(file.fileno())
            checksum = _sha256(file)
            after = os.fstat(file.fileno())
        if _identity(before) == _identity(after):
            if len(self._checksums) >= _MAX_CHECKSUMS:
                self._checksums.clear()
            self._checksums[_identity(after)] = checksum
        return checksum


def _identity(found: os.stat_result) -> _Identity:
    times = found.st_mtime_ns, found.st_ctime_ns
    return found.st_dev, found.st_ino, found.st_size, *times


def _sha256(file: BinaryIO) -> str:
    found = hashlib.sha256()
    while True:
        block = file.read(_BLOCK)
        if not block:
            return f"sha256 {found.hexdigest()}"
        found.update(block)
