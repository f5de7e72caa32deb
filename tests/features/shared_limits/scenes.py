"""Shared limits, in scenes: what others have of them, and what the DAG is given."""

from __future__ import annotations

from collections.abc import Iterable

from condor_pydagman.features.shared_limits.definitions import Kind, Limit, parse
from condor_pydagman.features.shared_limits.fair_shares import decide
from condor_pydagman.features.shared_limits.limit_claims import LimitClaims, Part, PlacesClaim
from condor_pydagman.features.shared_limits.messages import (
    PlacesGiven,
    PlacesUnknown,
    PlacesWanted,
    TakePlaces,
)
from tests.scenes.phrases import Told, phrase
from tests.scenes.stage import Stage, answers, fact


class Shared:
    """What the directory of shared limits has."""

    def __init__(self) -> None:
        self.limits: dict[str, Limit] = {}
        self.others: list[LimitClaims] = []
        self.own = LimitClaims("t.dag", "t", {})

    def give(self, request: TakePlaces, now: float) -> PlacesGiven:
        """The places that the DAG gets."""
        outcome = decide(self.own, self.others, self.limits, request.demands, now)
        self.own = outcome.claims
        return PlacesGiven(outcome.grants, outcome.contested, outcome.again_s)


@phrase("shared limit <name>: <text>")
def _limit(stage: Stage, name: str, places: str) -> None:
    """How many places it has, such as `JOBS 2 PRE 1`."""
    limits = stage.part(Shared).limits
    limits.update({limit.key: limit for limit in parse(f"{name} = {places}", "test")})


@phrase("others have <held> of <name>[ and want <wanted>]")
def _others(stage: Stage, held: str, name: str, wanted: str) -> None:
    """Other DAGs, from now on, of its jobs."""
    most = int(wanted or held)
    since = stage.harness.now if most > int(held) else 0.0
    claim = PlacesClaim(int(held), int(held), most, since, int(held))
    stage.part(Shared).others = [LimitClaims("o", "o", {name: Part({Kind.JOBS: claim})}, "o")]


@phrase("others ask for places")
def _asked(_: Stage) -> Told:
    yield PlacesWanted()


@phrase("places can't be asked for: <text>")
def _unknown(stage: Stage, why: str) -> Told:
    stage.unanswered = []
    yield PlacesUnknown(why)


@answers(TakePlaces)
def _given(stage: Stage, request: TakePlaces) -> Iterable[PlacesGiven]:
    yield stage.part(Shared).give(request, stage.harness.now)


@fact("places")
def _places(stage: Stage) -> str:
    """Those for jobs that the DAG has, of each limit."""
    shared = stage.part(Shared)
    return ", ".join(f"{one} {shared.own.claim(one, Kind.JOBS).held}" for one in shared.limits)


@fact("in use")
def _in_use(stage: Stage) -> str:
    """Those of them that others take for used."""
    shared = stage.part(Shared)
    return ", ".join(f"{one} {shared.own.claim(one, Kind.JOBS).used}" for one in shared.limits)
