"""Tickets of all workers as files of the shared directory, and how those who wait are woken."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import socket
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from condor_pydagman.adapters.shared_directory import SharedDirectory, spread
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.placement.rest_rules import Rest
from condor_pydagman.placement.turn_rules import (
    Ticket,
    Verdict,
    as_others_see_it,
    fronts,
    may_start,
    read_ticket_name,
    same_before,
    should_yield,
    ticket_name,
    verdict,
)
from condor_pydagman.transfer.live_files import LiveFile, is_alive, remove_dead
from condor_pydagman.transfer.rests import Rests
from condor_pydagman.transfer.way import Progress

_LOCK_S = 20.0  # the lock of the directory is held for milliseconds
_TICK_S = 1.0  # at most so late a worker that waits sees that it is to stop
_FRONT_S = 0.5  # how often the first of those that wait look
_SLOW_S = 15.0  # those that are not among the first look so often, in case nobody tells them
_FRONT = 2  # of those that wait for the same limits so many look often
_PASSED_S = 30.0  # one that could have started for so long keeps no place
_MAX_WOKEN = 50
_MAX_ROUNDS = 5  # those that were killed while they waited are found by telling them


class DirectoryBusy(Exception):
    """Somebody holds the lock of the directory."""


class View(NamedTuple):
    """What one that wants to start has found.

    Attributes:
        started: it has begun.
        is_front: it is among the first, and looks often.
        resting: labels of its hosts that rest, or are tried by somebody, and what was said last.
        total: how many may run at once.
        watched: names of the tickets just before it: when one goes, it may be among the first.
    """

    started: bool
    verdict: Verdict
    is_front: bool = False
    resting: Mapping[str, Rest] = {}
    total: int = 0
    watched: tuple[str, ...] = ()


class TicketBoard:
    """Tickets in one directory; used by several threads."""

    def __init__(self, directory: SharedDirectory) -> None:
        self.directory = directory
        self._mutex = threading.Lock()
        self._files: dict[str, LiveFile] = {}
        self._sockets: dict[str, socket.socket] = {}
        self._startable: dict[str, float] = {}  # of others: since when they could have started

    def try_to_start(
        self, ticket: Ticket, labels: Sequence[str], rests: Rests, progress: Progress | None
    ) -> View:
        """Start if it may; else leave a ticket that waits.

        Raises:
            DirectoryBusy: the lock can't be had.
            Crowded: there are too many files.
            OSError: the ticket can't be made.
            Fault: the worker is to stop.
        """
        with self._locked(progress):
            now = time.time()
            names = self.directory.names()
            tickets = _tickets(names)
            resting = rests.limits(names, self.directory, now, labels)
            view = self._decide(ticket, tickets, resting, now)
            view = view._replace(resting={of: resting[of] for of in labels if of in resting})
            if view.started:
                self._place(as_others_see_it(ticket._replace(running=True, since=now)))
                self._close_socket(ticket)
                self._wake(tickets, now, without=ticket.number)
            else:
                self._listen(ticket)
                self._place(ticket)
            return view

    def should_yield(self, ticket: Ticket, labels: Sequence[str], rests: Rests) -> bool:
        """Whether one that runs has to let another go first.

        Raises:
            Crowded, OSError: the directory can't be read.
        """
        now = time.time()
        names = self.directory.names()
        tickets = _tickets(names)
        if not any(not one.running for one in tickets):
            return False
        resting = rests.limits(names, self.directory, now, labels)
        if any(of in resting for of in labels):
            return True
        alive = [one for one in tickets if one.running or self._lives(one)]
        return should_yield(ticket._replace(running=True), alive, now, _ends_of(resting))

    def leave(self, ticket: Ticket) -> None:
        """The ticket is no more."""
        self._close_socket(ticket)
        with self._mutex:
            file = self._files.pop(ticket.number, None)
        if file is None:
            return
        file.close()
        with contextlib.suppress(Exception):  # a courtesy: they look themselves, too
            self._wake(_tickets(self.directory.names()), time.time())

    def wake_all(self) -> None:
        """Let the first of those that wait look again."""
        with contextlib.suppress(Exception):
            self._wake(_tickets(self.directory.names()), time.time())

    def wait(self, ticket: Ticket, view: View, progress: Progress) -> None:
        """Sleep until it makes sense to look again.

        Raises:
            Fault: the worker is to stop.
        """
        now = time.monotonic()
        until = now + spread(_FRONT_S if view.is_front else _SLOW_S)
        for rest in view.resting.values():
            left = rest.until - time.time()
            if left > 0:
                until = min(until, now + left + spread(0.02))
        here = self._sockets.get(ticket.number)
        while True:
            progress.check_stop()
            left = min(until - time.monotonic(), _TICK_S)
            if left <= 0:
                return
            if here is None:
                progress.wait(left)
            elif select.select([here], [], [], left)[0]:
                _drain(here)
                return
            if not view.is_front and any(
                not is_alive(self.directory, name) for name in view.watched
            ):
                return

    def _decide(
        self, ticket: Ticket, tickets: list[Ticket], resting: Mapping[str, Rest], now: float
    ) -> View:
        rests = _ends_of(resting)
        while True:
            found = verdict(ticket, tickets, now, rests, self._passed(tickets, rests, now))
            if found.free:
                return View(True, found)
            dead = [one for one in tickets if one.number in found.holders and not self._lives(one)]
            if not dead:
                break
            for one in dead:
                remove_dead(self.directory, ticket_name(one))
                tickets.remove(one)
        watched = self._nearest(ticket, tickets, now)
        return View(False, found, len(watched) < _FRONT, total=ticket.total, watched=watched)

    def _nearest(self, ticket: Ticket, tickets: Sequence[Ticket], now: float) -> tuple[str, ...]:
        """Names of the tickets just before it; it is among the first if there are not enough."""
        found: list[str] = []
        for one in same_before(ticket, tickets, now):
            if self._lives(one):
                found.append(ticket_name(one))
                if len(found) == _FRONT:
                    break
            else:
                remove_dead(self.directory, ticket_name(one))
        return tuple(found)

    def _lives(self, one: Ticket) -> bool:
        if one.number in self._files:
            return True
        return is_alive(self.directory, ticket_name(one))

    def _passed(
        self, tickets: Sequence[Ticket], rests: Mapping[str, float], now: float
    ) -> set[str]:
        """Those that could have started for long but have not: stopped, or there to annoy."""
        could = {one.number for one in may_start(tickets, now, rests)}
        clock = time.monotonic()
        with self._mutex:
            self._startable = {one: self._startable.get(one, clock) for one in could}
            return {one for one, first in self._startable.items() if clock - first > _PASSED_S}

    def _place(self, ticket: Ticket) -> None:
        """Make the ticket's file, or give it its new name; under the lock."""
        name = ticket_name(ticket)
        file = self._files.get(ticket.number)
        if file is not None and file.name == name and file.is_there():
            return
        if file is not None:
            with contextlib.suppress(FileNotFoundError):
                file.rename(name)
                return
            file.close()  # somebody has removed it
        made = LiveFile(self.directory, name)
        with self._mutex:
            self._files[ticket.number] = made

    def _wake(self, tickets: Iterable[Ticket], now: float, without: str = "") -> None:
        """Tell the first of those that wait to look again."""
        rest = [one for one in tickets if one.number != without]
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as out:
            for _ in range(_MAX_ROUNDS):
                told = may_start(rest, now) + fronts(rest, now, _FRONT)
                numbers = dict.fromkeys(one.number for one in told)
                dead = {one for one in list(numbers)[:_MAX_WOKEN] if not _tell(out, one)}
                if not dead:
                    return
                rest = [one for one in rest if one.number not in dead]

    def _listen(self, ticket: Ticket) -> None:
        if ticket.number in self._sockets:
            return
        here = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        try:
            here.bind(_address(ticket.number))
        except OSError:  # it is not told, and looks itself
            here.close()
            return
        with self._mutex:
            self._sockets[ticket.number] = here

    def _close_socket(self, ticket: Ticket) -> None:
        with self._mutex:
            here = self._sockets.pop(ticket.number, None)
        if here is not None:
            here.close()

    @contextlib.contextmanager
    def _locked(self, progress: Progress | None) -> Iterator[None]:
        """The lock of the directory.

        A descriptor of its own: threads of one process exclude each other, too.
        """
        fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self.directory.fd)
        try:
            _lock(fd, self.directory.path, progress)
            yield
        finally:
            os.close(fd)


def _lock(fd: int, path: str, progress: Progress | None) -> None:
    until = time.monotonic() + _LOCK_S
    pause = 0.001
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > until:
                raise DirectoryBusy(f"some process holds the lock of {path}") from None
        if progress is not None:
            progress.wait(spread(pause))
        else:
            time.sleep(pause)
        pause = min(pause * 1.5, 0.05)


def _tickets(names: Iterable[str]) -> list[Ticket]:
    found: dict[str, Ticket] = {}
    for name in names:
        ticket = read_ticket_name(name) if name.startswith("turn.") else None
        if ticket is not None and ticket.number not in found:
            found[ticket.number] = ticket
    return list(found.values())


def _ends_of(resting: Mapping[str, Rest]) -> dict[str, float]:
    """When the rests of hosts end, by places."""
    return {f"h{of}": rest.until for of, rest in resting.items()}


def _tell(out: socket.socket, number: str) -> bool:
    """Wake the one with this ticket; False if nobody is there."""
    try:
        out.sendto(b"", _address(number))
    except ConnectionRefusedError:
        return False
    except OSError:  # it has been told already, often
        return True
    return True


def _drain(here: socket.socket) -> None:
    with contextlib.suppress(OSError):
        for _ in range(100):
            here.recv(1)


def _address(number: str) -> str:
    """In the abstract name space: nothing to be removed."""
    return f"\0condor_pydagman-turn-{number}"
