"""The placements of a worker that are still to be done, in the order in which they are taken; and
files of directories, which are listed by threads of their own.
"""

from __future__ import annotations

import heapq
import json
import select
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.requests import Placement, Transfer
from condor_pydagman.data_requests.urls import Url
from condor_pydagman.placement.rules.attempts import Candidate
from condor_pydagman.placement.way import Progress

LONGEST_WAIT_S = 60.0  # between looks, if nobody wakes a thread
MAX_PUT_OFF = 1000  # of a directory, which may have millions
LOOK_S = 0.05  # between looks at what other processes give


class Work:
    """A placement on its way."""

    def __init__(
        self, number: int, placement: Placement, key: str, progress: Progress, single: bool = False
    ) -> None:
        self.number = number  # order in the request file; files of one directory have the same
        self.placement = placement  # what was asked for
        self.key = key  # see `rules.journal_text.key_of`
        # ways for a transfer; empty until they are known, and for other placements
        self.candidates: Sequence[Candidate] = ()
        self.current = 0  # number of the candidate that is tried
        self.ruled_out: set[int] = set()  # numbers of those that are not tried again
        # pairs of protocols whose services have failed since the last delay
        self.tried: set[int] = set()
        self.has_failed_service = False  # whether the last fault was one of a service
        self.attempts = 0  # begun so far
        self.progress = progress  # of the present attempt
        self.single = single  # whether it is one file of a directory or pattern


class RequestOrder:
    """Holds back what has to follow other requests of its file; used by several threads.

    Args:
        follows: for numbers of requests, those that have to end before; see
            `rules.request_order.follows`.
    """

    def __init__(self, follows: Mapping[int, frozenset[int]]) -> None:
        self._lock = threading.Lock()
        self._left = {number: set(before) for number, before in follows.items()}
        self._counted = {one for before in follows.values() for one in before}
        self._open: dict[int, int] = {}
        self._held: dict[int, Work] = {}

    def begin(self, number: int) -> None:
        """A piece of a request's work is there."""
        if number in self._counted:
            with self._lock:
                self._open[number] = self._open.get(number, 0) + 1

    def has_begun(self, number: int) -> bool:
        """Whether one that this request follows has to be done."""
        return any(one in self._open for one in self._left.get(number, ()))

    def hold(self, work: Work) -> bool:
        """Whether the work has to wait; `end` gives it back."""
        before = self._left.get(work.number, set())
        before.intersection_update(self._open)
        if before:
            self._held[work.number] = work
        return bool(before)

    def end(self, number: int) -> list[Work]:
        """A piece of a request's work has ended; what need not wait any more."""
        if number not in self._counted:
            return []
        with self._lock:
            self._open[number] -= 1
            if self._open[number]:
                return []
            for one in self._held:
                self._left[one].discard(number)
            free = [one for one in self._held if not self._left[one]]
            return [self._held.pop(one) for one in free]

    def followers(self, number: int) -> list[Work]:
        """What waits for a request, and is not to be done: it leaves."""
        with self._lock:
            found = [one for one in self._held if number in self._left[one]]
            return [self._held.pop(one) for one in found]


class WorkQueue:
    """Work for several threads: highest priority first, then in the order of the request file.

    Args:
        more: gives one that comes from elsewhere, and is asked when nothing else is ready; None if
            there is none now.  It must not wait: it is called under the lock of the queue.
        may_come: whether there may be more of those.
    """

    def __init__(
        self,
        stop: threading.Event,
        more: Callable[[], Work | None] = lambda: None,
        may_come: Callable[[], bool] = lambda: False,
    ) -> None:
        self._stop = stop
        self._more = more
        self._may_come = may_come
        self._changed = threading.Condition()
        self._ready: list[tuple[int, int, int, Work]] = []
        self._delayed: list[tuple[float, int, Work]] = []
        self._sequence = 0
        self._busy = 0

    def add(self, work: Work) -> None:
        """One more."""
        with self._changed:
            self._push(work)
            self._changed.notify()

    def delay(self, work: Work, until: float) -> None:
        """Work that is to be taken at a time, monotonic seconds."""
        with self._changed:
            self._sequence += 1
            heapq.heappush(self._delayed, (until, self._sequence, work))
            self._changed.notify()

    def has_other(self, work: Work) -> bool:
        """Whether something else may be ready, and the work can be put off by `delay` meanwhile."""
        with self._changed:
            if work.single and len(self._delayed) >= MAX_PUT_OFF:
                return False
            is_due = self._delayed and self._delayed[0][0] <= time.monotonic()
            return bool(self._ready or is_due or self._may_come())

    def take(self, *, wait: bool) -> Work | None:
        """The next one; None if there is no more, or if it does not `wait` and none is ready.

        Whoever takes work must call `ended` afterwards.
        """
        with self._changed:
            while True:
                now = time.monotonic()
                while self._delayed and (self._delayed[0][0] <= now or self._stop.is_set()):
                    self._push(heapq.heappop(self._delayed)[2])
                found = heapq.heappop(self._ready)[3] if self._ready else self._more()
                if found is not None:
                    self._busy += 1
                    return found
                may_come = self._may_come()
                if not wait or not (self._delayed or self._busy or may_come):
                    return None
                until = self._delayed[0][0] - now if self._delayed else LONGEST_WAIT_S
                self._changed.wait(min(until, LOOK_S if may_come else LONGEST_WAIT_S))

    def ended(self) -> None:
        """Work that was taken is done with, or was given back by `add` or `delay` before."""
        with self._changed:
            self._busy -= 1
            if not self._busy:
                self._changed.notify_all()

    def wake(self) -> None:
        """Let all that wait look again: there is more, or the worker is to stop."""
        with self._changed:
            self._changed.notify_all()

    def _push(self, work: Work) -> None:
        self._sequence += 1
        heapq.heappush(self._ready, (-work.placement.priority, work.number, self._sequence, work))


_MAX_BYTES = 1 << 20  # of one file: more than the system takes


class SharedFiles:
    """Files of directories, between the threads that list them and those of all processes of a
    worker that transfer them.

    All have the same socket: who lists puts files into it while there is room, so a directory of a
    million files takes no memory, and who has nothing else to do takes one.  The kernel tells its
    end, also if a process is killed.  It is made before the processes, each of which closes what it
    needs no more.
    """

    def __init__(self) -> None:
        self._in, self._out = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._in.setblocking(False)
        self._out.setblocking(False)
        self.is_over = False  # whether `take` has come to the end

    def give(self, number: int, file: Transfer, seconds: float) -> bool:
        """Put a file in, and the number of its request; False if there is no room for so long.

        Raises:
            Fault: there is never room for it.
        """
        data = json.dumps((number, file)).encode()
        try:
            select.select((), (self._in,), (), seconds)
            self._in.send(data)
        except BlockingIOError:
            return False
        except OSError as error:
            raise Fault(FaultKind.REQUEST, f"{file.source}: {error.strerror}") from None
        return True

    def take(self) -> tuple[int, Transfer] | None:
        """The number of a request and a file of it; None if there is none now."""
        try:
            data = self._out.recv(_MAX_BYTES)
        except BlockingIOError:
            return None
        if not data:
            self.is_over = True
            return None
        number, (source, destination, *rest) = json.loads(data)
        return number, Transfer(Url(*source), Url(*destination), *map(_with_tuples, rest))

    def end_giving(self) -> None:
        """This process puts no more in."""
        self._in.close()

    def close(self) -> None:
        """This process neither gives nor takes."""
        self._in.close()
        self._out.close()


def _with_tuples(value: Any) -> Any:
    """What JSON made a list of was a tuple."""
    return tuple(map(_with_tuples, value)) if isinstance(value, list) else value
