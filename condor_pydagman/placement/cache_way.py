"""The way "cache": in two steps, through a file of this machine, each by another way.

For two services of which no single way knows both.  The file is kept after the first step until
the second has succeeded, so that an attempt that fails there does not fetch it again.

The cache is a bounded directory of one user's.  Each transfer has a directory in it, named after
its URLs: `lock`, which its worker keeps locked and which says how many bytes are reserved, and the
file.  What a worker has left that was killed or will try again counts with the bytes that it has on
the disk.  It is removed when its room is needed, or after a day.  Decisions are made under a lock
of the whole directory, so all workers of the user together keep to the bound.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import itertools
import os
import time
from collections.abc import Callable, Iterator, Sequence

from condor_pydagman.adapters import deleted_directories
from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.requests import OVERWRITE, Transfer
from condor_pydagman.data_requests.settings import CACHE, Settings
from condor_pydagman.data_requests.urls import LOCAL, Url
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.placement.endpoints.disk_faults import writing
from condor_pydagman.placement.private_places import locked, make_private
from condor_pydagman.placement.rules.ways import names_in_order
from condor_pydagman.placement.waits import Wait
from condor_pydagman.placement.way import OneByOne, Outcome, Progress, Surroundings, Way

DEFAULT_PLACE = "/var/tmp"  # keeps its files when the machine starts anew
GROWTH_BYTES = 64 << 20  # reserved at a time while the size is unknown
OLD_S = 86400  # nobody tries such a transfer again
WAIT_S = 1.0
LOCK_TIMEOUT_S = 60  # to have the lock of the directory; decisions take milliseconds
_LOCK = "lock"
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
_MAX_DIGITS = 20


class _Kept(NamedTuple):
    """An entry of the cache: bytes that count, when it was last changed, whether it is in use."""

    name: str
    size: int
    changed: float
    is_used: bool


class CacheEntry:
    """A transfer's place in the cache, locked by this worker."""

    def __init__(self, cache: Cache, name: str, lock: int) -> None:
        # where its file and what is beside it while it is made belong
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
        wait = Wait(say)
        try:
            while not self._try(size, size):
                self._set(0)  # two that wait must not keep each other waiting
                wait.begins(f"{size} bytes in the cache {self._cache.path}")
                progress.wait(WAIT_S)
        finally:
            wait.over()

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
        with writing(self.directory):
            os.pwrite(self._lock, b"%-*d" % (_MAX_DIGITS, size), 0)
        self._reserved = size

    def leave(self, *, keep: bool) -> None:
        """Unlock it; what is in it stays for the next attempt if `keep`."""
        try:
            if not keep:  # else the next worker could lock what is just being removed
                with contextlib.suppress(Fault), self._cache.decision():
                    deleted_directories.delete_directory(self.directory)
        finally:
            os.close(self._lock)


class Cache:
    """The cache of this user.

    Raises:
        Fault: it can't be made, or is somebody else's.
    """

    def __init__(self, settings: Settings) -> None:
        uid = os.geteuid()
        place = settings.cache_directory
        # of its directory
        self.path = (
            os.path.join(place, str(uid))
            if place
            else os.path.join(DEFAULT_PLACE, f"condor_pydagman-cache-{uid}")
        )
        self.bound = settings.cache_bytes  # bytes
        with writing(self.path):
            make_private(self.path)

    def enter(self, name: str, progress: Progress) -> CacheEntry:
        """The entry of this name; waits while another worker has it.

        Raises:
            Fault: it can't be made, or the worker is to stop.
        """
        while True:
            with writing(self.path), self.decision():
                directory = os.path.join(self.path, name)
                make_private(directory)
                lock = locked(os.path.join(directory, _LOCK))
            if lock is not None:
                return CacheEntry(self, name, lock)
            progress.wait(WAIT_S)

    @contextlib.contextmanager
    def decision(self) -> Iterator[None]:
        """Nobody else changes what is reserved within the `with` block."""
        with writing(self.path):
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
                deleted_directories.delete_directory(os.path.join(self.path, entry.name))
                used -= entry.size
        return used

    def _entries(self) -> Iterator[_Kept]:
        with writing(self.path), os.scandir(self.path) as found:
            names = [entry.name for entry in found if entry.is_dir(follow_symlinks=False)]
        for name in names:
            directory = os.path.join(self.path, name)
            size, changed = _on_disk(directory)
            reserved = _reserved(os.path.join(directory, _LOCK))
            yield _Kept(name, max(size, reserved or 0), changed, reserved is not None)


def _wait_for_lock(fd: int, path: str) -> None:
    until = time.monotonic() + LOCK_TIMEOUT_S
    while True:
        with writing(path), contextlib.suppress(BlockingIOError):
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        if time.monotonic() > until:
            raise Fault(FaultKind.NO_SPACE, f"the cache {path} is locked", transient=True)
        time.sleep(0.01)


def _reserved(path: str) -> int | None:
    """Bytes that a worker that lives has reserved; None if there is no such worker."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
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


REUSE_S = 3600  # for so long a fetched file is used again, as the source may have changed since
_NOWHERE = Url(LOCAL, "/dev/null/cache")  # stands for a file of the cache, for `obstacle`


class CacheWay(OneByOne):
    """Transfers in two steps; see `way.Way`.

    Args:
        ways: that may take a step, in order.
    """

    name = CACHE

    def __init__(self, ways: Sequence[Way]) -> None:
        self._ways = [way for way in ways if way.name != CACHE]

    def obstacle(self, transfer: Transfer, surroundings: Surroundings) -> str:
        """Why two steps are no way, in a few words; '' if they are."""
        if transfer.source.is_local or transfer.destination.is_local:
            return "not needed, one end is a file of this machine"
        if transfer.source.is_directory:
            return "it takes single files"
        if not surroundings.settings.cache_bytes:
            return "it is switched off"
        names = names_in_order(transfer, surroundings.settings.ways)
        before = list(itertools.takewhile(CACHE.__ne__, names))
        for way in self._ways:
            if way.name in before and not way.obstacle(transfer, surroundings):
                return f"not needed, {way.name} takes it in one step"
        whys = []
        for what, step in zip(("first", "second"), _steps(transfer, _NOWHERE)):
            if all(way.obstacle(step, surroundings) for way in self._ways):
                schemes = f"{step.source.scheme}-{step.destination.scheme}"
                whys.append(f"no way for the {what} step, {schemes}")
        return "; ".join(whys)

    def perform(
        self, transfer: Transfer, surroundings: Surroundings, progress: Progress
    ) -> Outcome:
        """Both steps, or only the second if an earlier attempt has done the first.

        Raises:
            Fault: one of them failed.
        """
        cache = Cache(surroundings.settings)
        entry = cache.enter(_key(transfer), progress)
        keep = True
        try:
            outcome = self._both(transfer, surroundings, progress, entry)
            keep = False
        except Fault as fault:
            keep = fault.transient and fault.kind not in (FaultKind.MISMATCH, FaultKind.NO_SPACE)
            raise
        finally:
            entry.leave(keep=keep)
        return outcome

    def _both(
        self,
        transfer: Transfer,
        surroundings: Surroundings,
        progress: Progress,
        entry: CacheEntry,
    ) -> Outcome:
        file = os.path.join(entry.directory, "file")
        first, second = _steps(transfer, Url(LOCAL, file))
        labels = []
        if _is_fresh(file):
            entry.reserve(os.path.getsize(file), progress, surroundings.say)
            labels.append("kept file")
        else:
            step_progress = _FirstStep(progress, entry, surroundings)
            labels.append(self._step(first, surroundings, step_progress).way)
        size = os.path.getsize(file)
        outcome = self._step(second, surroundings, progress)
        labels.append(outcome.way)
        way = f"cache ({', then '.join(labels)})"
        return Outcome(way, outcome.size if outcome.size is not None else size, outcome.moved,
                       outcome.skipped)  # fmt: skip

    def _step(self, step: Transfer, surroundings: Surroundings, progress: Progress) -> Outcome:
        """Take one step by the first way that can, by the next if that fails for good."""
        last = Fault(FaultKind.NO_WAY, f"no way from {step.source} to {step.destination}")
        for way in self._ways:
            if way.obstacle(step, surroundings):
                continue
            try:
                return way.perform(step, surroundings, progress)
            except Fault as fault:
                if fault.transient or fault.kind is FaultKind.NO_SPACE:
                    raise
                last = fault
        raise last


class _FirstStep(Progress):
    """Progress of the first step, which reserves room in the cache for what comes."""

    def __init__(self, outer: Progress, entry: CacheEntry, surroundings: Surroundings) -> None:
        self._outer = outer
        self._entry = entry
        self._surroundings = surroundings
        self.room = outer.room

    def begin(self, offset: int, total: int | None) -> None:
        """See `Progress`; waits for room if the size is known."""
        self.moved, self.offset, self.total = 0, offset, total
        self._outer.begin(offset, total)
        if total:
            self._entry.reserve(total, self._outer, self._surroundings.say)
        else:
            self._entry.grow(offset)

    def add(self, count: int) -> None:
        """See `Progress`."""
        self.moved += count
        self._entry.grow(self.offset + self.moved)
        self._outer.add(count)

    def wait(self, seconds: float) -> None:
        """See `Progress`."""
        self._outer.wait(seconds)

    def check_stop(self) -> None:
        """See `Progress`."""
        self._outer.check_stop()


def _steps(transfer: Transfer, file: Url) -> tuple[Transfer, Transfer]:
    """From the source to a file of the cache, which is to be whole; from there on."""
    destination = transfer.destination
    if destination.is_directory:
        destination = destination.child(transfer.source.name)
    first = transfer._replace(destination=file, if_exists=OVERWRITE, ways=(), alt_protocols=())
    second = transfer._replace(source=file, destination=destination, ways=(), alt_protocols=())
    return first, second


def _key(transfer: Transfer) -> str:
    ends = f"{transfer.source.with_secrets()}\0{transfer.destination.with_secrets()}"
    return hashlib.sha256(os.fsencode(ends)).hexdigest()[:32]


def _is_fresh(file: str) -> bool:
    try:
        found = os.stat(file, follow_symlinks=False)
    except OSError:
        return False
    return abs(time.time() - found.st_ctime) < REUSE_S
