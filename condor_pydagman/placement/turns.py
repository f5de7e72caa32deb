"""Turns: limits over all placements of an access point, kept by files in a shared directory.

Each stream of each worker has a ticket there: a file whose name tells all, and whose lock ends with
the process.  Tickets are made and changed under a lock of the directory, so the limits are exact.
Who leaves tells those who may start now, by a datagram to the socket that each waits at; the first
few that wait also look once a second, since a worker that is killed tells nobody.  A service that
has failed is left alone by all for a while: its rest.
"""

from __future__ import annotations

import contextlib
import functools
import os
import select
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from condor_pydagman.adapters.shared_directory import (
    LiveFile,
    SharedDirectory,
    Unusable,
    label,
    spread,
)
from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.placement.placement_directory import open_own, open_shared
from condor_pydagman.placement.rules.services import Service, service_label
from condor_pydagman.placement.rules.turn_rules import (
    Rest,
    Ticket,
    Verdict,
    as_others_see_it,
    being_tried,
    forgotten_after_s,
    fronts,
    may_start,
    newest,
    next_rest,
    places_of,
    read_rest_name,
    read_ticket_name,
    rest_name,
    same_before,
    should_yield,
    ticket_name,
    verdict,
)
from condor_pydagman.placement.waits import Wait
from condor_pydagman.placement.way import Progress

_LOCK_S = 20.0  # the lock of the directory is held for milliseconds
_TICK_S = 1.0  # at most so late a worker that waits sees that it is to stop
_FRONT_S = 0.5  # how often the first of those that wait look
_SLOW_S = 15.0  # those that are not among the first look so often, in case nobody tells them
_FRONT = 2  # of those that wait for the same limits so many look often
_PASSED_S = 30.0  # one that could have started for so long keeps no place
_MAX_WOKEN = 50
_LOOK_AGAIN_S = 1.0  # seconds; for a service whose rest nobody of this worker has just waited for
_MAX_ROUNDS = 5  # those that were killed while they waited are found by telling them
_LOOK_S = 0.2  # a stream that goes on looks not more often whether others wait
_SHORT_S = 0.01
_TICK_NS = 100_000_000
_SAY_AGAIN_S = 60.0
_SHARED_AGAIN_S = 300.0  # after the shared directory could not be used
_OLD_S = 3600.0  # after which a turn is looked at whose worker may have been killed


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
        self._said: set[str] = set()
        self._said_of: dict[str, float] = {}

    def take(
        self,
        services: Sequence[Service],
        *,
        priority: int = 0,
        size: int | None = None,
        progress: Progress,
        elsewhere: Callable[[], bool] = lambda: False,
    ) -> Turn | None:
        """Wait until it may start; None if it need not wait for a rest.

        Args:
            services: of both ends, without this machine.
            priority: higher goes first.
            size: bytes, None if unknown; smaller goes first.
            elsewhere: whether there is something better to do than to wait until one of these
                services has rested.

        Raises:
            Fault: the worker is to stop, or limits can't be kept.
        """
        progress.check_stop()
        ticket = Ticket(
            False,
            priority,
            size,
            time.time(),
            os.urandom(8).hex(),
            min(self.settings.max_transfers, 10**8),
            places_of([(one, label(one.server)) for one in services], self.settings),
        )
        turn = Turn(self, as_others_see_it(ticket), services)
        has_started = False
        try:
            has_started = turn.start(progress, elsewhere)
        finally:
            if not has_started:
                turn.close()
        return turn if has_started else None

    def service_failed(self, service: Service, retry_after_s: float) -> None:
        """A service has failed: all leave it alone for a while."""
        with contextlib.suppress(OSError, Fault):
            rest = self.rests.failed(service, retry_after_s, self.board().directory)
            seconds = max(rest.until - time.time(), 0)
            self.say(f"{service} fails; it is left alone for {seconds:.0f} s")

    def service_worked(self, service: Service) -> None:
        """A service works: its rest ends for all.  Cheap if it has not failed."""
        if self.rests.is_well(service):
            return
        with contextlib.suppress(OSError, Fault):
            if self.rests.worked(service, self.board().directory):
                self.say(f"{service} works again")
                self.board().wake_all()

    def rested_at(self, services: Iterable[Service], *, or_tried: bool = False) -> float:
        """When the last of these services has rested, seconds since 1970; 0 if none rests.

        Args:
            or_tried: whether one counts that somebody tries now, after its rest.  Not for a thread
                that may do that itself.
        """
        labels = [label_of(one) for one in services]
        with contextlib.suppress(OSError, Fault):
            shared, now = self.board().directory, time.time()
            names = shared.names()
            found = self.rests.limits(names, shared, now, labels)
            rests = {of: found[of].until for of in labels if of in found}
            ends = [end for end in rests.values() if end > now]
            if not ends and or_tried and rests and being_tried(_tickets(names), rests):
                ends.append(now + _FRONT_S)
            return max(ends, default=0.0)
        return 0.0

    def board(self) -> TicketBoard:
        """Where tickets are now.

        Raises:
            Fault: there is no usable directory.
        """
        with self._lock:
            board = self._board
            if board is not None and not self._is_over(board):
                return board
            # the one before stays open: turns may still use it
            self._board = TicketBoard(open_shared(self.settings.directory, self._say_once))
            return self._board

    def leave_shared(self, reason: str, failed: TicketBoard | None) -> TicketBoard:
        """The shared directory, in which one `failed`, can't be used for now: the user's own.

        Raises:
            Fault: that can't be used either.
        """
        with self._lock:
            if self._own_until and self._board is not None:
                if failed is not self._board:  # another stream has left it already
                    return self._board
                raise Fault(FaultKind.SERVER, f"limits can't be kept: {reason}")
            self._say_once(f"{reason}; limits and rests of hosts hold only for this user for now")
            self._board = TicketBoard(open_own(self._say_once))
            self._own_until = time.monotonic() + _SHARED_AGAIN_S
            return self._board

    def may_say(self, what: str) -> bool:
        """Whether it is to be said that a placement waits: it is not of every one of thousands."""
        now = time.monotonic()
        with self._lock:
            is_new = now - self._said_of.get(what, -_SAY_AGAIN_S) >= _SAY_AGAIN_S
            if is_new:
                self._said_of[what] = now
            return is_new

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
        services: that it is for.
    """

    def __init__(self, turns: Turns, ticket: Ticket, services: Sequence[Service]) -> None:
        self._turns = turns
        self._ticket = ticket
        self._services = services
        self._labels = [label_of(one) for one in services]
        self._board: TicketBoard | None = None
        self._looked = 0.0
        self._changed = 0

    def start(self, progress: Progress, elsewhere: Callable[[], bool]) -> bool:
        """Wait until it may start; False if it does not, as there is something `elsewhere`.

        Raises:
            Fault: the worker is to stop, or limits can't be kept.
        """
        wait = Wait(self._turns.say)
        try:
            return self._start(progress, elsewhere, wait)
        finally:
            wait.over()

    def _start(self, progress: Progress, elsewhere: Callable[[], bool], wait: Wait) -> bool:
        said: tuple[str | None, int] | None = None
        while True:
            try:
                board = self._turns.board()
                self._board = board
                view = board.try_to_start(self._ticket, self._labels, self._turns.rests, progress)
                if view.started:
                    self._looked = time.monotonic()
                    return True
                if view.resting and elsewhere():
                    return False
                about = view.verdict.full, round(_rested_at(view))
                if about != said and self._turns.may_say("{} {}".format(*about)):
                    said = about
                    wait.begins(_reason(view, self._services))
                self._wait(board, view, progress)
            except Unusable as error:
                failed = self._board
                self.close()
                self._turns.leave_shared(str(error), failed)
            except OSError as error:
                self.close()
                raise Fault(
                    FaultKind.NO_SPACE,
                    f"can't keep limits in {self._turns.board().directory.path}:"
                    f" {error.strerror or error}",
                    transient=True,
                ) from None

    def renew(self) -> bool:
        """Whether it may go on with another placement of the same services.

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
        except (OSError, Fault):
            return False

    def close(self) -> None:
        """It is over; others may start."""
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


class View(NamedTuple):
    """What one that wants to start has found."""

    started: bool  # it has begun
    verdict: Verdict
    is_front: bool = False  # it is among the first, and looks often
    # labels of its services that rest, or are tried by somebody, and what was said last
    resting: Mapping[str, Rest] = {}
    total: int = 0  # how many may run at once
    # names of the tickets just before it: when one goes, it may be among the first
    watched: tuple[str, ...] = ()


class TicketBoard:
    """Tickets in one directory; used by several threads."""

    def __init__(self, directory: SharedDirectory) -> None:
        self.directory = directory
        self._mutex = threading.Lock()
        self._files: dict[str, LiveFile] = {}
        self._sockets: dict[str, socket.socket] = {}
        self._startable: dict[str, float] = {}  # of others: since when they could have started
        self._is_swept = False

    def try_to_start(
        self, ticket: Ticket, labels: Sequence[str], rests: Rests, progress: Progress
    ) -> View:
        """Start if it may; else leave a ticket that waits.

        Raises:
            Unusable: the lock can't be had, or there are too many files.
            OSError: the ticket can't be made.
            Fault: the worker is to stop.
        """
        with self.directory.locked(_LOCK_S, progress.wait):
            now = time.time()
            names = self.directory.names()
            tickets = _tickets(names)
            self._sweep(tickets, now)
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
            OSError: the directory can't be read.
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
        file.remove()
        self.wake_all()

    def wake_all(self) -> None:
        """Let the first of those that wait look again."""
        with contextlib.suppress(Exception):  # a courtesy: they look themselves, too
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
                with contextlib.suppress(OSError):
                    for _ in range(100):  # what has come is enough to look once
                        here.recv(1)
                return
            if not view.is_front and any(
                not self.directory.is_alive(name) for name in view.watched
            ):
                return

    def _sweep(self, tickets: Iterable[Ticket], now: float) -> None:
        """Once, remove what workers were killed with long ago: where no limit is ever reached,
        nobody else looks whether they live."""
        if self._is_swept:
            return
        self._is_swept = True
        for one in tickets:
            if one.running and one.since < now - _OLD_S and not self._lives(one):
                self.directory.remove_own(ticket_name(one))

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
                self.directory.remove_own(ticket_name(one))
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
                self.directory.remove_own(ticket_name(one))
        return tuple(found)

    def _lives(self, one: Ticket) -> bool:
        if one.number in self._files:
            return True
        return self.directory.is_alive(ticket_name(one))

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
            file.remove()  # somebody has removed it
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


class Rests:
    """What is known of services, in files of the shared directory: one for each service and user.

    What others say is honoured, but not for ever: somebody might say it to keep others from one.
    Used by several threads.

    Args:
        settings: `host_rest_s`, `max_delay_s`.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._honoured: dict[str, float] = {}  # label: seconds waited because of other users
        self._known: dict[str, tuple[float, Rest | None]] = {}  # label: when looked at, what counts

    def limits(
        self, names: Sequence[str], shared: SharedDirectory, now: float, looked_at: Sequence[str]
    ) -> dict[str, Rest]:
        """All services that rest or are to be tried by one, by their labels, with what is said.

        Args:
            names: of all files.
            looked_at: labels of services that the caller wants to know about.
        """
        said: dict[str, list[tuple[Rest, str]]] = {}
        for name in names:
            rest = read_rest_name(name) if name.startswith("rest.") else None
            if rest is not None:
                said.setdefault(rest.label, []).append((rest, name))
        found = {}
        for of, words in said.items():
            counts = self._counting(of, words, shared, now)
            if counts is not None:
                found[of] = counts
        clock = time.monotonic()
        with self._lock:
            for of in looked_at:
                self._known[of] = (clock, found.get(of))
        return found

    def waited(self, labels: Iterable[str], seconds: float) -> None:
        """So long a placement has waited for the ends of these services' rests."""
        with self._lock:
            for one in labels:
                self._honoured[one] = self._honoured.get(one, 0) + seconds

    def failed(self, service: Service, retry_after_s: float, shared: SharedDirectory) -> Rest:
        """A service has failed: what is said of it from now on.

        Raises:
            OSError: it can't be said to others.
        """
        of, now = label_of(service), time.time()
        names = shared.names()
        last = self.limits(names, shared, now, [of]).get(of)
        said = self._settings
        rest = next_rest(of, last, now, said.host_rest_s, said.max_delay_s, retry_after_s)
        self._say(rest, names, shared)
        return rest

    def worked(self, service: Service, shared: SharedDirectory) -> bool:
        """A service works; whether it was thought to fail.

        Raises:
            OSError: it can't be said to others.
        """
        of = label_of(service)
        names = shared.names()
        if of not in self.limits(names, shared, time.time(), [of]):
            return False
        self._say(Rest(of, 0, time.time(), 0), names, shared)
        return True

    def is_well(self, service: Service) -> bool:
        """Whether one did not fail when this worker last looked, which is not long ago."""
        known = self._known.get(label_of(service))
        if known is None or known[1] is not None:
            return False
        return time.monotonic() - known[0] < _LOOK_AGAIN_S

    def may_be_resting(self, labels: Iterable[str]) -> bool:
        """Whether one of these services was failing when this worker last looked."""
        return any(self._known.get(one, (0, None))[1] is not None for one in labels)

    def _counting(
        self, of: str, said: list[tuple[Rest, str]], shared: SharedDirectory, now: float
    ) -> Rest | None:
        longest = self._settings.max_delay_s
        found = newest((rest for rest, _ in said), now, longest)
        with self._lock:
            if found is None:  # nobody contradicts that it works
                self._honoured.pop(of, None)
            alone = self._honoured.get(of, 0) >= longest
        if alone:
            own = [rest for rest, name in said if shared.owner(name) == os.geteuid()]
            found = newest(own, now, longest)
        return found

    def _say(self, rest: Rest, names: Iterable[str], shared: SharedDirectory) -> None:
        """Replace what this user has said of the service, and remove what is long over."""
        name = rest_name(rest)
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        os.close(os.open(name, flags, 0o644, dir_fd=shared.fd))
        oldest = time.time() - forgotten_after_s(self._settings.max_delay_s)
        for other in names:
            old = read_rest_name(other)
            if old is None or other == name:
                continue
            over = max(old.until, old.since) < oldest
            if (old.label == rest.label or over) and shared.owner(other) == os.geteuid():
                shared.remove(other)
        with self._lock:
            self._known[rest.label] = (time.monotonic(), rest if rest.failures else None)


@functools.lru_cache(maxsize=256)
def label_of(service: Service) -> str:
    """What stands for a service in names of files."""
    return service_label(label(service.server), service.scheme)


def _reason(view: View, services: Sequence[Service]) -> str:
    full = view.verdict.full
    before = f"; {view.verdict.before} before it" if view.verdict.before else ""
    if not full:
        return f"one of {view.total} transfers of this access point{before}"
    service = next((one for one in services if full == f"h{label_of(one)}"), None)
    if service is None:
        return f"one of the transfers by {full.partition('_')[2]}{before}"
    if label_of(service) in view.resting:
        until = time.strftime("%m/%d/%y %H:%M:%S", time.localtime(_rested_at(view)))
        return f"{service}, which has failed and is left alone until {until}"
    return f"one of the transfers of {service}{before}"


def _rested_at(view: View) -> float:
    """When the last of the services has rested, seconds since 1970; 0 if none rests."""
    return max((rest.until for rest in view.resting.values()), default=0.0)


def _tickets(names: Iterable[str]) -> list[Ticket]:
    found: dict[str, Ticket] = {}
    for name in names:
        ticket = read_ticket_name(name) if name.startswith("turn.") else None
        if ticket is not None and ticket.number not in found:
            found[ticket.number] = ticket
    return list(found.values())


def _ends_of(resting: Mapping[str, Rest]) -> dict[str, float]:
    """When the rests of services end, by places."""
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


def _address(number: str) -> str:
    """In the abstract name space: nothing to be removed."""
    return f"\0condor_pydagman-turn-{number}"
