"""The local cache for transfers in two steps: a bounded directory of one user's.

Each transfer has a directory in it, named after its URLs: `lock`, which its worker keeps locked and
which says how many bytes are reserved, and the file.  What a worker has left that was killed or
will try again counts with the bytes that it has on the disk.  It is removed when its room is
needed, or after a day.  Decisions are made under a lock of the whole directory, so all workers of
the user together keep to the bound.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator

from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.transfer.local_part import guarded
from condor_pydagman.transfer.private_places import locked, make_private
from condor_pydagman.transfer.rules.faults import Fault, FaultKind
from condor_pydagman.transfer.way import Progress

DEFAULT_PLACE = "/var/tmp"  # keeps its files when the machine starts anew
GROWTH_BYTES = 64 << 20  # reserved at a time while the size is unknown
OLD_S = 86400  # nobody tries such a transfer again
WAIT_S = 1.0
LOCK_TIMEOUT_S = 60  # to have the lock of the directory; decisions take milliseconds
_LOCK = "lock"
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_MAX_DIGITS = 20


class _Kept(NamedTuple):
    """An entry of the cache: bytes that count, when it was last changed, whether it is in use."""

    name: str
    size: int
    changed: float
    is_used: bool


class CacheEntry:
    """A transfer's place in the cache, locked by this worker.

    Attributes:
        directory: where its file and what is beside it while it is made belong.
    """

    def __init__(self, cache: Cache, name: str, lock: int) -> None:
        self.directory = os.path.join(cache.path, name)
        self._cache = cache
        self._name = name
        self._lock = lock
        self._reserved = 0

    def reserve(self, size: int, progress: Progress, say: Callable[[str], None]) -> None:
        """Reserve room for the whole file, waiting until there is some.

        Raises:
            Fault: the file is larger than the cache, or the worker is to stop.
        """
        bound = self._cache.bound
        if size > bound:
            raise Fault(
                FaultKind.NO_SPACE, f"it has {size} bytes, and the cache for two steps {bound}"
            )
        said = False
        while not self._try(size, size):
            self._set(0)  # two that wait must not keep each other waiting
            if not said:
                say(f"waits for {size} bytes in the cache {self._cache.path}")
                said = True
            progress.wait(WAIT_S)

    def grow(self, size: int) -> None:
        """Have room for so many bytes of a file of unknown size.

        Raises:
            Fault: there is none; another attempt may find some.
        """
        if size <= self._reserved:
            return
        bound = self._cache.bound
        more = min(GROWTH_BYTES, bound // 16)
        if not (self._try(size + more, 0) or self._try(size, size)):
            raise Fault(
                FaultKind.NO_SPACE,
                f"no room for {size} bytes in the cache {self._cache.path} ({bound} bytes)",
                transient=size <= bound,
            )

    def _try(self, size: int, needed: int) -> bool:
        """Reserve `size`; what nobody uses makes room for `needed` of it."""
        with self._cache.decision():
            others = self._cache.used_by_others(self._name, needed)
            if others + size > self._cache.bound:
                return False
            self._set(size)
            return True

    def _set(self, size: int) -> None:
        with guarded(self.directory):
            os.pwrite(self._lock, b"%-*d" % (_MAX_DIGITS, size), 0)
        self._reserved = size

    def leave(self, *, keep: bool) -> None:
        """Unlock it; what is in it stays for the next attempt if `keep`."""
        try:
            if not keep:  # else the next worker could lock what is just being removed
                with contextlib.suppress(Fault), self._cache.decision():
                    shutil.rmtree(self.directory, ignore_errors=True)
        finally:
            os.close(self._lock)


class Cache:
    """The cache of this user.

    Attributes:
        path: of its directory.
        bound: bytes.

    Raises:
        Fault: it can't be made, or is somebody else's.
    """

    def __init__(self, settings: Settings) -> None:
        uid = os.geteuid()
        place = settings.cache_directory
        self.path = (
            os.path.join(place, str(uid))
            if place
            else os.path.join(DEFAULT_PLACE, f"condor_pydagman-cache-{uid}")
        )
        self.bound = settings.cache_bytes
        with guarded(self.path):
            make_private(self.path)

    def enter(self, name: str, progress: Progress) -> CacheEntry:
        """The entry of this name; waits while another worker has it.

        Raises:
            Fault: it can't be made, or the worker is to stop.
        """
        while True:
            with guarded(self.path), self.decision():
                directory = os.path.join(self.path, name)
                make_private(directory)
                lock = locked(os.path.join(directory, _LOCK))
            if lock is not None:
                return CacheEntry(self, name, lock)
            progress.wait(WAIT_S)

    @contextlib.contextmanager
    def decision(self) -> Iterator[None]:
        """Nobody else changes what is reserved within the `with` block."""
        with guarded(self.path):
            fd = os.open(os.path.join(self.path, _LOCK), _FLAGS, 0o600)
        try:
            _wait_for_lock(fd, self.path)
            yield
        finally:
            os.close(fd)

    def used_by_others(self, name: str, wanted: int) -> int:
        """Bytes of all other entries, after old ones and, if `wanted` needs it, those that nobody
        uses are removed; to be called within a `decision`."""
        kept = [entry for entry in self._entries() if entry.name != name]
        used = sum(entry.size for entry in kept)
        for entry in sorted(kept, key=lambda entry: entry.changed):
            is_old = time.time() - entry.changed > OLD_S
            if not entry.is_used and (is_old or used + wanted > self.bound):
                shutil.rmtree(os.path.join(self.path, entry.name), ignore_errors=True)
                used -= entry.size
        return used

    def _entries(self) -> Iterator[_Kept]:
        with guarded(self.path), os.scandir(self.path) as found:
            names = [entry.name for entry in found if entry.is_dir(follow_symlinks=False)]
        for name in names:
            directory = os.path.join(self.path, name)
            size, changed = _on_disk(directory)
            reserved = _reserved(os.path.join(directory, _LOCK))
            yield _Kept(name, max(size, reserved or 0), changed, reserved is not None)


def _wait_for_lock(fd: int, path: str) -> None:
    until = time.monotonic() + LOCK_TIMEOUT_S
    while True:
        with guarded(path), contextlib.suppress(BlockingIOError):
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        if time.monotonic() > until:
            raise Fault(FaultKind.NO_SPACE, f"the cache {path} is locked", transient=True)
        time.sleep(0.01)


def _reserved(path: str) -> int | None:
    """Bytes that a worker that lives has reserved; None if there is no such worker."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        text = os.pread(fd, _MAX_DIGITS, 0).strip()
        return int(text) if text.isdigit() else 0
    finally:
        os.close(fd)
    return None


def _on_disk(directory: str) -> tuple[int, float]:
    """Bytes of the files below a directory, and when one of them was changed last."""
    size, changed = 0, 0.0
    for folder, _, names in os.walk(directory):
        for path in (os.path.join(folder, name) for name in names):
            with contextlib.suppress(OSError):
                found = os.stat(path, follow_symlinks=False)
                if os.path.basename(path) != _LOCK:
                    size += found.st_size
                changed = max(changed, found.st_mtime)
    return size, changed
