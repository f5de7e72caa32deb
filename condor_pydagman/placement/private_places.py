"""Directories that only their user may enter, and locks that end with the process that holds them.

Names in /tmp can be guessed and taken by others, so what is there already is checked, and nothing
is written into it that is not the user's own.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator

from condor_pydagman.adapters import deleted_directories

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
_LOCK = "lock"
_MAX_LEFT = 100  # of directories left by killed workers that are removed at a time


def make_private(path: str) -> None:
    """Make a directory that only the user may enter, or check that it is one.

    Raises:
        OSError: it can't be made, or is something else.
    """
    with contextlib.suppress(FileExistsError):
        os.mkdir(path, 0o700)
    found = os.stat(path, follow_symlinks=False)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise PermissionError(errno.EPERM, "it must be a directory that only its user may enter")


def locked(path: str, *, waits: bool = False) -> int | None:
    """Descriptor of a file that is locked now, made if it is not there; None if another process
    has locked it.

    Raises:
        OSError: it can't be opened, or the file system has no locks.
    """
    fd = os.open(path, _FLAGS, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
    except BlockingIOError:
        os.close(fd)
        return None
    except OSError:
        os.close(fd)
        raise
    return fd


@contextlib.contextmanager
def scratch_directory(purpose: str) -> Iterator[str]:
    """A directory for files with secrets, removed after the `with` block; those that killed
    processes have left are removed too.

    Raises:
        OSError: there is no place for it.
    """
    place = os.path.join(tempfile.gettempdir(), f"condor_pydagman-{purpose}-{os.geteuid()}")
    lock = None
    try:
        directory, lock = _new_in(place)
    except OSError:  # somebody else has the name, or there are no locks
        directory = tempfile.mkdtemp(prefix=f"condor_pydagman-{purpose}-")
    try:
        yield directory
    finally:
        deleted_directories.delete_directory(directory)
        if lock is not None:
            os.close(lock)


def _new_in(place: str) -> tuple[str, int]:
    """A new directory in one of the user's, and the descriptor of its lock."""
    make_private(place)
    turn = locked(os.path.join(place, _LOCK), waits=True)  # held for milliseconds
    assert turn is not None
    try:
        _remove_left(place)
        directory = tempfile.mkdtemp(dir=place)
        lock = locked(os.path.join(directory, _LOCK))
    finally:
        os.close(turn)
    assert lock is not None
    return directory, lock


def _remove_left(place: str) -> None:
    """Remove directories whose locks nobody holds."""
    with os.scandir(place) as found:
        names = [entry.path for entry in found if entry.is_dir(follow_symlinks=False)]
    for directory in names[:_MAX_LEFT]:
        with contextlib.suppress(OSError):
            lock = locked(os.path.join(directory, _LOCK))
            if lock is not None:
                deleted_directories.delete_directory(directory)
                os.close(lock)
