"""Files that prove that the process which made them lives: it holds a lock that ends with it.

The lock is a write lock of the open file (F_OFD_SETLK), for which a process must be able to write
to the file: no other user can pretend that a dead process's file is alive.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import struct

from condor_pydagman.adapters.shared_directory import SharedDirectory

_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_GONE = (errno.ENOENT, errno.ELOOP, errno.EACCES, errno.ENXIO, errno.ENOTDIR)
_LOCK = "hhqqi4x"  # struct flock


class LiveFile:
    """An empty file of ours in the shared directory, locked until it is closed or we end.

    Raises:
        OSError: it can't be made.
    """

    def __init__(self, directory: SharedDirectory, name: str) -> None:
        self.directory = directory
        self.name = name
        # nobody else can open it before it is locked
        self._fd = os.open(name, _NEW, 0o000, dir_fd=directory.fd)
        try:
            fcntl.fcntl(self._fd, fcntl.F_OFD_SETLK, _lock(fcntl.F_WRLCK))
            os.fchmod(self._fd, 0o644)
        except OSError:
            self.close()
            raise

    def rename(self, name: str) -> None:
        """Give it another name; the lock stays.

        Raises:
            OSError: it is not there any more, or has no room.
        """
        fd = self.directory.fd
        os.rename(self.name, name, src_dir_fd=fd, dst_dir_fd=fd)
        self.name = name

    def is_there(self) -> bool:
        """Whether nobody has removed or replaced it."""
        try:
            there = os.stat(self.name, dir_fd=self.directory.fd, follow_symlinks=False)
        except OSError:
            return False
        return os.path.samestat(there, os.fstat(self._fd))

    def close(self) -> None:
        """Remove it."""
        if self._fd >= 0:
            self.directory.remove(self.name)
            os.close(self._fd)
            self._fd = -1


def is_alive(directory: SharedDirectory, name: str) -> bool:
    """Whether the process that made a file lives.

    To be asked while nobody makes files: one without permissions was left by a process that was
    killed at once.
    """
    try:
        fd = os.open(name, _LOOK, dir_fd=directory.fd)
    except OSError as error:
        return error.errno not in _GONE  # without descriptors or memory nothing can be said
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return False
        answer = fcntl.fcntl(fd, fcntl.F_OFD_GETLK, _lock(fcntl.F_RDLCK))
        return bool(struct.unpack(_LOCK, answer)[0] != fcntl.F_UNLCK)
    finally:
        os.close(fd)


def remove_dead(directory: SharedDirectory, name: str) -> None:
    """Remove the file of a dead process if it is this user's."""
    if directory.owner(name) == os.geteuid():
        directory.remove(name)


def _lock(kind: int) -> bytes:
    return struct.pack(_LOCK, kind, os.SEEK_SET, 0, 0, 0)
