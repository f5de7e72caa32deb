"""Allocations of space: what all users have allocated, by ledgers; who waits for room; and how much
of a user's own allocations is used, so that transfers keep within them.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from condor_pydagman.adapters.shared_directory import (
    OTHER_NAME,
    LiveFile,
    SharedDirectory,
    failure,
    label,
    spread,
)
from condor_pydagman.data_requests.destinations import destination_of, normal_destination
from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.requests import Allocate, Release, Transfer
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.data_requests.space import capacity_for, space_module
from condor_pydagman.data_requests.work_order import FINAL, FINAL_STATUS
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.placement.endpoints.disk_faults import FULL
from condor_pydagman.placement.placement_directory import open_shared, private_directory
from condor_pydagman.placement.rules import allocation_rules as rules
from condor_pydagman.placement.rules.allocation_rules import Allocation, DamagedLedger
from condor_pydagman.placement.site_modules import manage_space
from condor_pydagman.placement.waits import Wait
from condor_pydagman.placement.way import Outcome, Progress, Surroundings
from condor_pydagman.printable import size_text

LEDGER = "ledger"
_LOOK_S = 1.0  # the first that waits for room looks so often, in seconds; the others less
_MAX_LOOK_S = 10.0
_GLANCE_S = 0.1  # so often it looks whether anything has changed
_STEP = 1 << 20  # bytes that are reserved at least, while the size of a file is not known
_MAX_DURATION_S = 1e10
_MAX_TEXT_BYTES = 900  # of a destination or an id
_WAITS = re.compile(r"room\.([0-9a-f]{16})\.(-?\d{1,11})\.(\d{1,19})\.(\d{1,15})\.([0-9a-f]{16})")
_DISK = rules.MAX_BYTES
_LOCK = "ledger.lock"
_FOR_ALL = 0o444
_LOCK_S = 60.0  # a writer waits for its disk
_MAX_LEDGERS = 500  # of other users
_LEDGERS = re.compile(rf"ledger\.(\d{{1,10}}){OTHER_NAME}\.txt", re.ASCII)
_BOOKS = "usage.sqlite"
_BUSY_S = 20.0
_OLD_S = 60.0  # files of workers that are younger may not have their lock yet
_TABLES = (
    "CREATE TABLE IF NOT EXISTS used (allocation TEXT, file TEXT, bytes INTEGER,"
    " PRIMARY KEY (allocation, file)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS reserved (number INTEGER PRIMARY KEY, allocation TEXT, file TEXT,"
    " worker TEXT, bytes INTEGER)",
    "CREATE TABLE IF NOT EXISTS makers (allocation TEXT, dag TEXT, request TEXT,"
    " PRIMARY KEY (allocation, dag)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS nodes (allocation TEXT, node TEXT, noted REAL,"
    " PRIMARY KEY (allocation, node)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS given_back (dag TEXT, identity TEXT, request TEXT,"
    " PRIMARY KEY (dag, identity, request)) WITHOUT ROWID",
)


class Space:
    """Allocations of one user; used by several threads.  Opens nothing until it is needed.

    Args:
        settings: capacities, and where the shared directory is.
        say: adds a line to the log.
        dag: path of the DAG file whose node it is for; '' if it is by hand.
        node: its name.
    """

    def __init__(
        self, settings: Settings, say: Callable[[str], None], dag: str = "", node: str = ""
    ) -> None:
        self._settings = settings
        self._dag, self._node = dag, node
        self._looked: set[str] = set()  # ids of which it is known whether they were given back
        self._say = say
        self._mutex = threading.Lock()
        self._ledgers: Ledgers | None = None
        self._use: AllocationUse | None = None
        self._former: list[AllocationUse] = []  # transfers that began earlier may still use them

    def close(self) -> None:
        """Close what is open; nothing may be reserved at this time.  It may be used again."""
        with self._mutex:
            self._leave_use()
            for use in self._former:
                use.close()
            self._former.clear()
            self._ledgers = None

    def allocate(
        self, request: Allocate, surroundings: Surroundings, progress: Progress
    ) -> Outcome:
        """Allocate space, by the site's module if there is one; a second time with the same host
        and id does nothing.

        Raises:
            Fault: there is no room, no capacity, or it is allocated with another size.
        """
        way = LEDGER
        if space_module(request, self._settings.module_directories):
            way = manage_space(request, surroundings, progress)
            self._note_module(request, progress)
        else:
            _Waiter(self, self._settings, self._say, request, progress).allocate()
        self._note_maker(request)
        return Outcome(way, None, 0)

    def release(self, request: Release, surroundings: Surroundings, progress: Progress) -> Outcome:
        """Release an allocation; a second time does nothing (see `_end`).

        What the FINAL node of a DAG releases may be allocated again: its rescue run does not
        repeat the node that has allocated.  If the DAG has failed, what it has not made is no
        fault.

        Raises:
            Fault: it was never allocated.
        """
        destination = _normal(request.host)
        is_final = FINAL in surroundings.environment
        if is_final:
            self._give_back_own(destination, request.allocation_id)
        found, way = self._end(request, surroundings, progress)
        if found is None and way == LEDGER:
            where = f" of {destination}"
            unknown = self._unknown(request.allocation_id, where, self.ledgers().own())
            if surroundings.environment.get(FINAL_STATUS, "0") == "0":
                raise unknown
            surroundings.say(f"the DAG has failed before it was made: {unknown.reason}")
        if not is_final:
            self.use().take_back(self._dag, request.allocation_id)
        return Outcome(way, None, 0)

    def _give_back_own(self, destination: str, identity: str) -> None:
        """For the rescue run of this DAG, if no other has allocated it too."""
        found = rules.active(self.ledgers().own(), destination, identity, time.time())
        if found is not None and self.use().known(_key(found))[1] == (self._dag,):
            self.use().give_back(_key(found), identity)

    def _note_module(self, request: Allocate, progress: Progress) -> None:
        """A site's module has allocated it: transfers that name it have no limit here."""
        now = round(time.time(), 3)
        ledgers = self.ledgers()
        with ledgers.locked(progress):
            own = ledgers.own()
            made = _made(request, None, now)
            if rules.active(own, made.destination, made.allocation_id, now) is None:
                ledgers.write([*own, made])

    @contextlib.contextmanager
    def reserved(
        self, transfer: Transfer, progress: Progress
    ) -> Iterator[Callable[[int | None], None]]:
        """Keep a transfer within its allocation, which it names.

        Within the block `progress` refuses bytes for which there is no room.  What is yielded is to
        be called when the transfer has succeeded, with the bytes of the file (None if unknown).

        Raises:
            Fault: the allocation is not there.
        """
        allocation = self._allocation_of(transfer)
        if allocation.size is None:
            yield lambda _: None
            return
        file = label(transfer.destination.with_secrets())
        use = self.use()
        reservation = use.reserve(_key(allocation), allocation.size, file)
        used: list[int | None] = []

        def grow(size: int) -> int:
            if not allocation.is_active(time.time()):
                raise Fault(FaultKind.ALLOCATION, "the allocation has ended meanwhile")
            if progress.total is None:  # in steps, not for each block
                with contextlib.suppress(Fault):
                    return use.grow(reservation, max(size + size // 4, size + _STEP))
            return use.grow(reservation, size)

        progress.room, progress.grow = 0, grow
        try:
            yield lambda size: used.append(_used(size, progress))
        finally:
            progress.room, progress.grow = None, None
            use.settle(reservation, used[0] if used else None)

    def room(self, host: str, allocation_id: str) -> int:
        """Bytes that are left of an allocation.

        Raises:
            Fault: it is not there.
        """
        own = self.ledgers().own()
        found = rules.active(own, _normal(host), allocation_id, time.time())
        if found is None:
            raise self._unknown(allocation_id, f" of {host}", own)
        return _DISK if found.size is None else self.use().left(_key(found), found.size)

    def own(self) -> list[Known]:
        """The user's allocations that are in force, the oldest first.

        Raises:
            Fault: the ledger can't be read.
        """
        now = time.time()
        found = [one for one in self.ledgers().own() if one.is_active(now)]
        return [
            Known(one, *self.use().known(_key(one))) for one in sorted(found, key=lambda a: a.made)
        ]

    def end(self, known: Known, surroundings: Surroundings, *, for_now: bool) -> None:
        """End one of `own` (see `_end`).

        Args:
            for_now: the DAGs that made it may allocate it again (`given_back`).

        Raises:
            Fault: the module has failed, or it can't be noted.
        """
        identity = known.allocation.allocation_id
        if for_now:
            self.use().give_back(_key(known.allocation), identity)
        request = Release(known.host or known.allocation.destination, identity)
        self._end(request, surroundings, Progress(threading.Event()))

    def given_back(self, transfer: Transfer) -> list[Allocate]:
        """What has to be allocated again before a transfer: it was released when the DAG was
        removed, or by its FINAL node, and its node that allocates is done.

        Raises:
            Fault: it can't be read.
        """
        identity = transfer.allocation_id
        if not self._dag or not identity or identity in self._looked:
            return []
        fields = self.use().given_back(self._dag, identity)
        if not fields:
            self._looked.add(identity)
        return [Allocate(**{**one, "arguments": tuple(one["arguments"])}) for one in fields]

    def _note_maker(self, request: Allocate) -> None:
        """Note whose the allocation is; without that it stays until it is released."""
        with contextlib.suppress(Fault):
            key = _normal(request.host), request.allocation_id
            found = rules.active(self.ledgers().own(), *key, time.time())
            if found is not None:
                self.use().note_maker(_key(found), self._dag, self._node, request)
                self.use().take_back(self._dag, request.allocation_id)

    def ledgers(self) -> Ledgers:
        """The ledgers.

        Raises:
            Fault: there is no usable directory.
        """
        with self._mutex:
            if self._ledgers is not None and not self._ledgers.directory.is_in_place():
                self._ledgers = None
                self._leave_use()
            if self._ledgers is None:
                self._ledgers = Ledgers(self._settings, self._say)
            return self._ledgers

    def use(self) -> AllocationUse:
        """What is used of the allocations.

        Raises:
            Fault: it can't be opened.
        """
        ledgers = self.ledgers()
        with self._mutex:
            if self._use is None:
                self._use = AllocationUse(ledgers.private)
            return self._use

    def _leave_use(self) -> None:
        if self._use is not None:
            self._former.append(self._use)
            self._use = None

    def _end(
        self, request: Release, surroundings: Surroundings, progress: Progress
    ) -> tuple[Allocation | None, str]:
        """End an allocation: it, or the last one that has ended before, None if there was none; and
        what has released it.

        That is the site's module, if there is one, of what a module has allocated, and of what the
        ledger does not know.  Else it is the ledger, whatever modules there are by now.
        """
        ledgers, way = self.ledgers(), LEDGER
        key = _normal(request.host), request.allocation_id
        found = rules.active(ledgers.own(), *key, time.time())
        by_module = found is None or found.size is None
        if by_module and space_module(request, self._settings.module_directories):
            way = manage_space(request, surroundings, progress)
        now = round(time.time(), 3)
        with ledgers.locked(progress):
            own = ledgers.own()
            found = rules.active(own, *key, now)
            if found is not None:
                changed = [one._replace(released=now) if one == found else one for one in own]
                ledgers.write(changed)
        if found is not None:
            self.use().forget(_key(found))
            return found, way
        ended = [one for one in own if one[:2] == key]
        return (ended[-1] if ended else None), way

    def _allocation_of(self, transfer: Transfer) -> Allocation:
        own = self.ledgers().own()
        destination = destination_of(transfer.destination)
        found = rules.for_transfer(own, transfer.allocation_id, destination, time.time())
        if found is None:
            now, identity = time.time(), transfer.allocation_id
            mine = [one for one in own if one.allocation_id == identity and one.is_active(now)]
            same = {one.destination for one in mine}
            if same:
                raise Fault(
                    FaultKind.ALLOCATION,
                    f"the allocations {transfer.allocation_id} are of {', '.join(sorted(same))},"
                    f" none of {destination}",
                )
            raise self._unknown(transfer.allocation_id, "", own)
        return found

    def _unknown(self, identity: str, where: str, own: Sequence[Allocation]) -> Fault:
        near = rules.nearest_ids(own, identity, time.time())
        return Fault(FaultKind.ALLOCATION, f"there is no allocation {identity}{where}; {near}")


class Known(NamedTuple):
    """An allocation in force."""

    allocation: Allocation
    used: int  # bytes of files that were written
    # paths of the DAG files whose nodes have allocated it; '' for what was done by hand
    dags: tuple[str, ...]
    host: str  # as the request has it; '' if that is not known
    # by name, when each of their nodes has allocated it (seconds since 1970)
    nodes: Mapping[str, float]


class _Waiter:
    """One request that allocates, or waits for room."""

    def __init__(
        self,
        space: Space,
        settings: Settings,
        say: Callable[[str], None],
        request: Allocate,
        progress: Progress,
    ) -> None:
        self._space = space
        self._capacities = settings.capacities
        self._say = say
        self._request = request
        self._progress = progress
        self._destination = _normal(request.host)
        self._since = time.time()
        self._number = os.urandom(8).hex()
        self._file: LiveFile | None = None

    def allocate(self) -> None:
        """Wait for room and take it.

        Raises:
            Fault: see `Space.allocate`.
        """
        wait = Wait(self._say)
        said = ""
        try:
            while True:
                ledgers = self._space.ledgers()
                with ledgers.locked(self._progress):
                    before, room = self._try(ledgers)
                if before < 0:
                    return
                said = said or (
                    f"{size_text(self._request.size)} of {self._destination}:"
                    f" {size_text(max(room, 0))} are free" + f"; {before} before it" * bool(before)
                )
                wait.begins(said)
                self._wait(ledgers, 1 + before / 4)
        finally:
            wait.over()
            if self._file is not None:
                self._file.remove()

    def _wait(self, ledgers: Ledgers, factor: float) -> None:
        """Until something has changed, or it is time to look for what has ended by itself."""
        until = time.monotonic() + spread(min(_LOOK_S * factor, _MAX_LOOK_S))
        known = os.fstat(ledgers.directory.fd).st_mtime_ns
        while time.monotonic() < until:
            self._progress.wait(spread(min(_GLANCE_S * factor, _LOOK_S)))
            if os.fstat(ledgers.directory.fd).st_mtime_ns != known:
                return

    def _try(self, ledgers: Ledgers) -> tuple[int, int]:
        """How many wait before it, and bytes that are free for it; -1 if it is done."""
        request, now = self._request, round(time.time(), 3)
        own = ledgers.own()
        found = rules.active(own, self._destination, request.allocation_id, now)
        if found is not None:
            if found.size not in (None, request.size):
                raise Fault(
                    FaultKind.ALLOCATION,
                    f"{request.allocation_id} of {self._destination} is allocated already, with"
                    f" {found.size} bytes, not {request.size}; release it first",
                )
            return -1, 0
        name, size = capacity_for(self._request, self._destination, self._capacities)
        before, wanted = self._before(ledgers, name, size)
        room = size - wanted - rules.taken([*own, *ledgers.others()], name, self._capacities, now)
        if room >= request.size:
            ledgers.write([*own, _made(request, request.size, now)])
            return -1, 0
        if not request.wait:
            raise Fault(
                FaultKind.NO_SPACE,
                f"{size_text(max(room, 0))} of {size_text(size)} are free at {name},"
                f" {size_text(request.size)} are wanted",
            )
        self._queue(ledgers, name)
        return before, room

    def _before(self, ledgers: Ledgers, name: str, capacity: int) -> tuple[int, int]:
        """How many wait before it for the same capacity, and their bytes."""
        mine = (-self._request.priority, int(self._since * 1000), self._number)
        count = size = 0
        for file in ledgers.names():
            found = _WAITS.fullmatch(file) if file.startswith("room.") else None
            if found is None or found[1] != label(name) or int(found[3]) > capacity:
                continue
            if (-int(found[2]), int(found[4]), found[5]) >= mine:
                continue
            if ledgers.directory.is_alive(file):
                count += 1
                size += int(found[3])
            else:
                ledgers.directory.remove_own(file)
        return count, size

    def _queue(self, ledgers: Ledgers, name: str) -> None:
        if self._file is not None and self._file.is_there():
            return
        request, since = self._request, int(self._since * 1000)
        priority = max(min(request.priority, 10**9), -(10**9))
        file = f"room.{label(name)}.{priority}.{request.size}.{since}.{self._number}"
        try:
            self._file = LiveFile(ledgers.directory, file)
        except OSError as error:
            raise Fault(
                FaultKind.ALLOCATION,
                f"can't wait for room in {ledgers.directory.path}: {error.strerror}",
                transient=True,
            ) from None


class Ledgers:
    """All ledgers of an access point, seen by one user: one file for each, which all read.

    A ledger that can't be read is nobody's free space: its own user can allocate nothing until he
    has moved it away; to others it is as if it were not there, which they are told.

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
        with _usable(self.directory.path):
            self.private = private_directory(self.directory)

    @contextlib.contextmanager
    def locked(self, progress: Progress) -> Iterator[None]:
        """Nobody else changes a ledger meanwhile.

        Raises:
            Fault: the lock can't be had, or the worker is to stop.
        """
        lock = self.directory.locked(_LOCK_S, progress.wait, self._lock_name)
        with _usable(f"{self.directory.path}/{_LOCK}"), lock:
            yield

    def own(self) -> list[Allocation]:
        """The user's own allocations.

        Raises:
            Fault: the ledger is damaged or can't be read.
        """
        name = self._own_name()
        path = f"{self.directory.path}/{name}"
        try:
            with _usable(path), contextlib.suppress(FileNotFoundError):
                return list(self._read(name))
        except DamagedLedger as error:
            raise Fault(
                FaultKind.ALLOCATION,
                f"your ledger of allocations, {path}, is damaged: {error}; what you have allocated"
                " can't be known; move the file away to begin with nothing allocated",
            ) from None
        return []

    def others(self) -> list[Allocation]:
        """Allocations of all other users whose ledgers can be read."""
        found: list[Allocation] = []
        users: set[int] = {os.geteuid()}
        for name in sorted(self.names()):
            if _LEDGERS.fullmatch(name) is None:
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
        kept = rules.without_forgotten(allocations, time.time())
        text = rules.ledger_text(kept)
        if len(kept) > rules.MAX_ROWS or len(text) > rules.MAX_LEDGER_BYTES:
            raise Fault(FaultKind.ALLOCATION, f"you have {len(kept)} allocations; release some")
        name = self._own_name()
        with _usable(f"{self.directory.path}/{name}"):
            self.directory.replace(name, text.encode())

    def names(self) -> list[str]:
        """Every name in the shared directory.

        Raises:
            Fault: it can't be read.
        """
        with _usable(self.directory.path):
            return self.directory.names()

    def _own_name(self) -> str:
        with _usable(self.directory.path):
            return self.directory.name_of_ours(f"ledger.{os.geteuid()}", ".txt")

    def _read(self, name: str) -> list[Allocation]:
        try:
            data = self.directory.read(name, rules.MAX_LEDGER_BYTES).data
        except OSError as error:
            if error.errno in (errno.ENXIO, errno.EFBIG):  # it is none
                raise DamagedLedger(error.strerror) from None
            raise
        # by contents: a new file may have the inode, size and time of the one it has replaced
        known = self._cached.get(name)
        if known is not None and known[0] == data:
            return known[1]
        try:
            found = rules.read_ledger(data.decode("ascii"))
        except UnicodeDecodeError:
            raise DamagedLedger("it has bytes that are no text") from None
        self._cached[name] = data, found
        return found

    def _lock_name(self) -> str:
        """The file that all lock; the directory, if a user has made that file one that not all can
        open.  By its mode, as root could open any: all must choose the same."""
        for _ in range(2):
            try:
                mode = self.directory.read(_LOCK, None).mode
            except FileNotFoundError:
                self.directory.make(_LOCK)
                continue
            except OSError:
                break
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


class Reservation(NamedTuple):
    """What one transfer may write: `of` and `file` as of `AllocationUse.reserve`."""

    number: int
    allocation: str
    of: int
    file: str


class AllocationUse:
    """Used and reserved bytes, in sqlite; used by several threads.

    What a transfer is about to write is reserved first, so several at once can't exceed an
    allocation.  A reservation counts while the worker lives that made it.  What is used is kept for
    each file: one that is written again takes the place of the old one, and a repeated placement
    counts once.

    Args:
        directory: of the user's alone.

    Raises:
        Fault: it can't be read or written.
    """

    def __init__(self, directory: SharedDirectory) -> None:
        self._directory = directory
        self._lock = threading.Lock()
        self._path = f"{directory.path}/{_BOOKS}"
        try:
            self._sweep()
            self._life = LiveFile(directory, f"worker.{os.urandom(8).hex()}")
        except OSError as error:
            raise _books_fault(directory.path, error) from None
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
            return Reservation(int(cursor.lastrowid or 0), allocation, of, file)

    def left(self, allocation: str, of: int) -> int:
        """Bytes that are neither used nor reserved.

        Raises:
            Fault: the books can't be read.
        """
        with self._change() as cursor:
            self._drop_dead(cursor)
            return of - _sum(cursor, allocation, "", 0)

    def note_maker(self, allocation: str, dag: str, node: str, request: Allocate) -> None:
        """A node of a DAG has allocated it, or '' by hand.

        Raises:
            Fault: the books can't be written.
        """
        with self._change() as cursor:
            row = (allocation, dag, json.dumps(request._asdict()))
            cursor.execute("INSERT OR REPLACE INTO makers VALUES (?, ?, ?)", row)
            noted = (allocation, node, time.time())
            cursor.execute("INSERT OR REPLACE INTO nodes VALUES (?, ?, ?)", noted)

    def give_back(self, allocation: str, identity: str) -> None:
        """Its makers may allocate it again; `identity`: its id.

        Raises:
            Fault: the books can't be written.
        """
        with self._change() as cursor:
            cursor.execute(
                "INSERT OR REPLACE INTO given_back"
                " SELECT dag, ?, request FROM makers WHERE allocation = ?",
                (identity, allocation),
            )

    def given_back(self, dag: str, identity: str) -> list[dict[str, Any]]:
        """The requests of what was given back.

        Raises:
            Fault: the books can't be read.
        """
        with self._change() as cursor:
            query = "SELECT request FROM given_back WHERE dag = ? AND identity = ?"
            found = cursor.execute(query, (dag, identity)).fetchall()
        return [dict(json.loads(text)) for (text,) in found]

    def take_back(self, dag: str, identity: str) -> None:
        """What was given back is allocated again, or not needed any more.

        Raises:
            Fault: the books can't be written.
        """
        with self._change() as cursor:
            of = dag, identity
            cursor.execute("DELETE FROM given_back WHERE dag = ? AND identity = ?", of)

    def known(self, allocation: str) -> tuple[int, tuple[str, ...], str, Mapping[str, float]]:
        """Bytes that are used, who has allocated it, its host as they call it, and their nodes.

        Raises:
            Fault: the books can't be read.
        """
        with self._change() as cursor:
            used = cursor.execute(
                "SELECT total(bytes) FROM used WHERE allocation = ?", (allocation,)
            ).fetchone()[0]
            makers = cursor.execute(
                "SELECT dag, request FROM makers WHERE allocation = ? ORDER BY dag", (allocation,)
            ).fetchall()
            query = "SELECT node, noted FROM nodes WHERE allocation = ?"
            nodes = dict(cursor.execute(query, (allocation,)).fetchall())
        host = str(json.loads(makers[0][1])["host"]) if makers else ""
        return int(used), tuple(str(dag) for dag, _ in makers), host, nodes

    def forget(self, allocation: str) -> None:
        """The allocation is no more.

        Raises:
            Fault: the books can't be written.
        """
        with self._change() as cursor:
            for table in ("used", "reserved", "makers", "nodes"):
                cursor.execute(f"DELETE FROM {table} WHERE allocation = ?", (allocation,))  # noqa: S608

    def grow(self, reservation: Reservation, size: int) -> int:
        """Reserve `size` bytes or a bit more; returns what is reserved.

        Raises:
            Fault: there is no room for so much, or the allocation is no more.
        """
        number, allocation, of, file = reservation
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
        number, allocation, _, file = reservation
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
                there = os.stat(_BOOKS, dir_fd=self._directory.fd, follow_symlinks=False)
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
            raise _books_fault(self._path, error) from None
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
                raise _books_fault(self._path, error) from None


def _made(request: Allocate, size: int | None, now: float) -> Allocation:
    """What is allocated now."""
    ends = now + min(request.duration_s, _MAX_DURATION_S) if request.duration_s else 0
    identity = _checked("allocation_id", request.allocation_id)
    return Allocation(_normal(request.host), identity, size, now, ends)


def _normal(host: str) -> str:
    try:
        found = normal_destination(host)
    except ValueError as error:
        raise Fault(FaultKind.REQUEST, f"dest_host: {error}") from None
    return _checked("dest_host", found)


def _checked(name: str, value: str) -> str:
    """A text that a ledger can hold."""
    try:
        length = len(value.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        raise Fault(FaultKind.REQUEST, f"{name} has characters that are no text") from None
    if not 0 < length <= _MAX_TEXT_BYTES:
        raise Fault(FaultKind.REQUEST, f"{name} is {'too long' if length else 'empty'}")
    return value


def _key(allocation: Allocation) -> str:
    """That tells it from an earlier one of the same name."""
    parts = (allocation.destination, allocation.allocation_id, f"{allocation.made:.3f}")
    return "\n".join(parts).encode("utf-8", "backslashreplace").decode()


def _used(size: int | None, progress: Progress) -> int | None:
    """Bytes of a file that has been written; None if it was there already and nobody knows."""
    if size is not None:
        return size
    return progress.total or (progress.offset + progress.moved) or None


@contextlib.contextmanager
def _usable(path: str) -> Iterator[None]:
    """Turn the OSError of a `with` block into a `Fault`."""
    try:
        yield
    except OSError as error:
        kind = FaultKind.NO_SPACE if error.errno in FULL else FaultKind.ALLOCATION
        raise Fault(kind, failure(path, error), transient=True) from None


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


def _books_fault(path: str, error: Exception) -> Fault:
    reason = getattr(error, "strerror", None) or str(error)
    damaged = "malformed" in reason or "not a database" in reason
    advice = "; move it away: what is used of your allocations is then not known" * damaged
    kind = FaultKind.NO_SPACE if "disk is full" in reason else FaultKind.ALLOCATION
    return Fault(kind, f"{path}: {reason}{advice}", transient=not damaged)
