"""What the DAGMans of an access point claim: a file for each of them, in a shared directory.

Who decides by what all claim does so under the lock of the directory, so no limit is exceeded.  A
file counts while its DAGMan lives, which a LiveFile proves, or the DAGMan job is in the queue,
whether or not DAGMan runs: a restart forgets nothing.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from condor_pydagman.adapters.shared_directory import (
    OTHER_NAME,
    SharedDirectory,
    failure,
    is_locked,
    label,
)
from condor_pydagman.errors import FileError
from condor_pydagman.named_tuple import NamedTuple

BY_HAND = "processes"  # stands for a queue, if a DAGMan has no job: its number is its process's
LOCK_TIMEOUT_S = 20.0  # for others to decide
LIVES_S = 1.0  # seconds for which a DAGMan that lived is taken to live
# Claims that can't be read because of these must not count as none; other reasons, as a lease on a
# file, are its owner's doing.
_FAULTS = frozenset((errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ESTALE))
MAX_KEPT_OPEN = 400
MAX_KNOWN, MAX_KNOWN_BYTES = 2000, 64_000  # files whose contents are remembered, and of each


class FileKind(NamedTuple):
    """What is claimed.

    Attributes:
        prefix: of the names of the files.
        parse: what the contents of a file say; None if they are none of ours.
        max_bytes: of a file; more is none of ours.
        max_bytes_of_user: of all files of a user; to read more would hold up everybody.
        check_s: seconds for which what the queue has is taken as known.
        forget_s: after which a job of another queue is taken to be over; 0: never.
        by_contents: what the queue has is to be known anew if the file says something else.
    """

    prefix: str
    parse: Callable[[bytes], Any]
    max_bytes: int
    max_bytes_of_user: int
    check_s: float
    forget_s: float = 0.0
    by_contents: bool = False


class Claim(NamedTuple):
    """A file that counts.

    Attributes:
        name: of the file.
        user: number of the user whose it is.
        cluster: of the DAGMan job.
        lives: whether the DAGMan does.
        says: what `FileKind.parse` made of it.
        queued: what the queue has of a job whose DAGMan does not live; None if that is not known.
    """

    name: str
    user: int
    cluster: int
    lives: bool
    says: Any
    queued: Any


class _Look(NamedTuple):
    """What is known of an open file but for its contents, until `until` (monotonic seconds)."""

    name: str
    user: int
    queue: str
    cluster: int
    lives: bool
    fd: int
    number: int
    length: int
    until: float


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
        self._looks: dict[str, _Look] = {}
        self._read: dict[str, tuple[bytes, Any]] = {}
        self._known: dict[str, tuple[float, bytes, Any]] = {}  # until when, of what, what it has
        self._doubtful: list[tuple[_Look, bytes]] = []  # with what the queue's answer is bound to

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Within, nobody else decides.

        Raises:
            FileError: others did not finish in time, or the directory can't be used.
        """
        try:
            with self.directory.locked(LOCK_TIMEOUT_S):
                yield
        except OSError as error:
            raise FileError(failure(self.directory.path, error), transient=True) from None

    def counting(self, without: str = "") -> tuple[list[Claim], bool]:
        """The files that count, and whether `look_at_queue` could find that some do not.

        Args:
            without: name of a file that is left out.

        Raises:
            FileError: the directory or a file can't be read, for a reason that is not its owner's.
        """
        self._doubtful = []
        found = [self._claim(look, data) for look, data in self._files(without)]
        return [one for one in found if one is not None], bool(self._doubtful)

    def everything(self, without: str = "") -> list[Claim]:
        """The files that count, by what the queue has now.

        Raises:
            FileError: as of `counting`.
            PoolError: as `ask`.
        """
        found, is_doubtful = self.counting(without)
        if is_doubtful:
            self.look_at_queue()
            found, _ = self.counting(without)
        return found

    def look_at_queue(self) -> None:
        """Ask for the jobs of DAGMans that do not live; this may take long.

        Raises:
            PoolError: as `ask`.
        """
        asked = self._doubtful
        found = self._ask(sorted(look.cluster for look, _ in asked))
        until = time.monotonic() + self.kind.check_s
        for look, data in asked:
            self._known[look.name] = until, data, found.get(look.cluster)

    def read(self, name: str) -> Any:
        """What a file says; None if it is not of the user in its name, or none of ours.

        Raises:
            FileError: it can't be read, for a reason that is not its owner's doing.
        """
        read = self._contents(name, 0, Counter())
        return self._parsed(*read) if read is not None else None

    def close(self) -> None:
        """Close it and all its files; what they claim stays."""
        for name in list(self._looks):
            self._close(name)
        self.directory.close()

    def _files(self, without: str) -> Iterator[tuple[_Look, bytes]]:
        """All files of the users in their names whose jobs are not known to be over."""
        try:
            entries = self.directory.entries()
        except OSError as error:
            raise FileError(failure(self.directory.path, error), transient=True) from None
        there = dict(one for one in entries if one[0].startswith(f"{self.kind.prefix}."))
        for gone in self._looks.keys() - there.keys():
            self._close(gone)
        for gone in self._known.keys() - there.keys():
            del self._known[gone]
        bytes_of: Counter[int] = Counter()  # by user
        for name in sorted(there.keys() - {without}):
            read = self._contents(name, there[name], bytes_of)
            if read is not None:
                yield read

    def _too_much(self, user: int) -> str:
        most = f"{self.kind.max_bytes_of_user:,} bytes"
        files = f"{self.kind.prefix} files of user {user}"
        return f"{self.directory.path}: {files} have more than {most}"

    def _is_over(self, look: _Look) -> bool:
        """Whether the job of a DAGMan is known to have ended; then the file is removed."""
        if look.lives:
            return False
        if look.queue == self._by_hand:
            is_over = not os.path.exists(f"/proc/{look.cluster}")
        elif look.queue == self._queue:
            is_over = look.name in self._known and self._known[look.name][2] is None
        else:
            age_s = time.time() - os.fstat(look.fd).st_mtime
            is_over = 0 < self.kind.forget_s <= age_s
        if is_over:
            self._close(look.name)
            self.directory.remove(look.name)
        return is_over

    def _claim(self, look: _Look, data: bytes) -> Claim | None:
        queued = None
        if not look.lives and look.queue == self._queue != self._by_hand:
            bound = data if self.kind.by_contents else b""
            until, of, queued = self._known.get(look.name, (0.0, b"", None))
            if of != bound:
                until, queued = 0.0, None
            if time.monotonic() >= until:
                self._doubtful.append((look, bound))
        says = self._parsed(look, data)
        if says is None:
            return None
        return Claim(look.name, look.user, look.cluster, look.lives, says, queued)

    def _contents(
        self, name: str, number: int, bytes_of: Counter[int]
    ) -> tuple[_Look, bytes] | None:
        """A file that counts, as far as is known, and its contents.

        Args:
            number: tells it from one that was there before; 0 if that is not known.
            bytes_of: what users have had before; the file is added.
        """
        try:
            look = self._looked(name, number)
            if look is None or (number and self._is_over(look)):
                return None
            bytes_of[look.user] += look.length
            if bytes_of[look.user] > self.kind.max_bytes_of_user:
                raise FileError(self._too_much(look.user))
            return look, self._data(look)
        except OSError as error:
            if error.errno in _FAULTS:
                raise FileError(failure(f"{self.directory.path}/{name}", error)) from None
            return None
        finally:
            if len(self._looks) > MAX_KEPT_OPEN:
                self._close(name)

    def _looked(self, name: str, number: int) -> _Look | None:
        """Open a file, if it is not open, and see whose it is and whether its DAGMan lives."""
        look, now = self._looks.get(name), time.monotonic()
        if look is None or number != look.number:
            look = self._opened(name)
        elif not look.lives or now >= look.until:  # its DAGMan may just have locked it
            look = look._replace(lives=is_locked(look.fd), until=now + LIVES_S)
            self._looks[name] = look
        return look

    def _opened(self, name: str) -> _Look | None:
        self._close(name)
        parts = self._form.fullmatch(name)
        if parts is None:
            return None
        fd = self.directory.open_to_read(name)
        there = os.fstat(fd)
        if there.st_uid != int(parts[1]) or there.st_size > self.kind.max_bytes:
            os.close(fd)
            return None
        look = _Look(
            name,
            there.st_uid,
            parts[2],
            int(parts[3]),
            is_locked(fd),
            fd,
            there.st_ino,
            there.st_size,
            time.monotonic() + LIVES_S,
        )
        self._looks[name] = look
        return look

    def _data(self, look: _Look) -> bytes:
        data = os.pread(look.fd, look.length + 1, 0)
        if len(data) <= look.length:
            return data
        grown = self._opened(look.name)
        return os.pread(grown.fd, grown.length, 0) if grown is not None else b""

    def _parsed(self, look: _Look, data: bytes) -> Any:
        known = self._read.get(look.name)
        if known is not None and known[0] == data:
            return known[1]
        says = self.kind.parse(data)
        if len(self._read) > MAX_KNOWN:
            self._read.clear()
        if len(data) <= MAX_KNOWN_BYTES:
            self._read[look.name] = data, says
        return says

    def _close(self, name: str) -> None:
        look = self._looks.pop(name, None)
        if look is not None:
            os.close(look.fd)


def usual_name(kind: FileKind, queue: str, cluster: int) -> str:
    """Usual name of the file of a DAGMan of this user."""
    return f"{kind.prefix}.{os.geteuid()}.{label(queue)}.{cluster}"
