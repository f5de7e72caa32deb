"""Turns: limits over all placements of an access point, kept by files in a shared directory.

Each stream of each worker has a ticket there: a file whose name tells all, and whose lock ends with
the process.  Tickets are made and changed under a lock of the directory, so the limits are exact.
Who leaves tells those who may start now, by a datagram to the socket that each waits at; the first
few that wait also look once a second, since a worker that is killed tells nobody.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Sequence

from condor_pydagman.adapters.shared_directory import Crowded, label
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.placement.faults import Fault, FaultKind
from condor_pydagman.placement.turn_rules import Ticket, as_others_see_it, places_of
from condor_pydagman.transfer.placement_directory import open_own, open_shared
from condor_pydagman.transfer.rests import Rests
from condor_pydagman.transfer.ticket_files import DirectoryBusy, TicketBoard, View
from condor_pydagman.transfer.way import Progress

_LOOK_S = 0.2  # a stream that goes on looks not more often whether others wait
_SHORT_S = 0.01
_TICK_NS = 100_000_000
_SAY_AGAIN_S = 60.0
_SHARED_AGAIN_S = 300.0  # after the shared directory could not be used


class Turns:
    """Turns of one worker; used by several threads.

    Args:
        settings: limits, and where the shared directory is.
        say: adds a line to the log.
    """

    def __init__(self, settings: Settings, say: Callable[[str], None]) -> None:
        self.settings = settings
        self.rests = Rests(settings)
        self.say = say
        self._lock = threading.Lock()
        self._board: TicketBoard | None = None
        self._own_until = 0.0
        self._old: list[TicketBoard] = []  # left open: turns may still use them
        self._said: set[str] = set()
        self._said_of: dict[str, float] = {}

    def take(
        self,
        hosts: Sequence[str],
        protocols: Sequence[str],
        *,
        priority: int = 0,
        size: int | None = None,
        progress: Progress,
    ) -> Turn:
        """Wait until it may start.

        Args:
            hosts: of both ends, without that of this machine.
            protocols: of both ends.
            priority: higher goes first.
            size: bytes, None if unknown; smaller goes first.

        Raises:
            Fault: the worker is to stop, or limits can't be kept.
        """
        progress.check_stop()
        labels = [label(host) for host in hosts]
        ticket = Ticket(
            False,
            priority,
            size,
            time.time(),
            os.urandom(8).hex(),
            min(self.settings.max_transfers, 10**8),
            places_of(list(zip(hosts, labels)), protocols, self.settings),
        )
        turn = Turn(self, as_others_see_it(ticket), labels)
        try:
            turn.start(hosts, progress)
        except BaseException:
            turn.close()
            raise
        return turn

    def host_failed(self, host: str, retry_after_s: float) -> None:
        """A host has failed: all leave it alone for a while."""
        with contextlib.suppress(OSError, Crowded, Fault):
            rest = self.rests.failed(host, retry_after_s, self.board().directory)
            seconds = max(rest.until - time.time(), 0)
            self.say(f"{host} fails; it is left alone for {seconds:.0f} s")

    def host_worked(self, host: str) -> None:
        """A host works: its rest ends for all.  Cheap if it has not failed."""
        if self.rests.is_well(host):
            return
        with contextlib.suppress(OSError, Crowded, Fault):
            if self.rests.worked(host, self.board().directory):
                self.say(f"{host} works again")
                self.board().wake_all()

    def board(self) -> TicketBoard:
        """Where tickets are now.

        Raises:
            Fault: there is no usable directory.
        """
        with self._lock:
            board = self._board
            if board is not None and not self._is_over(board):
                return board
            if board is not None:
                self._old.append(board)
            self._board = TicketBoard(open_shared(self.settings.directory, self._say_once))
            return self._board

    def leave_shared(self, reason: str) -> TicketBoard:
        """The shared directory can't be used for now: the user's own.

        Raises:
            Fault: that can't be used either.
        """
        with self._lock:
            if self._own_until:
                raise Fault(FaultKind.SERVER, f"limits can't be kept: {reason}")
            self._say_once(f"{reason}; limits and rests of hosts hold only for this user for now")
            if self._board is not None:
                self._old.append(self._board)
            self._board = TicketBoard(open_own(self._say_once))
            self._own_until = time.monotonic() + _SHARED_AGAIN_S
            return self._board

    def say_of_wait(self, what: str, line: str) -> None:
        """A placement waits; not said of every one of thousands."""
        now = time.monotonic()
        with self._lock:
            if now - self._said_of.get(what, -_SAY_AGAIN_S) < _SAY_AGAIN_S:
                return
            self._said_of[what] = now
        self.say(line)

    def _is_over(self, board: TicketBoard) -> bool:
        if self._own_until:
            over = time.monotonic() >= self._own_until
            self._own_until = 0.0 if over else self._own_until
            return over
        return not board.directory.is_in_place()

    def _say_once(self, line: str) -> None:
        if line not in self._said:
            self._said.add(line)
            self.say(line)


class Turn:
    """A placement may run, until this is closed.  Of one thread.

    Args:
        turns: of the worker.
        ticket: that waits.
        labels: of its hosts.
    """

    def __init__(self, turns: Turns, ticket: Ticket, labels: Sequence[str]) -> None:
        self._turns = turns
        self._ticket = ticket
        self._labels = labels
        self._board: TicketBoard | None = None
        self._looked = 0.0
        self._changed = 0

    def start(self, hosts: Sequence[str], progress: Progress) -> None:
        """Wait until it may start.

        Raises:
            Fault: the worker is to stop, or limits can't be kept.
        """
        said: str | None = None
        while True:
            try:
                board = self._turns.board()
                self._board = board
                view = board.try_to_start(self._ticket, self._labels, self._turns.rests, progress)
                if view.started:
                    self._looked = time.monotonic()
                    return
                if view.verdict.full != said:
                    said = view.verdict.full
                    self._turns.say_of_wait(said, f"waits for {_reason(view, hosts, self._labels)}")
                self._wait(board, view, progress)
            except (Crowded, DirectoryBusy) as error:
                self._leave_board()
                self._turns.leave_shared(str(error))
            except OSError as error:
                self._leave_board()
                raise Fault(
                    FaultKind.NO_SPACE,
                    f"can't keep limits in {self._turns.board().directory.path}:"
                    f" {error.strerror or error}",
                    transient=True,
                ) from None

    def renew(self) -> bool:
        """Whether it may go on with another placement of the same hosts and protocols.

        False: somebody else is to go first; close it and take another.
        """
        now = time.monotonic()
        if now - self._looked < _LOOK_S:
            return not self._turns.rests.may_be_resting(self._labels)
        self._looked = now
        board = self._board
        if board is None or self._turns.rests.may_be_resting(self._labels):
            return False
        try:
            if board is not self._turns.board():
                return False
            changed = os.fstat(board.directory.fd).st_mtime_ns
            if changed == self._changed:
                return True
            # another change in the same tick of the kernel's clock would look the same
            is_old = time.time_ns() - changed > _TICK_NS
            self._changed = changed if is_old else 0
            return not board.should_yield(self._ticket, self._labels, self._turns.rests)
        except (OSError, Crowded, Fault):
            return False

    def close(self) -> None:
        """It is over; others may start."""
        self._leave_board()

    def _leave_board(self) -> None:
        if self._board is not None:
            self._board.leave(self._ticket)
            self._board = None

    def _wait(self, board: TicketBoard, view: View, progress: Progress) -> None:
        begun = time.monotonic()
        board.wait(self._ticket, view, progress)
        if view.resting:
            waited = time.monotonic() - begun
            self._turns.rests.waited(view.resting, waited)
        if time.monotonic() - begun < _SHORT_S:  # somebody may wake it again and again
            progress.wait(_SHORT_S)


def _reason(view: View, hosts: Sequence[str], labels: Sequence[str]) -> str:
    verdict = view.verdict
    for host, of in zip(hosts, labels):
        if of in view.resting and verdict.full == f"h{of}":
            return f"{host}, which has failed and is left alone for now"
    before = f"; {verdict.before} before it" if verdict.before else ""
    if not verdict.full:
        return f"one of {view.total} transfers of this access point{before}"
    for host, of in zip(hosts, labels):
        if verdict.full == f"h{of}":
            return f"one of the transfers of {host}{before}"
    return f"one of the transfers by {verdict.full.partition('_')[2]}{before}"
