"""What a way from one URL to another is, and what an attempt needs to know."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.requests import Transfer
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.data_requests.urls import Url
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.placement.rules.journal_text import FileId

STOPPED = "stopped"


class Progress:
    """Bytes of one placement so far; the same object for all its attempts.

    Only one thread writes; any may read.
    """

    def __init__(self, stop: threading.Event, room: int | None = None) -> None:
        self._stop = stop
        self.room = room  # bytes that may be moved at most (an allocation); None for no limit
        # is asked for more room, with the bytes that are needed; returns the new `room`, or raises
        # a Fault.  None if there is never more.
        self.grow: Callable[[int], int] | None = None
        # is told how many bytes the attempt has moved, until it returns True; None if nobody wants
        # to know
        self.on_data: Callable[[int], bool] | None = None
        # is told which file, by device and inode, is about to get its name at this machine where
        # none may be; None if nobody wants to know
        self.before_name: Callable[[FileId], None] | None = None
        # which file an earlier worker was about to give its name; None if there is none
        self.own_file: FileId | None = None
        self.moved = 0  # bytes that this attempt has moved
        self.offset = 0  # bytes that an earlier one had moved, where this one goes on
        self.total: int | None = None  # bytes of the whole, None while unknown

    def begin(self, offset: int, total: int | None) -> None:
        """An attempt begins to move data.

        Raises:
            Fault: that is more than there is room for.
        """
        self.moved, self.offset, self.total = 0, offset, total
        self._check(total or offset)

    def add(self, count: int) -> None:
        """So many bytes were moved.

        Raises:
            Fault: there is no room for them, or the worker is to stop.
        """
        self.moved += count
        if self.on_data is not None and count and self.on_data(self.moved):
            self.on_data = None
        self._check(self.offset + self.moved)

    def names(self, path: str) -> None:
        """The file is about to get its name."""
        if self.before_name is not None:
            found = os.lstat(path)
            self.own_file = found.st_dev, found.st_ino
            self.before_name(self.own_file)

    def has_named(self, path: str) -> bool:
        """Whether what is there is the file that was about to get its name."""
        try:
            found = os.lstat(path)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == self.own_file

    def wait(self, seconds: float) -> None:
        """Sleep, but not longer than until the worker is to stop.

        Raises:
            Fault: it is to stop.
        """
        self._stop.wait(seconds)
        self.check_stop()

    def check_stop(self) -> None:
        """Raise a `Fault` if the worker is to stop."""
        if self._stop.is_set():
            raise Fault(FaultKind.STOPPED, STOPPED)

    def _check(self, size: int) -> None:
        self.check_stop()
        if self.room is not None and size > self.room and self.grow is not None:
            self.room = self.grow(size)
        if self.room is not None and size > self.room:
            raise Fault(
                FaultKind.ALLOCATION, f"it has {size} bytes or more, the allocation {self.room}"
            )


class Surroundings(NamedTuple):
    """What every attempt of a worker has."""

    settings: Settings  # the knobs
    # variables for modules, plugins and libraries, credentials among them
    environment: Mapping[str, str]
    directory: str  # where relative paths begin, absolute
    say: Callable[[str], None]  # adds a line to the log; masks secrets itself
    dag: str = ""  # path of the DAG file whose node it is; '' if it is by hand
    # whether the worker is to stop: asked while a server is waited for
    must_stop: Callable[[], bool] = lambda: False
    node: str = ""  # name of the node; '' if it is by hand

    def check_stop(self) -> None:
        """Raise a `Fault` if the worker is to stop."""
        if self.must_stop():
            raise Fault(FaultKind.STOPPED, STOPPED)


class Outcome(NamedTuple):
    """A transfer that succeeded."""

    way: str  # what a person reads: "direct http-file", "module stork.transfer.http-file"
    size: int | None  # bytes of the file that is at the destination now; None if nobody knows
    moved: int  # bytes that were moved now: less than `size` if an attempt was continued
    skipped: bool = False  # it was there already


def made_file(transfer: Transfer) -> Url:
    """The file that the transfer makes: in a directory it has the source's name.

    Raises:
        Fault: the source has no name.
    """
    if not transfer.destination.is_directory:
        return transfer.destination
    if transfer.source.name in ("", ".", ".."):
        raise Fault(FaultKind.REQUEST, f"{transfer.source} names no file")
    return transfer.destination.child(transfer.source.name)


class Way(Protocol):
    """A way from one URL to another; used by several threads at once."""

    name: str  # one of `settings.WAYS`

    def obstacle(self, transfer: Transfer, surroundings: Surroundings) -> str:
        """Why it can't take this transfer, in a few words; '' if it can.  Cheap: no network."""

    def expand(self, transfer: Transfer, surroundings: Surroundings) -> Iterator[Transfer] | None:
        """The files of a directory or a pattern; None if the way takes it as it is.

        Raises:
            Fault: it can't be listed; also while the files are taken from the iterator.
        """

    def thread_ends(self) -> None:
        """The calling thread will make no more attempts: its connections can be closed."""

    def perform(
        self, transfer: Transfer, surroundings: Surroundings, progress: Progress
    ) -> Outcome:
        """One attempt.

        Raises:
            Fault: it failed; nothing half written is under the final name.
        """


class OneByOne:
    """The part of a `Way` that takes each transfer as it is, and keeps nothing for a thread."""

    def expand(self, transfer: Transfer, surroundings: Surroundings) -> None:
        """See `Way`."""

    def thread_ends(self) -> None:
        """See `Way`."""
