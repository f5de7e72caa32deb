"""The claims of all DAGMans of the access point: a file for each, in a directory that they share.

A decision, which reads all files and writes one's own, is made under a lock of the directory, so
two DAGMans never give the last place of a site away.  A file counts while the job of its DAGMan is
in the queue, whether or not DAGMan runs: a restart forgets nothing.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import stat
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from condor_pydagman.adapters.shared_directory import (
    OTHER_NAME,
    SharedDirectory,
    Usual,
    label,
    open_this,
)
from condor_pydagman.errors import FileError
from condor_pydagman.features.sites import claims
from condor_pydagman.features.sites.claims import Claims
from condor_pydagman.printable import printable

DEFAULT = "/var/tmp/condor_pydagman-sites"  # noqa: S108 - checked, and never trusted
KNOB = "PYDAGMAN_SITES_DIR"
BY_HAND = "processes"  # stands for a schedd, if a DAGMan has no job: its number is its process's
LOCK_TIMEOUT_S = 20.0  # for others to decide
_LOCK_PAUSE_S = 0.02
CHECK_S = 60.0  # seconds for which a DAGMan job that was in the queue is taken to be there
MAX_BYTES_OF_USER = 20_000_000  # of all files of a user; to read more would hold up everybody
_NAME = re.compile(r"claims\.(\d{1,10})\.([0-9a-f]{16})\.(\d{1,10})" + OTHER_NAME)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# Claims that can't be read because of these must not count as none.
_FAULTS = frozenset((errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ESTALE))
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class ClaimsDirectory:
    """The directory, seen by one DAGMan.

    Args:
        path: where it is; '' for the default.
        schedd: name of the schedd whose queue has the DAGMan job; BY_HAND if there is none.
        cluster: of that job; the number of the process if there is none.
        in_queue: which of these clusters are in the queue; PoolError if that is not known.
        say: is told what is unusual.

    Raises:
        FileError: it can't be used.
    """

    def __init__(
        self,
        path: str,
        schedd: str,
        cluster: int,
        in_queue: Callable[[list[int]], set[int]],
        say: Callable[[str], None],
    ) -> None:
        self._directory = _opened(path, say)
        self._schedd = label(schedd)
        self._usual = f"claims.{os.geteuid()}.{self._schedd}.{cluster}"
        self._in_queue = in_queue
        self._checked: dict[str, float] = {}  # files of living DAGMans, and until when they are

    @contextlib.contextmanager
    def decision(self) -> Iterator[None]:
        """Within, nobody else claims anything.

        Raises:
            FileError: others did not finish in time.
        """
        fd = self._directory.fd
        until = time.monotonic() + LOCK_TIMEOUT_S
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                    raise FileError(f"{self._directory.path}: {error.strerror}") from None
            if time.monotonic() > until:
                raise FileError(
                    f"{self._directory.path} has been locked by another process for"
                    f" {LOCK_TIMEOUT_S:.0f} s"
                )
            time.sleep(_LOCK_PAUSE_S)
        try:
            yield
        finally:
            fcntl.flock(fd, fcntl.LOCK_UN)

    @property
    def name(self) -> str:
        """Of the own file: that of a DAGMan of an older version, too.

        Raises:
            FileError: the directory can't be read.
        """
        try:
            return self._directory.name_of_ours(self._usual)
        except OSError as error:
            raise FileError(f"{self._directory.path}: {error.strerror}") from None

    def taken_by_others(self) -> Counter[str]:
        """How many groups of others each site has.

        Raises:
            FileError: the directory can't be read.
        """
        found: Counter[str] = Counter()
        own = self.name
        for read in self._read([name for name in self._names() if name != own]):
            found.update(read.counts())
        return found

    def everything(self) -> list[Claims]:
        """All claims that count.

        Raises:
            FileError: the directory can't be read.
        """
        return list(self._read(self._names()))

    def write(self, dag: str, kept: Iterable[tuple[str, str]]) -> None:
        """Replace the own file: these groups have these sites.

        Raises:
            FileError: it can't be written; the old one is as it was.
        """
        fd, name = self._directory.fd, self.name
        new = self._directory.name_of_ours(f"{self._usual}.new")
        text = claims.text_of(dag, kept).encode("utf-8", "surrogateescape")
        if len(text) > claims.MAX_BYTES:  # others would read none of it
            raise FileError(f"the DAG's claims of sites need more than {claims.MAX_BYTES:,} bytes")
        try:
            self._directory.remove(new)
            with open(os.open(new, _NEW, 0o644, dir_fd=fd), "wb") as file:
                os.fchmod(file.fileno(), 0o644)
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.rename(new, name, src_dir_fd=fd, dst_dir_fd=fd)
        except OSError as error:
            self._directory.remove(new)
            raise FileError(f"{self._directory.path}/{name}: {error.strerror}") from None

    def remove(self) -> None:
        """Give up all claims."""
        self._directory.remove(self.name)

    def close(self) -> None:
        """Close it; the claims stay."""
        self._directory.close()

    def read(self, name: str) -> Claims | None:
        """What a file says; None if it is not of the user in its name, or none of ours.

        Raises:
            FileError: it can't be read, for a reason that is not its owner's doing.
        """
        found = _NAME.fullmatch(name)
        if found is None or self._directory.owner(name) != int(found[1]):
            return None
        try:
            with open(os.open(name, _READ, dir_fd=self._directory.fd), "rb") as file:
                data = _bytes_of(file, int(found[1]))
        except OSError as error:
            if error.errno not in _FAULTS:
                return None
            raise FileError(f"{self._directory.path}/{name}: {error.strerror}") from None
        if len(data) > claims.MAX_BYTES:
            return None
        return claims.parse(data.decode("utf-8", "surrogateescape"))

    def _read(self, names: list[str]) -> Iterator[Claims]:
        """What those of the files say that count."""
        bytes_of: Counter[str] = Counter()  # by user
        for name in self._living(names):
            user = name.split(".")[1]
            bytes_of[user] += self._size(name, int(user))
            if bytes_of[user] > MAX_BYTES_OF_USER:
                reason = f"claims files of user {user} have more than {MAX_BYTES_OF_USER:,} bytes"
                raise FileError(f"{self._directory.path}: {reason}")
            read = self.read(name)
            if read is not None:
                yield read

    def _size(self, name: str, user: int) -> int:
        """Bytes of a file that the user in its name has made; 0 if another one has."""
        try:
            there = os.stat(name, dir_fd=self._directory.fd, follow_symlinks=False)
        except OSError:
            return 0
        return min(there.st_size, claims.MAX_BYTES + 1) if there.st_uid == user else 0

    def _names(self) -> list[str]:
        try:
            return sorted(name for name in self._directory.names() if _NAME.fullmatch(name))
        except Exception as error:  # unreadable, or crowded
            raise FileError(f"{self._directory.path}: {error}") from None

    def _living(self, names: list[str]) -> list[str]:
        """Those of DAGMans whose job is in the queue, or whose process is there.

        Of other schedds' queues nothing is known.
        """
        by_hand = _numbers(names, label(BY_HAND))
        dead = {name for name, number in by_hand.items() if not _is_there(number)}
        dead |= self._ended(_numbers(names, self._schedd).items() - by_hand.items())
        for name in dead:
            self._directory.remove(name)
        return [name for name in names if name not in dead]

    def _ended(self, files: Iterable[tuple[str, int]]) -> set[str]:
        """Of files with the clusters of DAGMan jobs, those whose job is in the queue no more."""
        mine = dict(files)
        now = time.monotonic()
        doubtful = {name: mine[name] for name in mine if self._checked.get(name, now) <= now}
        doubtful.pop(self.name, None)
        if not doubtful:
            return set()
        there = self._in_queue(sorted(doubtful.values()))
        dead = {name for name, cluster in doubtful.items() if cluster not in there}
        self._checked.update(dict.fromkeys(doubtful.keys() - dead, now + CHECK_S))
        return dead


def _numbers(names: Iterable[str], schedd: str) -> dict[str, int]:
    """The numbers in those names that have this label."""
    found = ((name, _NAME.fullmatch(name)) for name in names)
    return {name: int(parts[3]) for name, parts in found if parts and parts[2] == schedd}


def _is_there(process: int) -> bool:
    return os.path.exists(f"/proc/{process}")


def _bytes_of(file: BinaryIO, user: int) -> bytes:
    """What a claims file of the user has, a byte more than it may have at most; b'' if the file is
    something else: the name may have got another file since it was looked at."""
    there = os.fstat(file.fileno())
    if there.st_uid != user or not stat.S_ISREG(there.st_mode):
        return b""
    return file.read(claims.MAX_BYTES + 1)


def _opened(path: str, say: Callable[[str], None]) -> SharedDirectory:
    """The one directory: in another one the claims of other users would not be seen."""
    try:
        return open_this(path, say, Usual(DEFAULT, KNOB))
    except OSError as error:
        reason = printable(error.strerror or str(error))
    raise FileError(f"the directory of claims of sites, {path or DEFAULT}: {reason}")
