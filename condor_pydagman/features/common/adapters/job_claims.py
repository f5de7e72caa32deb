"""What the DAGMans of an access point claim: a file for each of them, in a shared directory.

Who decides by what all claim does so under the lock of the directory, so no limit is exceeded.  A
file counts while its DAGMan lives, which a LiveFile proves, or the DAGMan job is in the queue,
whether or not DAGMan runs: a restart forgets nothing.

Those who wait are woken by those who give something up, so that nobody looks again and again.
Addresses are in the abstract name space of sockets: nothing is left to be removed, and one at which
nobody hears any more is known to be so.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import select
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from condor_pydagman.adapters.shared_directory import (
    OTHER_NAME,
    Contents,
    SharedDirectory,
    failure,
    label,
)
from condor_pydagman.errors import FileError
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.timers import CLAIMS_LOCK_TIMEOUT_S, CLAIMS_UNFINISHED_S

BY_HAND = "processes"  # stands for a queue, if a DAGMan has no job: its number is its process's
# Claims that can't be read because of these must not count as none; other reasons, as a lease on a
# file, are its owner's doing.
_FAULTS = frozenset((errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ESTALE))
_UNFINISHED = ".new"  # the end of a name, see `SharedDirectory.replace`
MAX_KNOWN, MAX_KNOWN_BYTES = 2000, 64_000  # files whose contents are remembered, and of each


class FileKind(NamedTuple):
    """What is claimed."""

    prefix: str  # of the names of the files
    parse: Callable[[bytes], Any]  # what the contents of a file say; None if they are none of ours
    max_bytes: int  # of a file; more is none of ours
    max_bytes_of_user: int  # of all files of a user; to read more would hold up everybody
    check_s: float  # seconds for which what the queue has is taken as known
    forget_s: float = 0.0  # after which a job of another queue is taken to be over; 0: never
    # what the queue has is to be known anew if the file says something else
    by_contents: bool = False


class Claim(NamedTuple):
    """A file that counts."""

    name: str  # of the file
    user: int  # number of the user whose it is
    cluster: int  # of the DAGMan job
    lives: bool  # whether the DAGMan does
    says: Any  # what `FileKind.parse` made of it
    queued: Any  # what the queue has of a job whose DAGMan does not live; None if that is not known


class _File(NamedTuple):
    """A file of the user in its name."""

    name: str
    queue: str
    cluster: int
    now: Contents


class JobClaims:
    """All files of a kind, seen by one DAGMan, or by nobody's.

    Args:
        directory: closed with the object.
        kind: of the files.
        queue: what tells the queue of the DAGMan job from others; BY_HAND if there is none.
        ask: what the queue has of these DAGMan jobs, but for those that it has not; PoolError if
            that is not known.
    """

    def __init__(
        self,
        directory: SharedDirectory,
        kind: FileKind,
        queue: str,
        ask: Callable[[list[int]], Mapping[int, Any]],
    ) -> None:
        self.directory = directory
        self.kind = kind
        number = r"(\d{1,10})"
        form = rf"{kind.prefix}\.{number}\.([0-9a-f]{{16}})\.{number}{OTHER_NAME}"
        self._form = re.compile(form, re.ASCII)
        self._queue, self._by_hand = label(queue), label(BY_HAND)
        self._ask = ask
        self._parsed: dict[str, tuple[bytes, Any]] = {}
        self._known: dict[str, tuple[float, bytes, Any]] = {}  # until when, of what, what it has
        self._doubtful: list[tuple[_File, bytes]] = []  # with what the queue's answer is bound to

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Within, nobody else decides.

        Raises:
            FileError: others did not finish in time, or the directory can't be used.
        """
        try:
            with self.directory.locked(CLAIMS_LOCK_TIMEOUT_S):
                yield
        except OSError as error:
            raise FileError(failure(self.directory.path, error), transient=True) from None

    def counting(self, without: str = "") -> list[Claim]:
        """The files that count, by what the queue is known to have.

        Args:
            without: name of a file that is left out.

        Raises:
            FileError: the directory or a file can't be read, for a reason that is not its owner's.
        """
        self._doubtful = []
        found = [self._claim(one) for one in self._files(without)]
        return [one for one in found if one is not None]

    def look_at_queue(self) -> bool:
        """Ask for the jobs of DAGMans of which it was not known what counts; False if there was
        none.  This may take long.

        Raises:
            PoolError: as `ask`.
        """
        asked = self._doubtful
        if not asked:
            return False
        found = self._ask(sorted(one.cluster for one, _ in asked))
        until = time.monotonic() + self.kind.check_s
        for one, bound in asked:
            self._known[one.name] = until, bound, found.get(one.cluster)
        return True

    def counting_now(self, without: str = "") -> list[Claim]:
        """The files that count, by what the queue has now.

        Raises:
            FileError: as of `counting`.
            PoolError: as `ask`.
        """
        found = self.counting(without)
        return self.counting(without) if self.look_at_queue() else found

    def read(self, name: str) -> Any:
        """What a file says; None if it is not of the user in its name, or none of ours.

        Raises:
            FileError: it can't be read, for a reason that is not its owner's doing.
        """
        found = self._file(name)
        return self._says(found) if found is not None else None

    def close(self) -> None:
        """Close the directory; the claims stay."""
        self.directory.close()

    def _files(self, without: str) -> Iterator[_File]:
        """All files of the users in their names whose jobs are not known to be over."""
        try:
            names = self.directory.names()
        except OSError as error:
            raise FileError(failure(self.directory.path, error), transient=True) from None
        there = {name for name in names if name.startswith(f"{self.kind.prefix}.")}
        self._remove_unfinished(name for name in there if name.endswith(_UNFINISHED))
        for known in (self._known, self._parsed):
            for gone in known.keys() - there:
                del known[gone]
        bytes_of: Counter[int] = Counter()  # by user
        for name in sorted(there - {without}):
            found = self._file(name)
            if found is None:
                continue
            if self._is_over(found):
                self.directory.remove(name)
                continue
            bytes_of[found.now.user] += len(found.now.data)
            if bytes_of[found.now.user] > self.kind.max_bytes_of_user:
                most = f"{self.kind.max_bytes_of_user:,} bytes"
                files = f"{self.kind.prefix} files of user {found.now.user}"
                raise FileError(f"{self.directory.path}: {files} have more than {most}")
            yield found

    def _remove_unfinished(self, names: Iterable[str]) -> None:
        """Remove what processes of this user were killed while they wrote it."""
        for name in names:
            with contextlib.suppress(OSError):
                now = self.directory.read(name, None)
                if now.user == os.geteuid() and time.time() - now.changed > CLAIMS_UNFINISHED_S:
                    self.directory.remove(name)

    def _file(self, name: str) -> _File | None:
        parts = self._form.fullmatch(name)
        if parts is None:
            return None
        try:
            now = self.directory.read(name, self.kind.max_bytes)
        except OSError as error:
            if error.errno in _FAULTS:
                raise FileError(failure(f"{self.directory.path}/{name}", error)) from None
            return None
        return _File(name, parts[2], int(parts[3]), now) if now.user == int(parts[1]) else None

    def _is_over(self, one: _File) -> bool:
        """Whether the job of a DAGMan that does not live is known to have ended."""
        if one.now.lives:
            return False
        if one.queue == self._by_hand:
            return not os.path.exists(f"/proc/{one.cluster}")
        if one.queue != self._queue:
            return 0 < self.kind.forget_s <= time.time() - one.now.changed
        return one.name in self._known and self._known[one.name][2] is None

    def _claim(self, one: _File) -> Claim | None:
        queued = None
        if not one.now.lives and one.queue == self._queue != self._by_hand:
            bound = one.now.data if self.kind.by_contents else b""
            until, of, queued = self._known.get(one.name, (0.0, b"", None))
            if of != bound:
                until, queued = 0.0, None
            if time.monotonic() >= until:
                self._doubtful.append((one, bound))
        says = self._says(one)
        if says is None:
            return None
        return Claim(one.name, one.now.user, one.cluster, one.now.lives, says, queued)

    def _says(self, one: _File) -> Any:
        known = self._parsed.get(one.name)
        if known is None or known[0] != one.now.data:
            known = one.now.data, self.kind.parse(one.now.data)
            if len(one.now.data) <= MAX_KNOWN_BYTES and len(self._parsed) < MAX_KNOWN:
                self._parsed[one.name] = known
        return known[1]


def usual_name(kind: FileKind, queue: str, cluster: int) -> str:
    """Usual name of the file of a DAGMan of this user."""
    return f"{kind.prefix}.{os.geteuid()}.{label(queue)}.{cluster}"


_MAX_ADDRESS = 32  # characters that count: others may have written them


class Line(NamedTuple):
    """What is waited for; `name` tells its addresses from those of others."""

    name: str

    def wake(self, addresses: Iterable[str]) -> None:
        """Wake those who wait at these addresses."""
        with _socket() as out:
            for one in addresses:
                with contextlib.suppress(OSError):  # nobody is there, or it has been told already
                    out.sendto(b"", self._path(one))

    def is_heard(self, address: str) -> bool:
        """Whether there is somebody who could be woken."""
        try:
            with _socket() as out:
                out.connect(self._path(address))
                return True
        except OSError:
            return False

    def _path(self, address: str) -> bytes:
        return f"\0condor_pydagman-{self.name}-{address[:_MAX_ADDRESS]}".encode("ascii", "replace")


class Waker:
    """Is woken by others."""

    def __init__(self, line: Line) -> None:
        self.address = os.urandom(8).hex()  # where; nobody can foresee it
        self._socket = _socket()
        self._socket.bind(line._path(self.address))

    def begin(self, epoll: select.epoll) -> None:
        """Have it become readable when somebody wakes us."""
        epoll.register(self._socket.fileno(), select.EPOLLIN)

    def was_woken(self) -> bool:
        """Whether somebody has, since the last call."""
        heard = False
        with contextlib.suppress(OSError):
            for _ in range(100):
                self._socket.recv(1)
                heard = True
        return heard

    def end(self, epoll: select.epoll) -> None:
        """Hear nobody any more."""
        if self._socket.fileno() >= 0:
            epoll.unregister(self._socket.fileno())
            self.close()

    def close(self) -> None:
        """As `end`, if nothing has begun."""
        self._socket.close()


def _socket() -> socket.socket:
    return socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
