"""Locks of remote destinations: two placements of one file take turns.

Both would write to the same temporary name, and few servers refuse that.  A lock is a file in the
user's own part of the shared directory, so it holds for all workers of the user on this access
point, and ends with its process.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
from collections.abc import Iterator

from condor_pydagman.adapters.shared_directory import Crowded, SharedDirectory, label
from condor_pydagman.placement.faults import Fault, FaultKind
from condor_pydagman.transfer.placement_directory import open_own, open_shared, private_directory
from condor_pydagman.transfer.way import Progress, Surroundings

WAIT_S = 0.2  # between looks at whether another placement has ended
_BEGINNING = "write."
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class DestinationLocks:
    """Locks of one worker; used by several threads."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._directory: SharedDirectory | None = None

    @contextlib.contextmanager
    def held(self, place: str, surroundings: Surroundings, progress: Progress) -> Iterator[None]:
        """Nobody else writes to `place`, which tells a file from all others, within the block.

        Raises:
            Fault: the worker is to stop, or there is no place for locks.
        """
        name = _BEGINNING + label(place)
        said = False
        try:
            directory = self._opened(surroundings)
            while (fd := _locked(directory, name)) < 0:
                if not said:
                    surroundings.say("waits for another placement of the same file")
                    said = True
                progress.wait(WAIT_S)
        except OSError as error:
            raise Fault(
                FaultKind.NO_SPACE, f"can't lock a destination: {error.strerror}", transient=True
            ) from None
        try:
            yield
        finally:
            directory.remove(name)
            os.close(fd)

    def _opened(self, surroundings: Surroundings) -> SharedDirectory:
        with self._mutex:
            if self._directory is None or not self._directory.is_in_place():
                self._directory = _open(surroundings)
                _remove_left(self._directory)
            return self._directory


def _open(surroundings: Surroundings) -> SharedDirectory:
    shared = open_shared(surroundings.settings.directory, lambda line: None)  # the turns tell it
    try:
        return private_directory(shared)
    except (OSError, Crowded):
        return open_own(lambda line: None)
    finally:
        shared.close()


def _locked(directory: SharedDirectory, name: str) -> int:
    """Descriptor of the file of this name, locked; -1 if another process or thread has it."""
    fd = os.open(name, _FLAGS, 0o600, dir_fd=directory.fd)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # whoever had it may have removed it
        if os.path.samestat(os.fstat(fd), os.stat(name, dir_fd=directory.fd)):
            return fd
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        os.close(fd)
        raise
    os.close(fd)
    return -1


def _remove_left(directory: SharedDirectory) -> None:
    """Remove the files of workers that were killed."""
    with contextlib.suppress(OSError, Crowded):
        for name in directory.names():
            if name.startswith(_BEGINNING):
                fd = _locked(directory, name)
                if fd >= 0:
                    directory.remove(name)
                    os.close(fd)
