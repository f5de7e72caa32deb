"""What DAGMan has done by a process of its own, so that what hangs, dies or needs much memory holds
up nothing else.

A helper says what is to be done, and what it means when nothing comes of it.  Its process does one
order after the other; it is forked for the first one, has the code that DAGMan has loaded, and
leaves when there has been nothing to do for a while.
"""

from __future__ import annotations

import resource
import select
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from condor_pydagman.adapters.child import Call, Calls, Child, Then
from condor_pydagman.adapters.processes import error_text
from condor_pydagman.errors import PydagmanError


class Waker(Protocol):
    """Is woken by others; see `features.common.adapters.job_claims`."""

    def begin(self, epoll: select.epoll) -> None:
        """Have it become readable when somebody wakes DAGMan."""

    def was_woken(self) -> bool:
        """Whether somebody has, since the last call."""

    def end(self, epoll: select.epoll) -> None:
        """Hear nobody any more."""


class Helper(ABC):
    """What is done by one process.  An order is what the process is sent for a request, or for a
    part of one.
    """

    purpose: str  # what can't be done while the machine is short of processes, in words
    # why an order has come to nothing whose process has died, or takes too long; in braces
    # `seconds` and `megabytes` of what it may take
    died: str
    late: str
    # all named tuples and numbers with names that are in orders and answers
    kinds: tuple[type, ...] = ()
    timeout_s: float  # seconds that one order may take
    stays_s: float  # seconds for which the process stays without an order
    max_bytes = 0  # of memory that the process may take beyond what DAGMan had; 0: no limit
    # seconds for which the process stays besides, since it knows what it has found out
    knows_s = 0.0
    is_like_new = False  # whether another one, made later, could go on in its place

    # by which others wake DAGMan, and what the engine is told then; None: nobody does
    waker: Waker | None = None
    woken: Any = None

    # In DAGMan.

    def give_up(self) -> None:  # noqa: B027
        """The DAG has ended: nothing is kept for it any more."""

    def orders(self, request: Any) -> Sequence[Any]:
        """What is to be done for a request.

        Raises:
            PydagmanError: it can't be done.
        """
        return (request,)

    def reply(self, order: Any, answer: Any) -> Any:
        """What the engine is told when the process has answered."""
        return answer

    @abstractmethod
    def failed(self, order: Any, reason: str) -> Any:
        """What the engine is told when nothing has come of an order, or of a request."""

    def instead(self, order: Any, reason: str) -> Sequence[Any]:
        """What is to be done instead of an order of which nothing has come; most often nothing."""
        return ()

    def time_limit(self, order: Any, usual_s: float) -> float:
        """Seconds that an order may take."""
        return usual_s

    # In the process.

    @abstractmethod
    def serve(self, order: Any) -> Any:
        """Do it; returns the answer.  What it raises is the reason that `failed` is told."""


class HelperProcess(Calls):
    """The orders of a helper, and the process that does them.

    Args:
        epoll: becomes readable when the process has answered or has ended.
        clock: monotonic seconds.
        warn: is told what is unusual.
    """

    def __init__(
        self,
        helper: Helper,
        epoll: select.epoll,
        clock: Callable[[], float],
        warn: Callable[[str], None],
    ) -> None:
        super().__init__(helper.purpose, epoll, clock, warn)
        self.helper = helper
        self.died, self.late = self._in_words(helper.died), self._in_words(helper.late)
        self._tell: Then | None = None  # who has asked last
        if helper.waker is not None:
            helper.waker.begin(epoll)
        self._must_limit = bool(helper.max_bytes)  # in the process, before its first order

    @property
    def rests(self) -> bool:
        """Whether another one could go on in its place: nothing is being done, and no process is
        there."""
        return self.helper.is_like_new and self._child is None and not self.busy

    def next_deadline(self) -> float | None:
        """When to call `results` though no process has answered, monotonic seconds."""
        return self._clock() if self._results else super().next_deadline()

    def ask(self, request: Any, then: Then) -> None:
        """Do what is asked; `then` is given the reply later, or several that are parts of it."""
        self._tell = then
        try:
            orders = self.helper.orders(request)
        except PydagmanError as error:
            self._results.append((then, self.helper.failed(request, str(error))))
            return
        self._add(Call(order, then) for order in orders)

    def results(self) -> list[tuple[Then, Any]]:
        """What has been done."""
        waker = self.helper.waker
        if waker is not None and waker.was_woken() and self._tell is not None:
            self._results.append((self._tell, self.helper.woken))
        return super().results()

    def end(self) -> None:
        """Give up."""
        super().end()
        if self.helper.waker is not None:
            self.helper.waker.end(self._epoll)

    def _made(self) -> Child:
        return Child(self._serve, self.helper.kinds)

    def _send(self, child: Child, order: Any) -> None:
        helper = self.helper
        self._give_up_at = self._clock() + helper.time_limit(order, helper.timeout_s)
        child.send(order, helper.knows_s + helper.stays_s)

    def _serve(self, order: Any) -> list[Any]:
        """In the process: why nothing has come of an order, or the answer."""
        if self._must_limit:
            self._must_limit = False
            _limit_memory(self.helper.max_bytes)
        try:
            return [None, self.helper.serve(order)]
        except Exception as error:  # whatever it is, it is told
            return [error_text(error), None]

    def _answered(self, call: Call, answer: list[Any]) -> None:
        why, found = answer
        if why is not None:
            self._lost(call, why)
        else:
            super()._answered(call, self.helper.reply(call.request, found))

    def _lost(self, call: Call, reason: str) -> None:
        orders = self.helper.instead(call.request, reason)
        self._waiting.extendleft(Call(order, call.then) for order in reversed(orders))
        if not orders:
            super()._answered(call, self.helper.failed(call.request, reason))

    def _in_words(self, limit: str) -> str:
        most = self.helper
        return limit.format(seconds=round(most.timeout_s), megabytes=most.max_bytes >> 20)


def _limit_memory(more: int) -> None:
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[0])
    most = pages * resource.getpagesize() + more
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
