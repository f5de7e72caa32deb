"""The file of one DAGMan in the shared directory, as DAGMan itself keeps it: there, and locked.

The lock proves that DAGMan lives, and ends with it; the process that makes rounds writes the file.
It is written in place and has its full length from the beginning, so a disk that is full neither
spoils it nor keeps DAGMan from giving something back.
"""

from __future__ import annotations

import contextlib
import fcntl
import glob
import os
import stat
import struct

from condor_pydagman.adapters.shared_directory import SharedDirectory, label
from condor_pydagman.errors import FileError

LENGTH = 4096
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OLD = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LOCK = "hhqqi4x"  # struct flock


def file_name(schedd: str, cluster: int) -> str:
    """Usual name of the file of a DAGMan of this user."""
    return f"limits.{os.geteuid()}.{label(schedd)}.{cluster}"


def has_file(path: str, cluster: int) -> bool:
    """Whether a DAGMan of this user's, in whichever queue, has a file in that directory."""
    usual = f"{glob.escape(path)}/limits.{os.geteuid()}.{'[0-9a-f]' * 16}.{cluster}"
    return bool(glob.glob(usual) or glob.glob(f"{usual}.*"))


class OwnFile:
    """The file, from `keep` to `close`.

    Args:
        directory: where it is.
        usual: name of the file, unless another user has taken it.

    Attributes:
        name: of the file, as it is.
    """

    def __init__(self, directory: SharedDirectory, usual: str) -> None:
        self.directory = directory
        self._usual = self.name = usual
        self._fd = -1

    def keep(self) -> str:
        """See to it that it is there and locked; returns its name.  Cheap if it is.

        Raises:
            FileError: it can't be had.
        """
        if self._fd >= 0 and self._is_there():
            return self.name
        self.close()
        try:
            self.name = self.directory.name_of_ours(self._usual)
            self._fd = self._opened()
            with contextlib.suppress(OSError):  # only a process of this user can hold it
                fcntl.fcntl(self._fd, fcntl.F_OFD_SETLK, _lock(fcntl.F_WRLCK))
        except OSError as error:
            self.close()
            raise FileError(
                f"{self.directory.path}/{self.name}: {error.strerror}", transient=True
            ) from None
        return self.name

    def _is_there(self) -> bool:
        """Whether nobody has removed or replaced it."""
        try:
            there = os.stat(self.name, dir_fd=self.directory.fd, follow_symlinks=False)
        except OSError:
            return False
        return os.path.samestat(there, os.fstat(self._fd))

    def _opened(self) -> int:
        place = self.directory.fd
        with contextlib.suppress(FileNotFoundError):
            fd = os.open(self.name, _OLD, dir_fd=place)
            there = os.fstat(fd)
            if there.st_uid == os.geteuid() and stat.S_ISREG(there.st_mode):
                return fd
            os.close(fd)
            raise PermissionError(0, "another user has put it there; nobody counts it")
        fd = os.open(self.name, _NEW, 0o600, dir_fd=place)
        try:
            os.write(fd, b" " * LENGTH)
            os.fchmod(fd, 0o644)
            os.fsync(fd)
            os.fsync(place)
        except OSError:
            self.directory.remove(self.name)
            os.close(fd)
            raise
        return fd

    def close(self) -> None:
        """Close it: nothing proves any more that DAGMan lives."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def remove(self) -> None:
        """Give up everything."""
        self.directory.remove(self.name)
        self.close()


def open_to_read(directory: SharedDirectory, name: str) -> int:
    """A descriptor of a file of anybody's.

    Raises:
        OSError: it can't be opened.
    """
    return os.open(name, _LOOK, dir_fd=directory.fd)


def is_alive(fd: int) -> bool:
    """Whether the DAGMan whose file this is lives."""
    answer = fcntl.fcntl(fd, fcntl.F_OFD_GETLK, _lock(fcntl.F_RDLCK))
    return bool(struct.unpack(_LOCK, answer)[0] != fcntl.F_UNLCK)


def overwrite(directory: SharedDirectory, name: str, data: bytes) -> None:
    """Replace what the own file says.

    Raises:
        FileError: it can't be written; it says what it said before.
    """
    try:
        fd = os.open(name, _OLD, dir_fd=directory.fd)
    except OSError as error:
        raise FileError(f"{directory.path}/{name}: {error.strerror}", transient=True) from None
    try:
        length = os.fstat(fd).st_size
        if len(data) > length:
            os.posix_fallocate(fd, length, len(data) - length)
        os.pwrite(fd, data.ljust(length), 0)
    except OSError as error:
        raise FileError(f"{directory.path}/{name}: {error.strerror}", transient=True) from None
    finally:
        os.close(fd)


def _lock(kind: int) -> bytes:
    return struct.pack(_LOCK, kind, os.SEEK_SET, 0, 0, 0)
