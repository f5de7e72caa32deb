"""The directory that all users share for placements: tickets, rests, ledgers; and a user's own part
of it, with locks of the places that placements write to.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator

from condor_pydagman.adapters.shared_directory import (
    OPEN,
    SharedDirectory,
    distrusted,
    label,
    open_private,
    open_safe,
)
from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.urls import Url
from condor_pydagman.errors import FileError
from condor_pydagman.placement.endpoints import choose
from condor_pydagman.placement.waits import Wait
from condor_pydagman.placement.way import Progress, Surroundings
from condor_pydagman.printable import printable

DEFAULT = "/var/tmp/condor_pydagman-placement"  # noqa: S108 - checked, and never trusted
WAIT_S = 0.2  # between looks at whether another placement has ended
_LOCKS = "write."


def open_shared(path: str, say: Callable[[str], None]) -> SharedDirectory:
    """The directory of the settings ('' for the default), or the user's own if it can't be used.

    Raises:
        Fault: neither can be used.
    """
    try:
        found = open_safe(path or DEFAULT, 0o1777, say)
        whose = distrusted(found)
        if whose and path not in ("", DEFAULT):
            found.close()
            raise PermissionError(0, f"it {whose}")
        if whose:
            say(f"{found.path} {whose}; PYDAGMAN_PLACEMENT_DIR may name another")
        return found
    except OSError as error:
        reason = printable(error.strerror or str(error))
    found = open_own(say)
    kept = "limits and rests of hosts hold only for this user"
    say(f"{path or DEFAULT}: {reason}; {kept}, in {found.path}")
    return found


def open_own(say: Callable[[str], None]) -> SharedDirectory:
    """A directory that no other user can write to.

    Raises:
        Fault: there is no place for one.
    """
    try:
        return open_private(DEFAULT, say)
    except FileError as error:
        raise Fault(FaultKind.DESTINATION, str(error), transient=True) from None


def private_directory(shared: SharedDirectory) -> SharedDirectory:
    """The user's own directory in the shared one.

    Raises:
        OSError: it can't be made or opened.
    """
    user = os.geteuid()
    usual = f"own.{user}"
    for name in [usual, *sorted(n for n in shared.names() if n.startswith(usual + "."))]:
        with contextlib.suppress(OSError):
            return _private(shared, name)
    return _private(shared, f"{usual}.{os.urandom(8).hex()}")


def _private(shared: SharedDirectory, name: str) -> SharedDirectory:
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=shared.fd)
    fd = os.open(name, OPEN, dir_fd=shared.fd)
    there = os.fstat(fd)
    if there.st_uid != os.geteuid() or there.st_mode & 0o077:
        os.close(fd)
        raise PermissionError(f"{name} is another user's")
    return SharedDirectory(f"{shared.path}/{name}", fd)


def place_of(url: Url) -> tuple[str, int, str, str]:
    """What tells one file from another, whatever it is called."""
    if url.is_local:
        return "", 0, "", os.path.realpath(url.path) + "/" * url.is_directory
    scheme = choose.PLAIN_SCHEMES.get(url.scheme, url.scheme)
    port = url.port or choose.USUAL_PORTS.get(scheme, 0)
    return f"{scheme} {url.host}", port, url.query, url.path


class DestinationLocks:
    """Locks of remote destinations: two placements of one file take turns.

    Both would write to the same temporary name, and few servers refuse that.  A lock is a file in
    the user's own part of the shared directory, so it holds for all workers of the user on this
    access point, and ends with its process.  Of one worker; used by several threads.
    """

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._directory: SharedDirectory | None = None

    @contextlib.contextmanager
    def held(self, file: Url, surroundings: Surroundings, progress: Progress) -> Iterator[int]:
        """Nobody else writes to the file within the block, whichever way it takes.

        Yields a descriptor: the lock lasts as long as any process has that.

        Raises:
            Fault: the worker is to stop, or there is no place for locks.
        """
        name = _lock_of(file)
        wait = Wait(surroundings.say)
        try:
            directory = self._opened(surroundings)
            while (fd := directory.try_lock(name, make=True)) < 0:
                wait.begins("another placement of the same file")
                progress.wait(WAIT_S)
        except OSError as error:
            raise Fault(
                FaultKind.NO_SPACE, f"can't lock a destination: {error.strerror}", transient=True
            ) from None
        finally:
            wait.over()
        try:
            yield fd
        finally:
            directory.remove(name)
            os.close(fd)

    @contextlib.contextmanager
    def held_if_free(self, file: Url, surroundings: Surroundings) -> Iterator[bool]:
        """The same without waiting; yields whether nobody else has it.

        Raises:
            Fault: there is no place for locks.
        """
        name = _lock_of(file)
        try:
            directory = self._opened(surroundings)
            fd = directory.try_lock(name, make=True)
        except OSError as error:
            raise Fault(FaultKind.NO_SPACE, f"can't lock: {error.strerror}") from None
        try:
            yield fd >= 0
        finally:
            if fd >= 0:
                directory.remove(name)
                os.close(fd)

    def _opened(self, surroundings: Surroundings) -> SharedDirectory:
        with self._mutex:
            if self._directory is None or not self._directory.is_in_place():
                self._directory = _open(surroundings)
                _remove_left(self._directory)
            return self._directory


def _lock_of(file: Url) -> str:
    return _LOCKS + label("\0".join(map(str, place_of(file))))


def _open(surroundings: Surroundings) -> SharedDirectory:
    shared = open_shared(surroundings.settings.directory, lambda line: None)  # the turns tell it
    try:
        return private_directory(shared)
    except OSError:
        return open_own(lambda line: None)
    finally:
        shared.close()


def _remove_left(directory: SharedDirectory) -> None:
    """Remove the files of workers that were killed."""
    with contextlib.suppress(OSError):
        for name in directory.names():
            fd = directory.try_lock(name) if name.startswith(_LOCKS) else -1
            if fd >= 0:
                directory.remove(name)
                os.close(fd)
