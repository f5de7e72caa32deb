"""The file beside a DAG that holds the id of the event that was delivered last, `NAME.notify.N`.

Who has it locked delivers.  The next process waits for the lock, and goes on behind the last event
of the one before, though that has deleted the file after the end of the DAG.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time

from condor_pydagman.adapters import files
from condor_pydagman.errors import UsageError
from condor_pydagman.monitor.position import parse_position

RETRY_S = 0.5  # between tries to lock the file
MAX_ID_BYTES = 100


class DeliveredFile:
    """The file, locked by this process.

    Attributes:
        path: its name.
        id: of the last event that need not be delivered any more; '' for none.
    """

    def __init__(self, path: str, fd: int, event: str) -> None:
        self.path = path
        self.id = event
        self._fd = fd

    def write(self, event: str) -> None:
        """Keep the id of an event; on a full disk, the one that is there stays."""
        if event != self.id:
            with contextlib.suppress(OSError):
                os.pwrite(self._fd, event.encode().ljust(MAX_ID_BYTES) + b"\n", 0)
                self.id = event

    def delete(self) -> None:
        """All is delivered, or given up: the next run begins anew."""
        with contextlib.suppress(OSError):
            os.unlink(self.path)


def lock(path: str, patience: float) -> DeliveredFile | None:
    """Take the file, which is made if there is none.

    Args:
        path: its name; a symbolic link is not followed.
        patience: seconds that another process is waited for, which may be about to end.

    Returns:
        None if the other process still has it then.

    Raises:
        OSError: it can't be opened, or is none.
    """
    until, known = time.monotonic() + patience, ""
    fd = _open(path)
    while time.monotonic() < until:
        if not _is_locked(fd):
            time.sleep(RETRY_S)
            continue
        here = _id_in(fd)
        known = here or known
        if _is_there(path, fd):
            file = DeliveredFile(path, fd, here)
            file.write(known)
            return file
        os.close(fd)  # its owner has deleted it
        fd = _open(path)
    os.close(fd)
    return None


def _open(path: str) -> int:
    return files.open_own(path, os.O_RDWR | os.O_CREAT, 0o600)


def _is_locked(fd: int) -> bool:
    """Whether this process has got the lock."""
    try:
        fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_there(path: str, fd: int) -> bool:
    with contextlib.suppress(OSError):
        return os.path.samestat(os.fstat(fd), os.stat(path))
    return False


def _id_in(fd: int) -> str:
    """What the file holds, '' if that is no id."""
    text = os.pread(fd, MAX_ID_BYTES, 0).decode("ascii", "replace").strip()
    with contextlib.suppress(UsageError):
        parse_position(text)
        return text
    return ""
