"""The process that hands events of a running DAG to a program or a URL (NOTIFY, PYDAGMAN_NOTIFY).

DAGMan starts one for each NOTIFY, and again when it has ended: whatever hangs or fails here neither
delays nor fails the DAG.  It follows the logs of the DAG like any other reader, and keeps beside
the DAG file, in `NAME.notify.N`, which event was delivered last: after a crash, of it or of DAGMan,
the next one goes on there, so that each event is delivered at least once.  Its standard error is a
pipe to DAGMan, which sees by it that it has ended, and why; it sees that DAGMan has.

It is not of DAGMan's process family, which the schedd ends with DAGMan: it can tell of the end.
When the DAG ends, a second one stands by: it waits for the lock of the file, and goes on if the
first one is killed before all is told.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import subprocess
import sys
import time
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Any

from condor_pydagman.adapters import files
from condor_pydagman.adapters.user_programs import program_path
from condor_pydagman.errors import PydagmanError, UsageError
from condor_pydagman.follow.dag_events import DagEvent, EventFilter
from condor_pydagman.monitor.dag_monitor import DagMonitor, parse_position
from condor_pydagman.monitor.found_dag import find_dag
from condor_pydagman.monitor.plan import read_small_plan
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import number_of

FIRST_DELAY_S, MAX_DELAY_S = 1.0, 60.0  # before a try after a failure
GIVE_UP_S = 3600.0  # after which an event is given up while the DAG runs
GIVE_UP_AT_END_S = 60.0  # after the end of the DAG
MAX_BATCH = 100  # events that are delivered together
MAX_WAITING = 10_000  # events; of more, the oldest are given up


class Waiting(NamedTuple):
    """An event that is to be delivered, since when."""

    event: DagEvent
    since: float


class Delivery:
    """The events for one target, in order."""

    def __init__(self) -> None:
        self.delivered = ""  # id of the last event that was delivered or given up, '' if none
        self.given_up = 0  # how many events were given up
        self.failures = 0  # tries that have failed in a row
        self._waiting: deque[Waiting] = deque()
        self._next_try = 0.0
        self._ending_since: float | None = None

    @property
    def empty(self) -> bool:
        """Whether nothing waits."""
        return not self._waiting

    def add(self, events: Sequence[DagEvent], now: float) -> None:
        """Take events that are to be delivered."""
        self._waiting.extend(Waiting(event, now) for event in events)
        while len(self._waiting) > MAX_WAITING:
            self._give_up_first()

    def end(self, now: float) -> None:
        """The DAG has ended: what waits is given up soon."""
        if self._ending_since is None:
            self._ending_since = now

    def go_on(self) -> None:
        """The DAG has not ended, or runs again."""
        self._ending_since = None

    def batch(self, now: float) -> list[DagEvent]:
        """The events that are to be tried now, oldest first; [] if it is not time."""
        while self._waiting and self._is_too_old(self._waiting[0], now):
            self._give_up_first()
        if now < self._next_try:
            return []
        return [waiting.event for _, waiting in zip(range(MAX_BATCH), self._waiting)]

    def succeeded(self, count: int) -> None:
        """So many events have been delivered."""
        for _ in range(count):
            self.delivered = self._waiting.popleft().event.id
        self.failures, self._next_try = 0, 0.0

    def failed(self, now: float) -> float:
        """A try has failed; returns when the next one comes."""
        delay = min(FIRST_DELAY_S * 2.0 ** min(self.failures, 10), MAX_DELAY_S)
        self.failures += 1
        self._next_try = now + delay
        return self._next_try

    def _is_too_old(self, waiting: Waiting, now: float) -> bool:
        ending = self._ending_since
        if ending is not None and now - ending >= GIVE_UP_AT_END_S:
            return True
        return now - waiting.since >= GIVE_UP_S

    def _give_up_first(self) -> None:
        self.delivered = self._waiting.popleft().event.id
        self.given_up += 1


RETRY_S = 0.5  # between tries to lock the file
MAX_ID_BYTES = 100


class DeliveredFile:
    """The file, locked by this process."""

    def __init__(self, path: str, fd: int, event: str) -> None:
        self.path = path  # its name
        self.id = event  # of the last event that need not be delivered any more; '' for none
        self._fd = fd

    def write(self, event: str) -> None:
        """Keep the id of an event; on a full disk, the one that is there stays."""
        if event != self.id:
            with contextlib.suppress(OSError):
                os.pwrite(self._fd, event.encode().ljust(MAX_ID_BYTES) + b"\n", 0)
                self.id = event

    def delete(self) -> None:
        """All is delivered, or given up: the next run begins anew."""
        with contextlib.suppress(OSError):
            os.unlink(self.path)


def lock(path: str, patience: float) -> DeliveredFile | None:
    """Take the file, which is made if there is none.

    Args:
        path: its name; a symbolic link is not followed.
        patience: seconds that another process is waited for, which may be about to end; while
            DAGMan lives, it is waited for in any case.

    Returns:
        None if the other process still has it then.

    Raises:
        OSError: it can't be opened, or is none.
    """
    until, known = time.monotonic() + patience, ""
    fd = _open(path)
    while time.monotonic() < until:
        if not _is_locked(fd):
            time.sleep(RETRY_S)
            if dagman_lives():
                until = time.monotonic() + patience
            continue
        here = _id_in(fd)
        known = here or known
        if _is_there(path, fd):
            file = DeliveredFile(path, fd, here)
            file.write(known)
            return file
        os.close(fd)  # its owner has deleted it
        fd = _open(path)
    os.close(fd)
    return None


def _open(path: str) -> int:
    return files.open_own(path, os.O_RDWR | os.O_CREAT, 0o600)


def dagman_lives() -> bool:
    """Whether anybody reads this process's standard error."""
    poll = select.poll()
    poll.register(2, 0)
    return not poll.poll(0)


def _is_locked(fd: int) -> bool:
    """Whether this process has got the lock."""
    try:
        fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_there(path: str, fd: int) -> bool:
    with contextlib.suppress(OSError):
        return os.path.samestat(os.fstat(fd), os.stat(path))
    return False


def _id_in(fd: int) -> str:
    """What the file holds, '' if that is no id."""
    text = os.pread(fd, MAX_ID_BYTES, 0).decode("ascii", "replace").strip()
    with contextlib.suppress(UsageError):
        parse_position(text)
        return text
    return ""


INTERVAL_S = 0.5  # between looks at the logs
ORPHANED_S = 120.0  # without its DAGMan, after which it ends; the next DAGMan starts another
TRY_S = 10.0  # for an answer of a URL
PROGRAM_S = 60.0  # for a program
PATIENCE_S = GIVE_UP_AT_END_S + 2 * PROGRAM_S  # for the process before, which may be about to end
MAX_LOG_BYTES = 1 << 20  # of its log, which is begun anew then


class Order(NamedTuple):
    """What a process is to do."""

    dag: str  # path of the DAG file, absolute
    number: int  # of the NOTIFY, from 1
    kinds: str  # see `follow.dag_events`
    program: tuple[str, ...] = ()  # with its arguments; () for a URL
    url: str = ""  # '' for a program
    # whether another process delivers, and this one goes on if that is killed
    stands_by: bool = False


class NotDelivered(Exception):
    """A try has failed; the text says why."""


def main() -> int:
    """Do what the order on standard input says; returns the exit code."""
    fields = json.load(sys.stdin)
    order = Order(**{**fields, "program": tuple(fields["program"])})
    try:
        path = f"{order.dag}.notify.{order.number}"
        if order.stands_by and not os.path.exists(path):
            return 0  # all is delivered
        delivered = lock(path, PATIENCE_S)
        if delivered is None:
            return 0
        os.chdir(os.path.dirname(order.dag))
        return Notifier(order, delivered).run()
    except Exception as error:  # a bug, too: another process goes on, and the reason is told
        expected = isinstance(error, (PydagmanError, OSError))
        reason = str(error) if expected else f"{type(error).__name__}: {error}"
        _log(order, f"nothing is delivered: {reason}")
        with contextlib.suppress(OSError):  # DAGMan has gone
            print(reason, file=sys.stderr, flush=True)
        return 1


class Notifier:
    """Delivers events until the DAG has ended.

    Args:
        order: what is to be delivered where.
        delivered: which event was delivered last.
    """

    def __init__(self, order: Order, delivered: DeliveredFile) -> None:
        self._order = order
        self._file = delivered
        self._wanted = EventFilter(order.kinds)
        found = find_dag(order.dag, ask=False)
        self._monitor = DagMonitor(
            found, since=delivered.id, read_plan=partial(read_small_plan, found)
        )
        self._delivery = Delivery()
        self._read = delivered.id  # id of the last event that was read
        self._dagman_seen = time.monotonic()

    def run(self) -> int:
        """Deliver; returns the exit code."""
        while True:
            self._take_events()
            self._try_delivery()
            if self._monitor.over and not self._monitor.more:
                self._delivery.end(time.monotonic())
                if self._delivery.empty:
                    self._file.delete()
                    return 0
            else:
                self._delivery.go_on()
                if self._is_orphaned():
                    return 0
            if not self._monitor.more:
                time.sleep(INTERVAL_S)

    def _take_events(self) -> None:
        events = self._monitor.poll()
        if events:
            self._read = events[-1].id
            wanted = [event for event in events if self._wanted.wants(event)]
            self._delivery.add(wanted, time.monotonic())

    def _try_delivery(self) -> None:
        given_up = self._delivery.given_up
        batch = self._delivery.batch(time.monotonic())
        if self._delivery.given_up > given_up:
            _log(self._order, f"gave up on {number_of(self._delivery.given_up, 'event')} so far")
        if batch:
            try:
                deliver(self._order, batch)
            except NotDelivered as failure:
                self._delivery.failed(time.monotonic())
                tries = self._delivery.failures
                _log(
                    self._order,
                    f"try {tries} to deliver {number_of(len(batch), 'event')}: {failure}",
                )
            else:
                self._delivery.succeeded(len(batch))
        if self._delivery.empty:
            self._file.write(self._read)
        elif self._delivery.delivered:
            self._file.write(self._delivery.delivered)

    def _is_orphaned(self) -> bool:
        now = time.monotonic()
        if dagman_lives():
            self._dagman_seen = now
        return now - self._dagman_seen >= ORPHANED_S


def _log(order: Order, text: str) -> None:
    """Add a line to the log of all processes of the DAG, `NAME.notify.log`."""
    with contextlib.suppress(OSError):
        path = f"{order.dag}.notify.log"
        fd = files.open_to_append(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        with open(fd, "a", encoding="utf-8", errors="backslashreplace") as file:
            if os.fstat(fd).st_size > MAX_LOG_BYTES:
                file.truncate(0)
            when = time.strftime("%m/%d/%y %H:%M:%S")
            file.write(f"{when} NOTIFY {order.number}: {text}\n")


def deliver(order: Order, events: Sequence[DagEvent]) -> None:
    """Hand events over, a program as lines of JSON on its standard input, a URL as a JSON array.

    Raises:
        NotDelivered: it was not accepted.
    """
    lines = [event.to_json() for event in events]
    if order.url:
        _post(order.url, f"[{','.join(lines)}]".encode())
    else:
        _run(order.program, "".join(f"{line}\n" for line in lines).encode())


def _run(program: Sequence[str], data: bytes) -> None:
    try:
        done = subprocess.run(  # noqa: S603  # as a script of the DAG, it is the user's own
            list(program),
            executable=program_path(program[0]),
            input=data,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=PROGRAM_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NotDelivered(f"{program[0]} has not ended within {PROGRAM_S:g} s") from None
    except (OSError, ValueError) as error:  # of a NUL
        raise NotDelivered(f"can't run {program[0]}: {error}") from None
    if done.returncode:
        raise NotDelivered(f"{program[0]} ended with exit code {done.returncode}")


def _post(url: str, data: bytes) -> None:
    import http.client
    import urllib.error
    import urllib.request

    class NoRedirect(urllib.request.HTTPRedirectHandler):
        """A redirection could lead events, and what the URL holds, elsewhere."""

        def redirect_request(self, *_: Any) -> None:
            return None

    headers = {"Content-Type": "application/json", "User-Agent": "condor_pydagman"}
    # the line was refused if it is not of http or https
    request = urllib.request.Request(url, data, headers, method="POST")  # noqa: S310
    handlers: list[Any] = [NoRedirect]
    if url[:6].lower() == "https:":
        from condor_pydagman.monitor.tls import client_context

        handlers.append(urllib.request.HTTPSHandler(context=client_context()))
    opener = urllib.request.build_opener(*handlers)
    try:
        with opener.open(request, timeout=TRY_S):
            return
    except (OSError, ValueError, http.client.HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()  # it holds the connection
        why = f"{type(error).__name__}: {error}"
        raise NotDelivered(f"the URL does not take it: {why}") from None


if __name__ == "__main__":
    sys.exit(main())
