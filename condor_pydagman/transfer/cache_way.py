"""The way "cache": in two steps, through a file of this machine, each by another way.

For two services of which no single way knows both.  The file is kept after the first step until
the second has succeeded, so that an attempt that fails there does not fetch it again.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Sequence

from condor_pydagman.data_requests.requests import OVERWRITE, Transfer
from condor_pydagman.data_requests.settings import CACHE
from condor_pydagman.data_requests.urls import LOCAL, Url
from condor_pydagman.transfer.cache_space import Cache, CacheEntry
from condor_pydagman.transfer.rules.faults import Fault, FaultKind
from condor_pydagman.transfer.way import Outcome, Progress, Surroundings, Way

REUSE_S = 3600  # for so long a fetched file is used again, as the source may have changed since
_NOWHERE = Url(LOCAL, "/dev/null/cache")  # stands for a file of the cache, for `obstacle`


class CacheWay:
    """Transfers in two steps; see `way.Way`.

    Args:
        ways: that may take a step, in order.
        version: what changes when a source does, '' if nobody can tell; a file of another version
            is not used again.
    """

    name = CACHE

    def __init__(
        self,
        ways: Sequence[Way],
        version: Callable[[Url, Surroundings], str] = lambda url, surroundings: "",
    ) -> None:
        self._ways = [way for way in ways if way.name != CACHE]
        self._version = version

    def obstacle(self, transfer: Transfer, surroundings: Surroundings) -> str:
        """Why two steps are no way, in a few words; '' if they are."""
        if transfer.source.is_local or transfer.destination.is_local:
            return "not needed, one end is a file of this machine"
        if transfer.source.is_directory:
            return "it takes single files"
        if not surroundings.settings.cache_bytes:
            return "it is switched off"
        whys = []
        for what, step in zip(("first", "second"), _steps(transfer, _NOWHERE)):
            obstacles = [(way.name, way.obstacle(step, surroundings)) for way in self._ways]
            if all(obstacle for _, obstacle in obstacles):
                reasons = ", ".join(f"{name}: {obstacle}" for name, obstacle in obstacles)
                whys.append(f"no way for the {what} step ({reasons})")
        return "; ".join(whys)

    def expand(
        self, transfer: Transfer, surroundings: Surroundings, takes: Callable[[int], bool]
    ) -> None:
        """See `way.Way`: it takes single files."""

    def thread_ends(self) -> None:
        """See `way.Way`."""

    def perform(
        self, transfer: Transfer, surroundings: Surroundings, progress: Progress
    ) -> Outcome:
        """Both steps, or only the second if an earlier attempt has done the first.

        Raises:
            Fault: one of them failed.
        """
        cache = Cache(surroundings.settings)
        version = self._version(transfer.source, surroundings)
        entry = cache.enter(_key(transfer, version), progress)
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


def _key(transfer: Transfer, version: str) -> str:
    ends = (transfer.source.with_secrets(), transfer.destination.with_secrets(), version)
    return hashlib.sha256(os.fsencode("\0".join(ends))).hexdigest()[:32]


def _is_fresh(file: str) -> bool:
    try:
        found = os.stat(file, follow_symlinks=False)
    except OSError:
        return False
    return abs(time.time() - found.st_ctime) < REUSE_S
