"""The file `<dag>.cache`: what nodes with a CACHE command were last done with.

A line that a node is about to run is on the disk before it runs, so that nobody takes its earlier
result for one that still counts.  If that can't be written, the file is removed: all nodes run
again, rather than one too few.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator, Sequence

from condor_pydagman.adapters import files
from condor_pydagman.errors import FileError
from condor_pydagman.features.cache import store
from condor_pydagman.features.cache.store import Read, Record

MAX_BYTES = 1 << 29  # of the file; a node takes some hundreds
MAX_LINES_A_NODE = 6  # on average; with more, the file is written anew
FEW_LINES = 1000  # for which that does not count
# How often to look whether another process still changes the file: one that is stopped, or one of
# somebody who can read the file, must not hold up DAGMan.
LOCK_TRIES = 100
_LOCK_STEP_S = 0.01  # between two looks whether another process is done

_Identity = tuple[int, int, int, int]


class CacheFile:
    """The file, which others may delete or replace at any time.

    Args:
        tidies: whether it is written anew when it is damaged or long: only one process does so,
            since not all file systems have locks.
    """

    def __init__(self, path: str, *, tidies: bool = True) -> None:
        self.path, self._tidies = path, tidies
        self.problems: list[str] = []  # what is wrong with it, in lines that have not been taken
        self._records: dict[str, Record] = {}
        self._seen: _Identity | None = None
        self._foreign = False  # somebody's file, which is left alone
        self._fd = -1  # while no other process changes it
        self._tries = LOCK_TRIES  # one after the lock was held too long: not to wait at each change

    def records(self) -> dict[str, Record]:
        """By names of nodes, what they were last done with; not to be changed."""
        now = self._identity()
        if now is None or now != self._seen:
            self._load()
        return self._records

    def append(
        self, lines: Sequence[str], records: dict[str, Record], *, sync: bool, needed: bool = True
    ) -> None:
        """Add lines, and what they say; `sync`: they are on the disk when this returns.

        Raises:
            OSError: they can't be written, and are not `needed`: the file stays as it was.
        """
        if not lines or self._foreign:
            return
        self._records.update(records)
        try:
            with self.alone() as fd:
                size = end = os.fstat(fd).st_size
                is_known = self._seen == (self._identity() if size else None)
                data = "".join([store.HEAD + "\n"] * (not size) + list(lines)).encode("ascii")
                try:
                    while data:
                        end += (written := os.write(fd, data))
                        data = data[written:]
                    if sync:
                        os.fsync(fd)
                except OSError:
                    if not needed and os.fstat(fd).st_size == end:  # nobody has added lines behind
                        os.ftruncate(fd, size)
                    raise
            self._seen = self._identity() if is_known else None  # others have added lines
        except OSError as error:
            if not needed:
                raise
            self._give_up(error.strerror or str(error))

    @contextlib.contextmanager
    def alone(self) -> Iterator[int]:
        """The file, opened to append, while no other process changes it, as far as locks go; may be
        nested.

        Raises:
            OSError: it can't be opened.
        """
        if self._fd >= 0:
            yield self._fd
            return
        self._fd = self._locked()
        try:
            yield self._fd
        finally:
            os.close(self._fd)
            self._fd = -1

    def _locked(self) -> int:
        tries, self._tries = self._tries, LOCK_TRIES
        for _ in range(tries):
            fd = files.open_to_append(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.samestat(os.fstat(fd), os.stat(self.path)):
                    return fd
            except (BlockingIOError, FileNotFoundError):  # it is held; it has been deleted
                time.sleep(_LOCK_STEP_S)
            except OSError:  # the file system has no locks
                return fd
            os.close(fd)
        self._tries = 1
        return files.open_to_append(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def _load(self) -> None:
        self._records = {}
        self._seen = None
        self._foreign = False
        try:
            data = _read(self.path)
        except FileNotFoundError:
            return
        except (OSError, FileError) as error:
            self._foreign = True
            self._say(f"can't be read: {getattr(error, 'strerror', None) or error}")
            return
        read = store.read(data)
        self._records = read.records
        self._foreign = read.foreign
        if read.foreign:
            self._say(f"{read.damage}: it is another file; move it away")
            self._seen = self._identity()
            return
        if read.damage:
            self._say(read.damage)
        is_untidy = bool(read.damage) or read.size < len(data) or _is_long(read)
        if is_untidy and self._tidies and self._fd < 0:
            self._write_anew()
        self._seen = self._identity()

    def _write_anew(self) -> None:
        try:
            with self.alone():
                self._records = store.read(_read(self.path)).records  # another one may have added
                files.replace(os.path.realpath(self.path), store.whole_text(self._records))
        except (OSError, FileError) as error:
            self._give_up(str(error))

    def _give_up(self, why: str) -> None:
        self._records.clear()
        self._seen = None
        if os.path.islink(self.path) and not os.path.exists(self.path):
            self._foreign = True  # nothing can be read through it that no longer counts
            self._say(f"can't be written ({why}): it is a link to a file that is not there")
            return
        self._say(f"can't be written ({why}); it is removed")
        try:
            os.unlink(self.path)
        except OSError as error:
            self._say(f"can't be removed either ({error.strerror}); remove it")

    def _say(self, what: str) -> None:
        self.problems.append(f"{self.path}: {what}; nodes with a CACHE command may run again")

    def _identity(self) -> _Identity | None:
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _is_long(read: Read) -> bool:
    return read.lines > FEW_LINES and read.lines > MAX_LINES_A_NODE * len(read.records)


def _read(path: str) -> bytes:
    """What is in the file.

    Raises:
        OSError, FileError: it can't be read, is somebody else's, or too large.
    """
    with os.fdopen(files.open_to_read(path), "rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise FileError(f"it is larger than {MAX_BYTES >> 20} MB")
    return data


def read_records(path: str) -> dict[str, Record]:
    """What the file says; nothing if it can't be read.  It is not written."""
    try:
        return store.read(_read(path)).records
    except (OSError, FileError):
        return {}
