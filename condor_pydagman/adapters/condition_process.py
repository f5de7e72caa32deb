"""The process that evaluates conditions and reads what nodes publish: an expression that does not
end, needs much memory or kills the bindings, and a file system that hangs, hold up nothing else.

It is forked for the first request, and leaves when there is nothing to do.  If it dies or takes too
long, conditions that were asked for together are asked for one by one, and the one that fails then
is told to have no value.
"""

from __future__ import annotations

import resource
import select
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Union

from condor_pydagman.adapters.child import Child, watched
from condor_pydagman.adapters.classad_values import BadResult, read_result
from condor_pydagman.adapters.condition_evaluation import UNKNOWN, evaluate
from condor_pydagman.adapters.process_shortage import ProcessShortage

TIMEOUT_S = 10.0  # for a request
MAX_MEMORY = 256 << 20  # bytes that it may take beyond what DAGMan had
STAYS_S = 10.0  # without a request


class Condition(NamedTuple):
    """An expression, the ad that it is evaluated in, and the parts of it that are shown."""

    expression: str
    ad: str
    shown: tuple[tuple[str, str], ...] = ()


class Evaluate(NamedTuple):
    """Evaluate conditions.  Result: for each, its value and by what, as `evaluate` gives them."""

    conditions: Sequence[Condition]


class ReadPublished(NamedTuple):
    """Read a file with what a node publishes.  Result: names and values, or why there are none."""

    path: str


Request = Union[Evaluate, ReadPublished]
Verdict = tuple[int, str]
Then = Callable[[Any], None]


class ConditionProcess:
    """Hands requests over to a child; see `adapters.schedd_process.Helper`.

    Args:
        epoll: becomes readable when the child has answered or has ended.
        clock: monotonic seconds.
        warn: is told what is unusual.
        timeout_s: seconds that a request may take.
    """

    def __init__(
        self,
        epoll: select.epoll,
        clock: Callable[[], float],
        warn: Callable[[str], None],
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._epoll = epoll
        self._clock = clock
        self._timeout_s = timeout_s
        self._child: Child | None = None
        self._waiting: deque[tuple[Request, Then]] = deque()  # the first one is being done
        self._until: float | None = None
        self._results: list[tuple[Then, Any]] = []
        self._shortage = ProcessShortage("evaluate conditions", clock, warn)

    @property
    def busy(self) -> bool:
        """Whether a request is still to be done."""
        return bool(self._waiting or self._results)

    def next_deadline(self) -> float | None:
        """When to call `results` though no child has answered, monotonic seconds."""
        if not self._waiting:
            return None
        return self._until if self._until is not None else self._shortage.retry_at

    def ask(self, request: Request, then: Then) -> None:
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
            self._fail(f"it took more than {self._timeout_s:.0f} s")
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
        self._until = self._clock() + self._timeout_s
        request = self._waiting[0][0]
        child.send([isinstance(request, Evaluate), request], STAYS_S)

    def _fork(self) -> Child:
        limited = _Limit()
        return watched(Child(limited.serve), self._epoll)

    def _receive(self, child: Child) -> None:
        try:
            messages = child.receive()
        except EOFError:
            idle = child.idle
            if idle or not self._waiting:
                self._end_child()
            else:
                self._fail(f"its process has died: it may take {MAX_MEMORY >> 20} MB of memory")
            return
        for message in messages:
            self._found(message)

    def _end_child(self) -> None:
        child, self._child, self._until = self._child, None, None
        if child is not None:
            self._epoll.unregister(child.fileno())
            child.kill()

    def _fail(self, reason: str) -> None:
        """The present request has come to nothing."""
        self._end_child()
        request = self._waiting[0][0]
        if isinstance(request, Evaluate) and len(request.conditions) > 1:
            self._split()
        else:
            self._found([[UNKNOWN, reason]] if isinstance(request, Evaluate) else [[], reason])

    def _split(self) -> None:
        """Ask one by one for what was asked for together."""
        request, then = self._waiting.popleft()
        assert isinstance(request, Evaluate)
        verdicts: list[Verdict] = []

        def collect(found: Sequence[Verdict]) -> None:
            verdicts.extend(found)
            if len(verdicts) == len(request.conditions):
                then(verdicts)

        for one in reversed(request.conditions):
            self._waiting.appendleft((Evaluate((one,)), collect))
        self._begin()

    def _found(self, answer: list[Any]) -> None:
        request, then = self._waiting.popleft()
        self._until = None
        if isinstance(request, Evaluate):
            result: Any = [(int(value), str(text)) for value, text in answer]
        else:
            result = str(answer[1]) or [(name, text) for name, text in answer[0]]
        self._results.append((then, result))
        if self._waiting:
            self._begin()


class _Limit:
    """Serves in the child, which may take so much memory and no more."""

    def __init__(self) -> None:
        self._is_set = False

    def serve(self, request: list[Any]) -> list[Any]:
        """Do a request; the answer is what JSON knows."""
        if not self._is_set:
            self._is_set = True
            _limit_memory()
        evaluates, (wanted, *_) = request
        if evaluates:
            return [evaluate(*one) for one in wanted]
        try:
            return [read_result(wanted), ""]
        except BadResult as error:
            return [[], str(error)]
        except Exception as error:  # whatever it is, it is told
            return [[], " ".join(str(error).split()) or type(error).__name__]


def _limit_memory() -> None:
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[0])
    most = pages * resource.getpagesize() + MAX_MEMORY
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
