"""The process that makes rounds of matchmaking for DAGMan, so that a collector which hangs holds up
nothing else.  It is forked for the first round, and leaves when there is nothing to do.
"""

from __future__ import annotations

import select
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Union

from condor_pydagman.adapters.child import Child, watched
from condor_pydagman.adapters.process_shortage import ProcessShortage
from condor_pydagman.errors import PydagmanError
from condor_pydagman.matchmaking.matcher import Match, Matcher, Round
from condor_pydagman.matchmaking.site_ads import KnownAd
from condor_pydagman.sites.choice import Wanted

TIMEOUT_S = 90.0  # for a round
STAYS_S = 5.0  # after the sites that it knows have become old


class FindSites(NamedTuple):
    """Make a round, as in `Matcher.round`.  Result: Round, or why there is none, in words."""

    claims: Sequence[tuple[int, str]]
    wanted: Sequence[Wanted]
    watched: Sequence[tuple[int, str]]


Result = Union[Round, str]
Then = Callable[[Any], None]


class MatchProcess:
    """Hands rounds over to a child; see `adapters.schedd_process.Helper`.

    Args:
        make: makes the Matcher, in the child; it may raise PydagmanError.
        epoll: becomes readable when the child has answered or has ended.
        interval_s: seconds for which sites are taken as known.
        clock: monotonic seconds.
        warn: is told what is unusual.
    """

    def __init__(
        self,
        make: Callable[[], Matcher],
        epoll: select.epoll,
        interval_s: float,
        clock: Callable[[], float],
        warn: Callable[[str], None],
    ) -> None:
        self._make = make
        self._epoll = epoll
        self._interval_s = interval_s
        self._clock = clock
        self._child: Child | None = None
        self._matcher: Matcher | None = None  # in the child
        self._waiting: deque[tuple[FindSites, Then]] = deque()  # the first one is being made
        self._until: float | None = None
        self._results: list[tuple[Then, Any]] = []
        self._shortage = ProcessShortage("look for sites", clock, warn)

    @property
    def busy(self) -> bool:
        """Whether a round is still to be made."""
        return bool(self._waiting or self._results)

    def next_deadline(self) -> float | None:
        """When to call `results` though no child has answered, monotonic seconds."""
        if not self._waiting:
            return None
        return self._until if self._until is not None else self._shortage.retry_at

    def ask(self, request: FindSites, then: Then) -> None:
        """Make a round; `then` is given its result later."""
        self._waiting.append((request, then))
        if len(self._waiting) == 1:
            self._begin()

    def results(self) -> list[tuple[Then, Any]]:
        """The rounds that have been made."""
        if self._child is not None:
            self._receive(self._child)
        if self._waiting and self._until is None:
            self._begin()
        elif self._until is not None and self._clock() >= self._until:
            self._end_child()
            self._found(f"no answer within {TIMEOUT_S:.0f} s")
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
        self._until = self._clock() + TIMEOUT_S
        child.send(list(self._waiting[0][0]), self._interval_s + STAYS_S)

    def _fork(self) -> Child:
        return watched(Child(self._serve), self._epoll)

    def _serve(self, request: list[Any]) -> dict[str, Any]:
        claims, wanted, watched_ones = request
        try:
            if self._matcher is None:
                self._matcher = self._make()
            groups = [_wanted(*one) for one in wanted]
            return {"round": self._matcher.round(claims, groups, watched_ones)}
        except PydagmanError as error:
            return {"error": str(error)}
        except Exception as error:  # whatever it is, it is told
            return {"error": " ".join(str(error).split()) or type(error).__name__}

    def _receive(self, child: Child) -> None:
        try:
            messages = child.receive()
        except EOFError:
            idle = child.idle
            self._end_child()
            if self._waiting and not idle:
                self._found("the process that looks for sites has died")
            return
        for message in messages:
            self._found(message["error"] if "error" in message else _round(message["round"]))

    def _end_child(self) -> None:
        child, self._child, self._until = self._child, None, None
        if child is not None:
            self._epoll.unregister(child.fileno())
            child.kill()

    def _found(self, result: Result) -> None:
        _, then = self._waiting.popleft()
        self._until = None
        self._results.append((then, result))
        if self._waiting:
            self._begin()


def _wanted(group: int, kind: int, only: str, last: list[str], never: list[str]) -> Wanted:
    return Wanted(group, kind, only, tuple(last), tuple(never))


def _round(told: list[Any]) -> Round:
    matches, sites, reasons, unfit, ads, without_room = told
    return Round(
        [Match(*one) for one in matches],
        sites,
        [(kind, text) for kind, text in reasons],
        unfit,
        {digest: KnownAd(*ad) for digest, ad in ads.items()},
        without_room,
    )
