"""The process that makes rounds of matchmaking for DAGMan, so that a collector which hangs holds up
nothing else.  It is forked for the first round, and leaves when there is nothing to do.
"""

from __future__ import annotations

import select
from collections.abc import Callable, Sequence
from typing import Any, Union

from condor_pydagman.adapters.child_queue import ChildQueue, Serve, reason_of
from condor_pydagman.errors import PydagmanError
from condor_pydagman.matchmaking.matcher import Match, Matcher, Round
from condor_pydagman.matchmaking.site_ads import KnownAd
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.sites.choice import Wanted

TIMEOUT_S = 90.0  # for a round
STAYS_S = 5.0  # after the sites that it knows have become old


class FindSites(NamedTuple):
    """Make a round, as in `Matcher.round`.  Result: Round, or why there is none, in words."""

    claims: Sequence[tuple[int, str]]
    wanted: Sequence[Wanted]
    watched: Sequence[tuple[int, str]]
    few: Sequence[tuple[str, int]] = ()


Result = Union[Round, str]


class MatchProcess(ChildQueue):
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
        super().__init__(
            "look for sites",
            epoll,
            clock,
            warn,
            timeout_s=TIMEOUT_S,
            died="the process that looks for sites has died",
            late=f"no answer within {TIMEOUT_S:.0f} s",
        )
        self._make = make
        self._interval_s = interval_s
        self._matcher: Matcher | None = None  # in the child

    def _server(self) -> Serve:
        return self._serve

    def _message(self, request: FindSites) -> tuple[Any, float]:
        return list(request), self._interval_s + STAYS_S

    def _result(self, request: FindSites, answer: dict[str, Any]) -> Result:
        return answer["error"] if "error" in answer else _round(answer["round"])

    def _serve(self, request: list[Any]) -> dict[str, Any]:
        claims, wanted, watched, few = request
        try:
            if self._matcher is None:
                self._matcher = self._make()
            groups = [_wanted(*one) for one in wanted]
            return {"round": self._matcher.round(claims, groups, watched, dict(few))}
        except PydagmanError as error:
            return {"error": str(error)}
        except Exception as error:  # whatever it is, it is told
            return {"error": reason_of(error)}


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
