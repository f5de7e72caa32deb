"""A DAG that somebody looks at: read again and again while somebody does, told to all who listen.

Clients take what is new at their own pace: nothing waits for one of them, and nothing is kept for
one beyond the ring of changes that all share.  A client says which version it knows and gets what
has changed since; if it knows less than the changes that are kept, it must ask for all states anew.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable, Protocol

from condor_pydagman import feature_table
from condor_pydagman.errors import PydagmanError
from condor_pydagman.follow.shown_states import KEYS
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.monitor.outside_facts import OutsideFacts, Watcher
from condor_pydagman.web.access import Refused
from condor_pydagman.web.dag_reader import DagReader, SitesOfGroups, Snapshot
from condor_pydagman.web.picture_boxes import PictureBoxes
from condor_pydagman.web.threads import Threads

INTERVAL_S = 0.5  # between looks
MAX_INTERVAL_S = 5.0
SHARE = 10  # a look may take one part in so many of the time until the next
IDLE_S = 60.0  # without anybody who asks, nothing is read
MAX_KEPT = 1 << 16  # changes
MAX_AT_ONCE = 5000
_STATES = 16  # more than there are states
_NO_FILE = (0, 0)
_IN_USE = ("running", "halted", "held", "idle", "interrupted")


class ChangeRing:
    """The last changes of the states of nodes, each with a version, the newest last.

    Args:
        version: the first one; greater than any that was used for this DAG before.
    """

    def __init__(self, version: int) -> None:
        self.version = version  # of the last change
        self.first = version  # from which on the numbers of nodes are what they are
        self._oldest = version  # all changes after this version are kept
        self._kept = array("q", bytes(8 * MAX_KEPT))

    def add(self, changes: Iterable[tuple[int, int]]) -> None:
        """Take in changes, each the number of a node and its state."""
        for number, state in changes:
            self.version += 1
            self._kept[self.version % MAX_KEPT] = number * _STATES + state
        self._oldest = max(self._oldest, self.version - MAX_KEPT)

    def forget(self) -> None:
        """All states are to be asked for anew."""
        self.version += 1
        self._oldest = self.first = self.version

    def since(self, version: int) -> tuple[int, list[tuple[int, int]]] | None:
        """The changes after a version, and the version with them: MAX_AT_ONCE at most, so that one
        may have to ask again.  None if not all of them are kept, or that version never was."""
        if not self._oldest <= version <= self.version:
            return None
        until = min(self.version, version + MAX_AT_ONCE)
        kept = (self._kept[place % MAX_KEPT] for place in range(version + 1, until + 1))
        newest = dict(divmod(change, _STATES) for change in kept)
        return until, list(newest.items())


class AskedFacts(Protocol):
    """What a feature asks of others, by a process of its own."""

    facts: Watcher

    def refresh_soon(self) -> None:
        """Ask, if a DAG needs it and what is known is old; this does not wait for it."""


class LiveDag:
    """A DAG and what is known of it.

    Args:
        found: the DAG.
        threads: where files are read.
        schedd: gives the ad of a DAGMan job in the queue.
        outside: what features know of DAGs beyond their files.
        version: of the first state; greater than any that was used for this DAG before.
    """

    def __init__(
        self,
        found: FoundDag,
        threads: Threads,
        schedd: Callable[[int], Mapping[str, Any]],
        outside: Sequence[AskedFacts],
        version: int,
    ) -> None:
        self.found = found
        self.reader: DagReader  # to be used in the thread for files only
        self.ring = ChangeRing(version)  # the last changes
        self.snapshot: Snapshot | None = None  # the last look
        self.problem = ""  # why the last look failed, '' if it has not
        self.looks = 0  # how many there were
        self.clients = 0  # how many follow it
        self.asked = time.monotonic()
        # to be used in the thread for pictures only; None until it is asked for
        self.picture: PictureBoxes | None = None
        self.names: Sequence[str] = []  # of the nodes, by number, at `ring.version`
        self._states = bytearray()
        self._mark = _NO_FILE
        self._submitted_anew: FoundDag | None = None
        self._threads, self._schedd, self._outside = threads, schedd, outside
        self._news = asyncio.Event()  # another one for each look
        self._task: asyncio.Task[None] | None = None

    @property
    def is_followed(self) -> bool:
        """Whether `snapshot` is kept up to date."""
        return self._task is not None and not self._task.done()

    @property
    def states(self) -> bytes:
        """Of all nodes, at `ring.version`."""
        return bytes(self._states)

    @property
    def overview(self) -> dict[str, Any]:
        """As of the last look."""
        assert self.snapshot is not None
        return self.snapshot.overview

    @property
    def places(self) -> SitesOfGroups | None:
        """Of the groups that run at sites, as of the last look; None if the DAG has none."""
        return self.snapshot.places if self.snapshot is not None else None

    async def awake(self) -> None:
        """Somebody asks: look, if nobody has for a while.

        Raises:
            Refused: its files can't be read.
        """
        self.asked = time.monotonic()
        if self._task is None or self._task.done():
            before = self.looks
            self._task = asyncio.create_task(self._follow())
            await self.wait(before)
        if self.snapshot is None:
            raise Refused(
                503, self.problem or "the DAG's files are being read; large ones take a while"
            )

    async def wait(self, looks: int, seconds: float = 30.0) -> bool:
        """Wait until there were more looks than that; False if it takes longer."""
        with contextlib.suppress(asyncio.TimeoutError, TimeoutError):
            while self.looks <= looks:
                await asyncio.wait_for(self._news.wait(), seconds)
        return self.looks > looks

    def renew(self, found: FoundDag) -> None:
        """The DAG has been submitted again."""
        self._submitted_anew = found

    async def close(self) -> None:
        """Look no more."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _follow(self) -> None:
        await self._look()
        while self.clients or time.monotonic() < self.asked + IDLE_S:
            begun = time.monotonic()
            await self._look()
            pause = (time.monotonic() - begun) * SHARE
            await asyncio.sleep(min(max(INTERVAL_S, pause), MAX_INTERVAL_S))

    async def _look(self) -> None:
        try:
            snapshot = await self._threads.with_files(self._read)
            self.problem = ""
            self._take(snapshot)
            for one in self._outside:
                one.refresh_soon()
        except (PydagmanError, OSError) as error:
            self.problem = str(error)
        except Exception as error:  # the page says so, and goes on with other DAGs
            self.problem = f"the DAG can't be followed: {error!r}"
        self.looks += 1
        news, self._news = self._news, asyncio.Event()
        news.set()

    def _read(self) -> Snapshot:
        """In the thread for files."""
        mark = _mark(self.found.paths.primary)
        anew, self._submitted_anew = self._submitted_anew, None
        if anew is not None:
            self.reader, self._mark = self._reader(anew), mark
        elif not hasattr(self, "reader") or self._is_changed(mark):
            self.reader, self._mark = self._reader(self.found), mark
        return self.reader.look()

    def _reader(self, found: FoundDag) -> DagReader:
        facts = OutsideFacts({feature_table.home(type(one)): one.facts for one in self._outside})
        return DagReader(found, self._schedd, facts)

    def _is_changed(self, mark: tuple[int, int]) -> bool:
        """Whether there is another DAG file, and no DAGMan goes by the one that was there."""
        in_use = self.snapshot is not None and self.overview["state"] in _IN_USE
        return mark not in (self._mark, _NO_FILE) and not in_use

    def _take(self, snapshot: Snapshot) -> None:
        if snapshot.states is not None:
            if self.snapshot is not None:
                self.ring.forget()
            self._states, self.names = bytearray(snapshot.states), snapshot.names
        for number, state in snapshot.changes:
            self._states[number] = state
        self.ring.add(snapshot.changes)
        self.found, self.snapshot = snapshot.found, snapshot

    def counts(self) -> dict[str, int]:
        """Nodes by their states, without states that no node is in."""
        counts = ((word, self._states.count(place)) for place, word in enumerate(KEYS))
        return {word: count for word, count in counts if count}


def _mark(path: str) -> tuple[int, int]:
    """Tells a file from another of that name; _NO_FILE if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return _NO_FILE
    return found.st_ino, found.st_mtime_ns
