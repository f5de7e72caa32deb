"""Ledgers of allocations: one file for each user, which all read and only the user writes.

A ledger is replaced as a whole under a lock of all, so a writer that is killed leaves the old one.
A ledger that can't be read is nobody's free space: its own user can allocate nothing until he has
moved it away; to others it is as if it were not there, which they are told.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import stat
import time
from collections.abc import Callable, Iterator

from condor_pydagman.adapters.shared_directory import Crowded, spread
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.placement.faults import Fault, FaultKind
from condor_pydagman.placement.space_rules import (
    MAX_LEDGER_BYTES,
    MAX_ROWS,
    Allocation,
    DamagedLedger,
    ledger_text,
    read_ledger,
    without_forgotten,
)
from condor_pydagman.transfer.endpoints.disk_faults import FULL
from condor_pydagman.transfer.placement_directory import open_shared, private_directory
from condor_pydagman.transfer.way import Progress

_LOCK = "ledger.lock"
_FOR_ALL = 0o444
_LOCK_S = 60.0  # a writer waits for its disk
_MAX_LEDGERS = 500  # of other users
_NAME = re.compile(r"ledger\.(\d{1,10})(?:\.[0-9a-f]{16})?\.txt", re.ASCII)
_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Ledgers:
    """All ledgers of an access point, seen by one user.

    Args:
        settings: where the shared directory is.
        say: adds a line to the log.

    Raises:
        Fault: there is no usable directory.
    """

    def __init__(self, settings: Settings, say: Callable[[str], None]) -> None:
        self._say = say
        self._said: set[str] = set()
        self._cached: dict[str, tuple[bytes, list[Allocation]]] = {}
        self.directory = open_shared(settings.directory, say)
        try:
            self.private = private_directory(self.directory)
        except (OSError, Crowded) as error:
            raise _unusable(self.directory.path, error) from None

    @contextlib.contextmanager
    def locked(self, progress: Progress) -> Iterator[None]:
        """Nobody else changes a ledger meanwhile.

        Raises:
            Fault: the lock can't be had, or the worker is to stop.
        """
        try:
            fd = self._lock(progress)
        except OSError as error:
            raise _unusable(f"{self.directory.path}/{_LOCK}", error) from None
        try:
            yield
        finally:
            os.close(fd)

    def own(self) -> list[Allocation]:
        """The user's own allocations.

        Raises:
            Fault: the ledger is damaged or can't be read.
        """
        name = self._own_name(self.names())
        if not name:
            return []
        path = f"{self.directory.path}/{name}"
        try:
            return list(self._read(name))
        except FileNotFoundError:
            return []
        except DamagedLedger as error:
            raise Fault(
                FaultKind.ALLOCATION,
                f"your ledger of allocations, {path}, is damaged: {error}; what you have allocated"
                " can't be known; move the file away to begin with nothing allocated",
            ) from None
        except OSError as error:
            raise _unusable(path, error) from None

    def others(self) -> list[Allocation]:
        """Allocations of all other users whose ledgers can be read."""
        found: list[Allocation] = []
        users: set[int] = {os.geteuid()}
        for name in sorted(self.names()):
            if _NAME.fullmatch(name) is None:
                continue
            user = self.directory.owner(name)
            if user in users or user < 0:
                continue
            users.add(user)
            if len(users) > _MAX_LEDGERS:
                self._say_once(f"{self.directory.path}: only {_MAX_LEDGERS} ledgers are looked at")
                break
            try:
                found += self._read(name)
            except FileNotFoundError:
                continue
            except (DamagedLedger, OSError) as error:
                self._say_once(f"{self.directory.path}/{name} is not counted: {error}")
        return found

    def write(self, allocations: list[Allocation]) -> None:
        """Replace the user's own ledger; within `locked`.

        Raises:
            Fault: it can't be written; the old one is unchanged.
        """
        kept = without_forgotten(allocations, time.time())
        text = ledger_text(kept)
        if len(kept) > MAX_ROWS or len(text) > MAX_LEDGER_BYTES:
            raise Fault(FaultKind.ALLOCATION, f"you have {len(kept)} allocations; release some")
        usual = f"ledger.{os.geteuid()}.txt"
        name = self._own_name(self.names()) or usual
        if name == usual and self._is_taken(usual):
            name = f"ledger.{os.geteuid()}.{os.urandom(8).hex()}.txt"
        try:
            self._replace(name, text.encode())
        except OSError as error:
            raise _unusable(f"{self.directory.path}/{name}", error) from None

    def names(self) -> list[str]:
        """Every name in the shared directory.

        Raises:
            Fault: it can't be read.
        """
        try:
            return self.directory.names()
        except (OSError, Crowded) as error:
            raise _unusable(self.directory.path, error) from None

    def _own_name(self, names: list[str]) -> str:
        """Whose ledger it is tells its owner, not its name: others may have taken the usual one."""
        user = os.geteuid()
        for name in sorted(names, key=lambda name: (len(name), name)):
            found = _NAME.fullmatch(name)
            if found and int(found[1]) == user and self.directory.owner(name) == user:
                return name
        return ""

    def _is_taken(self, name: str) -> bool:
        try:
            there = os.stat(name, dir_fd=self.directory.fd, follow_symlinks=False)
        except OSError:
            return False
        return there.st_uid != os.geteuid()

    def _read(self, name: str) -> list[Allocation]:
        fd = os.open(name, _LOOK, dir_fd=self.directory.fd)
        try:
            there = os.fstat(fd)
            if not stat.S_ISREG(there.st_mode):
                raise DamagedLedger("it is not a regular file")
            if there.st_size > MAX_LEDGER_BYTES:
                raise DamagedLedger("it is too large")
            data = os.read(fd, MAX_LEDGER_BYTES + 1)
        finally:
            os.close(fd)
        # by contents: a new file may have the inode, size and time of the one it has replaced
        known = self._cached.get(name)
        if known is not None and known[0] == data:
            return known[1]
        try:
            found = read_ledger(data.decode("ascii"))
        except UnicodeDecodeError:
            raise DamagedLedger("it has bytes that are no text") from None
        self._cached[name] = data, found
        return found

    def _replace(self, name: str, data: bytes) -> None:
        """By a new file, made where no other user can get at it."""
        temporary = f"ledger.{os.getpid()}.{os.urandom(4).hex()}.tmp"
        fd = os.open(temporary, _NEW, 0o644, dir_fd=self.private.fd)
        try:
            os.fchmod(fd, 0o644)
            left = memoryview(data)
            while left:
                left = left[os.write(fd, left) :]
            os.fsync(fd)
            os.rename(temporary, name, src_dir_fd=self.private.fd, dst_dir_fd=self.directory.fd)
            os.fsync(self.directory.fd)
        finally:
            os.close(fd)
            self.private.remove(temporary)

    def _lock(self, progress: Progress) -> int:
        until = time.monotonic() + _LOCK_S
        pause = 0.001
        while True:
            fd = self._open_lock()
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if self._still_locks(fd):
                    return fd
            except (BlockingIOError, FileNotFoundError):
                pass
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)
            if time.monotonic() > until:
                raise TimeoutError(0, "some process does not give it back")
            progress.wait(spread(pause))
            pause = min(pause * 1.5, 0.1)

    def _open_lock(self) -> int:
        """The file that all lock; the directory, if a user has made that file one that not all can
        open.  By its mode, as root could open any: all must choose the same."""
        for _ in range(2):
            try:
                fd = os.open(_LOCK, _LOOK, dir_fd=self.directory.fd)
            except FileNotFoundError:
                self._make_lock()
                continue
            except OSError:
                break
            mode = os.fstat(fd).st_mode
            if stat.S_ISREG(mode) and mode & _FOR_ALL == _FOR_ALL:
                return fd
            os.close(fd)
            break
        self._say_once(
            f"{self.directory.path}/{_LOCK} is not a file that all users can read; remove it"
        )
        return os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self.directory.fd)

    def _make_lock(self) -> None:
        """By a link: nobody sees it before all can read it, whatever the umask is."""
        temporary = f"{_LOCK}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
        fd = os.open(temporary, _NEW, 0o644, dir_fd=self.private.fd)
        try:
            os.fchmod(fd, 0o644)
            with contextlib.suppress(FileExistsError):
                os.link(temporary, _LOCK, src_dir_fd=self.private.fd, dst_dir_fd=self.directory.fd)
        finally:
            os.close(fd)
            self.private.remove(temporary)

    def _still_locks(self, fd: int) -> bool:
        """Whether what was locked has not been removed or replaced meanwhile."""
        there = os.fstat(fd)
        if stat.S_ISDIR(there.st_mode):
            return True
        return os.path.samestat(
            there, os.stat(_LOCK, dir_fd=self.directory.fd, follow_symlinks=False)
        )

    def _say_once(self, line: str) -> None:
        if line not in self._said and len(self._said) < 100:
            self._said.add(line)
            self._say(line)


def _unusable(path: str, error: Exception) -> Fault:
    reason = getattr(error, "strerror", None) or str(error)
    is_full = isinstance(error, OSError) and error.errno in FULL
    kind = FaultKind.NO_SPACE if is_full else FaultKind.ALLOCATION
    return Fault(kind, f"{path}: {reason}", transient=True)
