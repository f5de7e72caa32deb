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
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from condor_pydagman.adapters.child import Child, ProcessShortage, watched
from condor_pydagman.errors import PydagmanError

Then = Callable[[Any], None]


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

    # In DAGMan.

    def begin(self, epoll: select.epoll) -> None:  # noqa: B027  # most have nothing to say unasked
        """Have it become readable when there is something to say without being asked."""

    def unasked(self) -> Sequence[Any]:
        """What is to be said to the engine without being asked."""
        return ()

    def end(self, epoll: select.epoll) -> None:  # noqa: B027
        """DAGMan ends."""

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


class HelperProcess:
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
        self.helper = helper
        self._epoll = epoll
        self._clock = clock
        self._messages = Messages(helper.kinds)
        self._child: Child | None = None
        self._waiting: deque[tuple[Any, Then]] = deque()  # the first one is being done
        self._until: float | None = None
        self._results: list[tuple[Then, Any]] = []
        self._shortage = ProcessShortage(helper.purpose, clock, warn)
        self._tell: Then | None = None  # who has asked last
        helper.begin(epoll)
        self._is_limited = not helper.max_bytes  # in the process: its memory

    @property
    def busy(self) -> bool:
        """Whether an order is still to be done."""
        return bool(self._waiting or self._results)

    @property
    def rests(self) -> bool:
        """Whether another one could go on in its place: nothing is being done, and no process is
        there."""
        return self.helper.is_like_new and self._child is None and not self.busy

    def next_deadline(self) -> float | None:
        """When to call `results` though no process has answered, monotonic seconds."""
        if self._results:
            return self._clock()
        if not self._waiting:
            return None
        return self._until if self._until is not None else self._shortage.retry_at

    def ask(self, request: Any, then: Then) -> None:
        """Do what is asked; `then` is given the reply later, or several that are parts of it."""
        self._tell = then
        try:
            orders = self.helper.orders(request)
        except PydagmanError as error:
            self._results.append((then, self.helper.failed(request, str(error))))
            return
        idle = not self._waiting
        self._waiting.extend((order, then) for order in orders)
        if idle and orders:
            self._begin()

    def results(self) -> list[tuple[Then, Any]]:
        """What has been done."""
        unasked = self.helper.unasked()
        if self._tell is not None:
            self._results += [(self._tell, reply) for reply in unasked]
        if self._child is not None:
            self._receive(self._child)
        if self._waiting and self._until is None:
            self._begin()
        elif self._until is not None and self._clock() >= self._until:
            self._end_child()
            self._fail(self._in_words(self.helper.late))
        results, self._results = self._results, []
        return results

    def end(self) -> None:
        """Give up."""
        self._waiting.clear()
        self._results.clear()
        self._end_child()
        self.helper.end(self._epoll)

    def _begin(self) -> None:
        child = self._child or self._shortage.started(self._fork)
        if child is None:
            return
        self._child = child
        order = self._waiting[0][0]
        self._until = self._clock() + self.helper.time_limit(order, self.helper.timeout_s)
        child.send(self._messages.encoded(order), self.helper.knows_s + self.helper.stays_s)

    def _fork(self) -> Child:
        return watched(Child(self._serve), self._epoll)

    def _serve(self, message: Any) -> Any:
        """In the process: why nothing has come of an order, or the answer."""
        if not self._is_limited:
            self._is_limited = True
            _limit_memory(self.helper.max_bytes)
        try:
            answer = self.helper.serve(self._messages.decoded(message))
        except Exception as error:  # whatever it is, it is told
            return [error_text(error), None]
        return [None, self._messages.encoded(answer)]

    def _receive(self, child: Child) -> None:
        try:
            messages = child.receive()
        except EOFError:
            idle = child.idle
            self._end_child()
            if self._waiting and not idle:
                self._fail(self._in_words(self.helper.died))
            return
        for why, answer in messages:
            if why is not None:
                self._fail(why)
            else:
                order, _ = self._waiting[0]
                self._found(self.helper.reply(order, self._messages.decoded(answer)))

    def _end_child(self) -> None:
        child, self._child, self._until = self._child, None, None
        if child is not None:
            self._epoll.unregister(child.fileno())
            child.kill()

    def _in_words(self, limit: str) -> str:
        most = self.helper
        return limit.format(seconds=round(most.timeout_s), megabytes=most.max_bytes >> 20)

    def _fail(self, reason: str) -> None:
        """Nothing has come of the first order."""
        order, then = self._waiting[0]
        orders = self.helper.instead(order, reason)
        if not orders:
            self._found(self.helper.failed(order, reason))
            return
        self._waiting.popleft()
        self._waiting.extendleft((one, then) for one in reversed(orders))
        self._begin()

    def _found(self, reply: Any) -> None:
        _, then = self._waiting.popleft()
        self._until = None
        self._results.append((then, reply))
        if self._waiting:
            self._begin()


def error_text(error: Exception) -> str:
    """An error in words, one that is not expected in a line."""
    if isinstance(error, PydagmanError):
        return str(error)
    return " ".join(str(error).split()) or type(error).__name__


def _limit_memory(more: int) -> None:
    with open("/proc/self/statm", encoding="ascii") as file:
        pages = int(file.read().split()[0])
    most = pages * resource.getpagesize() + more
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


_TUPLE, _DICT = "", "{}"


class Messages:
    """The messages of one helper.

    Args:
        kinds: all named tuples and numbers with names that are in its messages.
    """

    def __init__(self, kinds: Iterable[type]) -> None:
        self._kinds: dict[str, Any] = {kind.__name__: kind for kind in kinds}
        self._kinds[_TUPLE] = lambda *values: values
        self._kinds[_DICT] = lambda *pairs: dict(pairs)

    def encoded(self, value: Any) -> Any:
        """A value in what JSON knows."""
        if isinstance(value, tuple):
            name = type(value).__name__ if type(value) is not tuple else _TUPLE
            assert name in self._kinds, name
            return {name: [self.encoded(one) for one in value]}
        if isinstance(value, list):
            return [self.encoded(one) for one in value]
        if isinstance(value, dict):
            return {_DICT: [self.encoded(pair) for pair in value.items()]}
        name = type(value).__name__
        return {name: [int(value)]} if name in self._kinds else value

    def decoded(self, message: Any) -> Any:
        """The value."""
        if isinstance(message, list):
            return [self.decoded(one) for one in message]
        if isinstance(message, dict):
            ((name, values),) = message.items()
            return self._kinds[name](*map(self.decoded, values))
        return message
