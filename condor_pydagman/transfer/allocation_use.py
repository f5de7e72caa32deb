"""How much of the user's allocations is used: sqlite, in a directory of the user's alone.

What a transfer is about to write is reserved first, so several at once can't exceed an allocation.
A reservation counts while the worker lives that made it.  What is used is kept for each file: one
that is written again takes the place of the old one, and a repeated placement counts once.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator

from condor_pydagman.adapters.shared_directory import LiveFile, SharedDirectory
from condor_pydagman.placement.faults import Fault, FaultKind

_NAME = "usage.sqlite"
_BUSY_S = 20.0
_OLD_S = 60.0  # files of workers that are younger may not have their lock yet
_TABLES = (
    "CREATE TABLE IF NOT EXISTS used (allocation TEXT, file TEXT, bytes INTEGER,"
    " PRIMARY KEY (allocation, file)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS reserved (number INTEGER PRIMARY KEY, allocation TEXT, file TEXT,"
    " worker TEXT, bytes INTEGER)",
)


class AllocationUse:
    """Used and reserved bytes; used by several threads.

    Args:
        directory: of the user's alone.

    Raises:
        Fault: it can't be read or written.
    """

    def __init__(self, directory: SharedDirectory) -> None:
        self._directory = directory
        self._lock = threading.Lock()
        self._path = f"{directory.path}/{_NAME}"
        try:
            self._sweep()
            self._life = LiveFile(directory, f"worker.{os.urandom(8).hex()}")
        except OSError as error:
            raise _fault(directory.path, error) from None
        try:
            self._database = self._open()
        except BaseException:
            self._life.remove()
            raise

    def close(self) -> None:
        """End; reservations are no more."""
        self._database.close()
        self._life.remove()

    def reserve(self, allocation: str, of: int, file: str) -> Reservation:
        """Begin to use an allocation.

        Args:
            allocation: that tells it from all others of the user.
            of: its bytes.
            file: that tells what is written from all else.

        Raises:
            Fault: the books can't be written.
        """
        with self._change() as cursor:
            cursor.execute(
                "INSERT INTO reserved (allocation, file, worker, bytes) VALUES (?, ?, ?, 0)",
                (allocation, file, self._life.name),
            )
            return Reservation(self, int(cursor.lastrowid or 0), allocation, of, file)

    def left(self, allocation: str, of: int) -> int:
        """Bytes that are neither used nor reserved.

        Raises:
            Fault: the books can't be read.
        """
        with self._change() as cursor:
            self._drop_dead(cursor)
            return of - _sum(cursor, allocation, "", 0)

    def forget(self, allocation: str) -> None:
        """The allocation is no more.

        Raises:
            Fault: the books can't be written.
        """
        with self._change() as cursor:
            cursor.execute("DELETE FROM used WHERE allocation = ?", (allocation,))
            cursor.execute("DELETE FROM reserved WHERE allocation = ?", (allocation,))

    def grow(self, reservation: Reservation, size: int) -> int:
        """Reserve `size` bytes or a bit more; returns what is reserved.

        Raises:
            Fault: there is no room for so much, or the allocation is no more.
        """
        number, allocation, of, file = reservation.key
        with self._change() as cursor:
            room = of - _sum(cursor, allocation, file, number)
            if size > room:
                self._drop_dead(cursor)
                room = of - _sum(cursor, allocation, file, number)
            if size > room:
                raise Fault(
                    FaultKind.ALLOCATION,
                    f"it needs {size} bytes or more;"
                    f" the allocation has {max(room, 0)} of {of} left",
                )
            cursor.execute(
                "UPDATE reserved SET bytes = ? WHERE number = ? AND worker = ?",
                (size, number, self._life.name),
            )
            if cursor.rowcount == 0:
                raise Fault(FaultKind.ALLOCATION, "the allocation was released meanwhile")
        return size

    def settle(self, reservation: Reservation, size: int | None) -> None:
        """End a reservation; `size` bytes are used by the file now, None: as before.

        Raises:
            Fault: the books can't be written.
        """
        number, allocation, _, file = reservation.key
        with self._change() as cursor:
            cursor.execute("DELETE FROM reserved WHERE number = ?", (number,))
            if size is not None and cursor.rowcount:
                cursor.execute(
                    "INSERT OR REPLACE INTO used VALUES (?, ?, ?)", (allocation, file, size)
                )

    def _drop_dead(self, cursor: sqlite3.Cursor) -> None:
        workers = cursor.execute("SELECT DISTINCT worker FROM reserved").fetchall()
        for (worker,) in workers:
            if worker != self._life.name and not self._directory.is_alive(str(worker)):
                cursor.execute("DELETE FROM reserved WHERE worker = ?", (worker,))

    def _sweep(self) -> None:
        """Remove files of workers that were killed."""
        oldest = time.time() - _OLD_S
        for name in self._directory.names():
            if name.startswith("worker.") or name.endswith(".tmp"):
                with contextlib.suppress(OSError):
                    there = os.stat(name, dir_fd=self._directory.fd, follow_symlinks=False)
                    if there.st_mtime < oldest and not self._directory.is_alive(name):
                        self._directory.remove(name)

    def _open(self) -> sqlite3.Connection:
        try:
            with contextlib.suppress(FileNotFoundError):
                there = os.stat(_NAME, dir_fd=self._directory.fd, follow_symlinks=False)
                if not stat.S_ISREG(there.st_mode) or there.st_uid != os.geteuid():
                    raise PermissionError(0, "it is not a regular file of yours")
            database = sqlite3.connect(
                self._path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
            )
            try:
                database.execute("PRAGMA journal_mode=WAL")
                database.execute("PRAGMA synchronous=NORMAL")
                for table in _TABLES:
                    database.execute(table)
            except BaseException:
                database.close()
                raise
        except (OSError, sqlite3.Error) as error:
            raise _fault(self._path, error) from None
        return database

    @contextlib.contextmanager
    def _change(self) -> Iterator[sqlite3.Cursor]:
        """A transaction."""
        with self._lock:
            try:
                cursor = self._database.execute("BEGIN IMMEDIATE")
                try:
                    yield cursor
                    cursor.execute("COMMIT")
                except BaseException:
                    if self._database.in_transaction:
                        with contextlib.suppress(sqlite3.Error):
                            self._database.execute("ROLLBACK")
                    raise
            except sqlite3.Error as error:
                raise _fault(self._path, error) from None


class Reservation:
    """What one transfer may write."""

    def __init__(
        self, use: AllocationUse, number: int, allocation: str, of: int, file: str
    ) -> None:
        self._use = use
        self.key = number, allocation, of, file

    def grow(self, size: int) -> int:
        """See `AllocationUse.grow`."""
        return self._use.grow(self, size)

    def end(self, size: int | None) -> None:
        """See `AllocationUse.settle`."""
        self._use.settle(self, size)


def _sum(cursor: sqlite3.Cursor, allocation: str, file: str, number: int) -> int:
    """Bytes of all but one file's use and one reservation."""
    used = cursor.execute(
        "SELECT total(bytes) FROM used WHERE allocation = ? AND file != ?", (allocation, file)
    ).fetchone()[0]
    reserved = cursor.execute(
        "SELECT total(bytes) FROM reserved WHERE allocation = ? AND number != ?",
        (allocation, number),
    ).fetchone()[0]
    return int(used) + int(reserved)


def _fault(path: str, error: Exception) -> Fault:
    reason = getattr(error, "strerror", None) or str(error)
    damaged = "malformed" in reason or "not a database" in reason
    advice = "; move it away: what is used of your allocations is then not known" * damaged
    kind = FaultKind.NO_SPACE if "disk is full" in reason else FaultKind.ALLOCATION
    return Fault(kind, f"{path}: {reason}{advice}", transient=not damaged)
