"""The process that evaluates conditions and reads what nodes publish: an expression that does not
end, needs much memory or kills the bindings, and a file system that hangs, hold up nothing else.

It is forked for the first request, and leaves when there is nothing to do.  If it dies or takes too
long, conditions that were asked for together are asked for one by one, and the one that fails then
is told to have no value.
"""

from __future__ import annotations

import resource
import select
from collections.abc import Callable, Sequence
from typing import Any, Union

from condor_pydagman.adapters.child_queue import ChildQueue, Serve, reason_of
from condor_pydagman.adapters.classad_values import BadResult, read_result
from condor_pydagman.adapters.condition_evaluation import UNKNOWN, evaluate
from condor_pydagman.named_tuple import NamedTuple

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


class ConditionProcess(ChildQueue):
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
        super().__init__(
            "evaluate conditions",
            epoll,
            clock,
            warn,
            timeout_s=timeout_s,
            died=f"its process has died: it may take {MAX_MEMORY >> 20} MB of memory",
            late=f"it took more than {timeout_s:.0f} s",
        )

    def _server(self) -> Serve:
        return _Limit().serve

    def _message(self, request: Request) -> tuple[Any, float]:
        return [isinstance(request, Evaluate), request], STAYS_S

    def _result(self, request: Request, answer: list[Any]) -> Any:
        if isinstance(request, Evaluate):
            return [(int(value), str(text)) for value, text in answer]
        return str(answer[1]) or [(name, text) for name, text in answer[0]]

    def _fail(self, reason: str) -> None:
        """The present request has come to nothing."""
        request = self._waiting[0][0]
        if isinstance(request, Evaluate) and len(request.conditions) > 1:
            self._split()
        else:
            self._found([(UNKNOWN, reason)] if isinstance(request, Evaluate) else reason)

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
            return [[], reason_of(error)]


def _limit_memory() -> None:
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[0])
    most = pages * resource.getpagesize() + MAX_MEMORY
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
