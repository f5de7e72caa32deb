"""Requests that a child process does one after the other, so that what hangs holds up nothing else.

The child is forked for the first request, and leaves when there has been nothing to do for a while.
"""

from __future__ import annotations

import select
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Any

from condor_pydagman.adapters.child import Child, watched
from condor_pydagman.adapters.process_shortage import ProcessShortage

Then = Callable[[Any], None]
Serve = Callable[[Any], Any]


def reason_of(error: Exception) -> str:
    """An unexpected error in a line."""
    return " ".join(str(error).split()) or type(error).__name__


class ChildQueue(ABC):
    """The requests; see `adapters.schedd_process.Helper`.

    A class that is made of this one says what a child serves, what it is sent for a request, and
    what its answer means.

    Args:
        what: what can't be done while the machine is short of processes, in words.
        epoll: becomes readable when the child has answered or has ended.
        clock: monotonic seconds.
        warn: is told what is unusual.
        timeout_s: seconds that a request may take.
        died, late: why a request has come to nothing whose child has died, or takes longer.
    """

    def __init__(
        self,
        what: str,
        epoll: select.epoll,
        clock: Callable[[], float],
        warn: Callable[[str], None],
        *,
        timeout_s: float,
        died: str,
        late: str,
    ) -> None:
        self._epoll = epoll
        self._clock = clock
        self._timeout_s = timeout_s
        self._died = died
        self._late = late
        self._child: Child | None = None
        self._waiting: deque[tuple[Any, Then]] = deque()  # the first one is being done
        self._until: float | None = None
        self._results: list[tuple[Then, Any]] = []
        self._shortage = ProcessShortage(what, clock, warn)

    # What the class made of this one says.

    @abstractmethod
    def _server(self) -> Serve:
        """What serves in a new child: from what it is sent to its answer."""

    @abstractmethod
    def _message(self, request: Any) -> tuple[Any, float]:
        """What the child is sent, and for how many seconds it stays without another request."""

    @abstractmethod
    def _result(self, request: Any, answer: Any) -> Any:
        """The result of a request that the child has answered."""

    def _time_limit(self, request: Any) -> float:
        """Seconds that a request may take."""
        return self._timeout_s

    def _fail(self, reason: str) -> None:
        """The present request has come to nothing."""
        self._found(reason)

    # The queue.

    @property
    def busy(self) -> bool:
        """Whether a request is still to be done."""
        return bool(self._waiting or self._results)

    def next_deadline(self) -> float | None:
        """When to call `results` though no child has answered, monotonic seconds."""
        if not self._waiting:
            return None
        return self._until if self._until is not None else self._shortage.retry_at

    def ask(self, request: Any, then: Then) -> None:
        """Do a request; `then` is given its result later."""
        self._waiting.append((request, then))
        if len(self._waiting) == 1:
            self._begin()

    def results(self) -> list[tuple[Then, Any]]:
        """What has been done."""
        if self._child is not None:
            self._receive(self._child)
        if self._waiting and self._until is None:
            self._begin()
        elif self._until is not None and self._clock() >= self._until:
            self._end_child()
            self._fail(self._late)
        results, self._results = self._results, []
        return results

    def end(self) -> None:
        """Give up."""
        self._waiting.clear()
        self._end_child()

    def _begin(self) -> None:
        child = self._child or self._shortage.started(self._fork)
        if child is None:
            return
        self._child = child
        self._until = self._clock() + self._time_limit(self._waiting[0][0])
        child.send(*self._message(self._waiting[0][0]))

    def _fork(self) -> Child:
        return watched(Child(self._server()), self._epoll)

    def _receive(self, child: Child) -> None:
        try:
            messages = child.receive()
        except EOFError:
            idle = child.idle
            self._end_child()
            if self._waiting and not idle:
                self._fail(self._died)
            return
        for message in messages:
            self._found(self._result(self._waiting[0][0], message))

    def _end_child(self) -> None:
        child, self._child, self._until = self._child, None, None
        if child is not None:
            self._epoll.unregister(child.fileno())
            child.kill()

    def _found(self, result: Any) -> None:
        _, then = self._waiting.popleft()
        self._until = None
        self._results.append((then, result))
        if self._waiting:
            self._begin()
