"""Ledgers of allocations: one file for each user, which all read and only the user writes.

A ledger is replaced as a whole under a lock of all, so a writer that is killed leaves the old one.
A ledger that can't be read is nobody's free space: its own user can allocate nothing until he has
moved it away; to others it is as if it were not there, which they are told.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator

from condor_pydagman.adapters.shared_directory import OTHER_NAME, failure
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
_NAME = re.compile(rf"ledger\.(\d{{1,10}}){OTHER_NAME}\.txt", re.ASCII)


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
        except OSError as error:
            raise _unusable(self.directory.path, error) from None

    @contextlib.contextmanager
    def locked(self, progress: Progress) -> Iterator[None]:
        """Nobody else changes a ledger meanwhile.

        Raises:
            Fault: the lock can't be had, or the worker is to stop.
        """
        try:
            with self.directory.locked(_LOCK_S, progress.wait, self._lock_name):
                yield
        except OSError as error:
            raise _unusable(f"{self.directory.path}/{_LOCK}", error) from None

    def own(self) -> list[Allocation]:
        """The user's own allocations.

        Raises:
            Fault: the ledger is damaged or can't be read.
        """
        name = self._own_name()
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
        name = self._own_name()
        try:
            self.directory.replace(name, text.encode())
        except OSError as error:
            raise _unusable(f"{self.directory.path}/{name}", error) from None

    def names(self) -> list[str]:
        """Every name in the shared directory.

        Raises:
            Fault: it can't be read.
        """
        try:
            return self.directory.names()
        except OSError as error:
            raise _unusable(self.directory.path, error) from None

    def _own_name(self) -> str:
        try:
            return self.directory.name_of_ours(f"ledger.{os.geteuid()}", ".txt")
        except OSError as error:
            raise _unusable(self.directory.path, error) from None

    def _read(self, name: str) -> list[Allocation]:
        fd = self.directory.open_to_read(name)
        try:
            if os.fstat(fd).st_size > MAX_LEDGER_BYTES:
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

    def _lock_name(self) -> str:
        """The file that all lock; the directory, if a user has made that file one that not all can
        open.  By its mode, as root could open any: all must choose the same."""
        for _ in range(2):
            try:
                fd = self.directory.open_to_read(_LOCK)
            except FileNotFoundError:
                self.directory.make(_LOCK)
                continue
            except OSError:
                break
            mode = os.fstat(fd).st_mode
            os.close(fd)
            if mode & _FOR_ALL == _FOR_ALL:
                return _LOCK
            break
        self._say_once(
            f"{self.directory.path}/{_LOCK} is not a file that all users can read; remove it"
        )
        return "."

    def _say_once(self, line: str) -> None:
        if line not in self._said and len(self._said) < 100:
            self._said.add(line)
            self._say(line)


def _unusable(path: str, error: OSError) -> Fault:
    kind = FaultKind.NO_SPACE if error.errno in FULL else FaultKind.ALLOCATION
    return Fault(kind, failure(path, error), transient=True)
