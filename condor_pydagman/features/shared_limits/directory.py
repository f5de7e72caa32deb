"""Rounds in the shared directory: read what all say, decide, write the own file, wake others.

All of it is done under a lock on the directory itself, so limits are exact.  What a DAGMan has
taken counts while it lives; of one that does not, as many places count as its DAG has jobs in the
queue: places that it had not used, or whose jobs have ended since, are free at once, and a restart
forgets nothing, as the nodes log tells how many there are.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import signal
import socket
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from condor_pydagman.adapters.shared_directory import (
    OTHER_NAME,
    Crowded,
    SharedDirectory,
    Usual,
    label,
    open_this,
)
from condor_pydagman.errors import FileError, PoolError
from condor_pydagman.features.shared_limits import stakes as text
from condor_pydagman.features.shared_limits.definitions import Kind, Limit
from condor_pydagman.features.shared_limits.own_file import is_alive, open_to_read, overwrite
from condor_pydagman.features.shared_limits.rounds import Demand, Outcome, decide
from condor_pydagman.features.shared_limits.stakes import Part, Stake, Stakes
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import printable

DEFAULT = "/var/tmp/condor_pydagman-limits"  # noqa: S108 - checked, and never trusted
KNOB = "PYDAGMAN_LIMITS_DIR"
LOCK_TIMEOUT_S = 20.0  # for others to make their rounds
CHECK_S = 10.0  # seconds for which the jobs of a DAGMan that does not live are taken as known
FORGET_S = 600.0  # after which one of another queue is taken to be over
LIVES_S = 1.0  # seconds for which a DAGMan that lived is taken to live
_LOOKS, _LOOK_PAUSE_S = 20, 0.05  # at the lock; a round takes milliseconds
MAX_KEPT_OPEN = 400
MAX_READ = 2000  # files whose contents are remembered
_PREFIX = "limits."
_NAME = re.compile(r"limits\.(\d{1,10})\.([0-9a-f]{16})\.(\d{1,10})" + OTHER_NAME, re.ASCII)


class Queued(NamedTuple):
    """A DAGMan job in the queue, and what its DAG has there.

    Attributes:
        held: whether the DAGMan job is on hold.
        nodes: how many nodes have jobs.
        idle: idle procs of them, those on hold included.
    """

    held: bool
    nodes: int
    idle: int


Ask = Callable[[list[int]], Mapping[int, Queued]]


class Entry(NamedTuple):
    """A file that counts.

    Attributes:
        name: of the file.
        user: number of the user whose it is.
        cluster: of the DAGMan job.
        lives: whether the DAGMan does.
        stakes: what counts of it.
    """

    name: str
    user: int
    cluster: int
    lives: bool
    stakes: Stakes


class _Look(NamedTuple):
    """What is known of a file but for its contents, until `until` (monotonic seconds)."""

    user: int
    schedd: str
    cluster: int
    lives: bool
    fd: int
    number: int
    length: int
    until: float


class _File(NamedTuple):
    """A file as it is now."""

    name: str
    user: int
    schedd: str
    cluster: int
    lives: bool
    changed: float
    data: bytes
    stakes: Stakes


class LimitsDirectory:
    """The directory, seen by one DAGMan, or by nobody's.

    Args:
        directory: it.
        schedd: what tells the queue of the DAGMan job from others.
        name: of the own file; '' if there is none.
        ask: which of these DAGMan jobs are in the queue; PoolError if that is not known.

    Attributes:
        own_name: name of the own file, as `OwnFile.keep` has it.
    """

    def __init__(self, directory: SharedDirectory, schedd: str, name: str, ask: Ask) -> None:
        self.directory = directory
        self._schedd = label(schedd)
        self.own_name = name
        self._ask = ask
        self._looks: dict[str, _Look] = {}
        self._read: dict[str, tuple[bytes, Stakes | None]] = {}
        self._known: dict[str, tuple[float, bytes, Queued | None]] = {}
        self._doubtful: list[_File] = []  # files whose DAGMan does not live, to be asked about

    def round(
        self,
        own: Stakes,
        limits: Mapping[str, Limit],
        demands: Sequence[Demand],
    ) -> Outcome:
        """Make a round: what is written into the own file when this returns is taken.

        Args:
            own: the DAG file, and where this DAGMan is woken.
            limits: by key.
            demands: by class of nodes.

        Raises:
            FileError: that can't be done; nothing has changed.
        """
        outcome = self._decided(own, limits, demands)
        if self._doubtful:  # not asked about under the lock: it may take long
            self._look_at_queue()
            outcome = self._decided(own, limits, demands)
        return outcome

    def _decided(
        self, own: Stakes, limits: Mapping[str, Limit], demands: Sequence[Demand]
    ) -> Outcome:
        with self._locked():
            mine = self._file(self.own_name)
            before = mine.stakes._replace(dag=own.dag, address=own.address) if mine else own
            others = [one.stakes for one in self._of_others(limits)]
            outcome = decide(before, others, limits, demands, time.time())
            if mine is None or outcome.stakes != mine.stakes:
                overwrite(self.directory, self.own_name, text.text_of(outcome.stakes))
        wake(outcome.woken)
        return outcome

    def is_locked(self) -> bool:
        """Whether somebody has held the lock for longer than rounds take."""
        fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self.directory.fd)
        try:
            for _ in range(_LOOKS):
                with contextlib.suppress(BlockingIOError):
                    fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
                    return False
                time.sleep(_LOOK_PAUSE_S)
        finally:
            os.close(fd)
        return True

    def everything(self) -> list[Entry]:
        """All that counts, for people.

        Raises:
            FileError: the directory can't be read.
        """
        found = list(self._entries())
        if self._doubtful:
            self._look_at_queue()
            found = list(self._entries())
        return found

    def _of_others(self, limits: Mapping[str, Limit]) -> Iterator[Entry]:
        """Those that count for the limits of this user."""
        user = os.geteuid()
        own = {key for key, limit in limits.items() if limit.own}
        for one in self._entries():
            if one.name == self.own_name:
                continue
            if own and one.user != user:
                parts = {key: part for key, part in one.stakes.parts.items() if key not in own}
                one = one._replace(stakes=one.stakes._replace(parts=parts))
            yield one

    def _entries(self) -> Iterator[Entry]:
        self._doubtful = []
        for one in self._files():
            stakes = one.stakes if one.lives else self._of_dead(one)
            if stakes is not None:
                named = stakes._replace(name=one.name)
                yield Entry(one.name, one.user, one.cluster, one.lives, named)

    def _of_dead(self, one: _File) -> Stakes | None:
        """What counts of a DAGMan that does not live; None: nothing."""
        if one.schedd != self._schedd:
            return one.stakes if time.time() - one.changed < FORGET_S else None
        when, data, queued = self._known.get(one.name, (0.0, b"", None))
        if data != one.data or time.monotonic() - when >= CHECK_S:
            self._doubtful.append(one)
        if data != one.data:
            return one.stakes  # it is not known yet what it has in the queue
        if queued is None:
            self._forget(one)
            return None
        parts = {key: _left(part, queued) for key, part in one.stakes.parts.items()}
        return one.stakes._replace(parts=parts)

    def _forget(self, one: _File) -> None:
        """Its job has left the queue."""
        self._close(one.name)
        self.directory.remove(one.name)

    def _look_at_queue(self) -> None:
        """Ask for the jobs of DAGMans that do not live."""
        asked, self._doubtful = self._doubtful, []
        try:
            found = self._ask([one.cluster for one in asked])
        except PoolError:
            return  # all that they have taken counts until that is known
        now = time.monotonic()
        for one in asked:
            self._known[one.name] = now, one.data, found.get(one.cluster)

    def _files(self) -> list[_File]:
        """
        Raises:
            FileError: the directory can't be read.
        """
        try:
            entries = self.directory.entries()
        except (OSError, Crowded) as error:
            raise FileError(f"{self.directory.path}: {error}") from None
        there = {name: number for name, number in entries if name.startswith(_PREFIX)}
        for gone in self._looks.keys() - there.keys():
            self._close(gone)
        found = (self._file(name, there[name]) for name in sorted(there))
        return [one for one in found if one is not None]

    def _file(self, name: str, number: int = 0) -> _File | None:
        """A file as it is now; None if it is not of the user in its name, or none of ours.

        `number` tells it from one that was there before, 0 if that is not known.
        """
        look = self._looks.get(name)
        try:
            now = time.monotonic()
            if look is None or number != look.number:
                look = self._look(name)
            elif now >= look.until:
                lives = is_alive(look.fd)
                look = look._replace(lives=lives, until=now + LIVES_S)
                self._looks[name] = look
            if look is None:
                return None
            data = os.pread(look.fd, look.length + 1, 0)
            if len(data) > look.length:  # it has grown
                look = self._look(name)
                data = os.pread(look.fd, look.length, 0) if look is not None else b""
        except OSError:
            return None
        finally:
            if len(self._looks) > MAX_KEPT_OPEN:
                self._close(name)
        stakes = self._parsed(name, data)
        if look is None or stakes is None:
            return None
        changed = 0.0 if look.lives else os.fstat(look.fd).st_mtime
        known = look.user, look.schedd, look.cluster, look.lives, changed
        return _File(name, *known, data, stakes)

    def _look(self, name: str) -> _Look | None:
        """Open a file and find out whose it is; what comes of it holds for a second."""
        self._close(name)
        parts = _NAME.fullmatch(name)
        if parts is None:
            return None
        fd = open_to_read(self.directory, name)
        there = os.fstat(fd)
        is_ours = there.st_uid == int(parts[1]) and stat.S_ISREG(there.st_mode)
        if not is_ours or there.st_size > text.MAX_BYTES:
            os.close(fd)
            return None
        self._looks[name] = look = _Look(
            there.st_uid,
            parts[2],
            int(parts[3]),
            is_alive(fd),
            fd,
            there.st_ino,
            there.st_size,
            time.monotonic() + LIVES_S,
        )
        return look

    def _parsed(self, name: str, data: bytes) -> Stakes | None:
        known = self._read.get(name)
        if known is None or known[0] != data:
            known = data, text.parse(data)
            self._read[name] = known
        return known[1]

    def _close(self, name: str) -> None:
        look = self._looks.pop(name, None)
        if look is not None:
            os.close(look.fd)
        if name not in self._looks and len(self._read) > MAX_READ:
            self._read.clear()

    def close(self) -> None:
        """Close it and all its files."""
        for name in list(self._looks):
            self._close(name)
        self.directory.close()

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Within, nobody else decides.

        Raises:
            FileError: others did not finish in time.
        """
        fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self.directory.fd)
        try:
            self._lock(fd)
            yield
        finally:
            os.close(fd)

    def _lock(self, fd: int) -> None:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        before = signal.signal(signal.SIGALRM, _late)  # this process is there for that alone
        signal.setitimer(signal.ITIMER_REAL, LOCK_TIMEOUT_S)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
        except TimeoutError:
            raise FileError(
                f"{self.directory.path} has been locked by another process for"
                f" {LOCK_TIMEOUT_S:.0f} s",
                transient=True,
            ) from None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


def _late(number: int, frame: object) -> None:
    raise TimeoutError


def _left(part: Part, queued: Queued) -> Part:
    """What counts of a DAGMan that does not live, but whose job is in the queue.

    Its scripts may run still if it is about to be started again; on hold it has ended them.
    """
    most = {Kind.JOBS: queued.nodes, Kind.IDLE: queued.idle}
    scripts = 0 if queued.held else 10**9
    places = {}
    for kind, stake in part.places.items():
        held = min(stake.held, most.get(kind, scripts))
        places[kind] = Stake(held, held, held, 0.0, held)
    return Part(places, part.starts)


def open_directory(path: str, say: Callable[[str], None]) -> SharedDirectory:
    """The one directory: in another one what other users have taken would not be seen.

    Args:
        path: PYDAGMAN_LIMITS_DIR; '' for the default.
        say: is told what is unusual.

    Raises:
        FileError: it can't be used.
    """
    try:
        return open_this(path, say, Usual(DEFAULT, KNOB))
    except OSError as error:
        reason = printable(error.strerror or str(error))
    raise FileError(f"the directory of shared limits, {path or DEFAULT}: {reason}", transient=True)


def wake(addresses: Sequence[str]) -> None:
    """Have others make a round."""
    if not addresses:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as out:
        for one in addresses:
            with contextlib.suppress(OSError):  # nobody is there, or it has been told already
                out.sendto(b"", socket_address(one))


def socket_address(address: str) -> str:
    """In the abstract name space: nothing to be removed."""
    return f"\0condor_pydagman-limits-{address[:32]}"
