"""Groups of nodes and sites for them, in scenes."""

from __future__ import annotations

from collections.abc import Iterable

from condor_pydagman.engine import actions as do
from condor_pydagman.features.sites.commands import GroupsOfDag
from condor_pydagman.features.sites.messages import (
    MatchSites,
    PlaceFree,
    SitesMatched,
    SitesUnknown,
)
from condor_pydagman.features.sites.run import Sites
from condor_pydagman.features.sites.states import GroupState
from tests.features.sites.matched import Places, sites_of
from tests.scenes.phrases import Told, phrase
from tests.scenes.stage import Stage, answers, fact
from tests.scenes.words import Words, in_words


class Matcher:
    """What looks for sites; `is_down`: it can't ask the collector; `unfit`: groups of which the
    next answer says so."""

    def __init__(self) -> None:
        self.places = Places()
        self.is_down = False
        self.unfit: list[int] = []


def _sites(stage: Stage) -> Sites:
    return sites_of(stage.harness)


@phrase("sites <text>")
def _there_are(stage: Stage, rooms: str) -> None:
    """From now on, with the number of their places: `s:1 t:1`; `none`."""
    stage.part(Matcher).places = Places("" if rooms == "none" else rooms)


@phrase("the collector (is down|answers)")
def _collector(stage: Stage, does: str) -> None:
    stage.part(Matcher).is_down = does == "is down"


@phrase("a place is free")
def _place_is_free(_: Stage) -> Told:
    """Another DAG has given it up."""
    yield PlaceFree()


@phrase("others get the place of <group>")
def _others_get(stage: Stage, name: str) -> Told:
    rooms = stage.part(Matcher).places.rooms
    yield SitesMatched((), [*rooms], without_room=[_group(stage, name)])


@phrase("REMATCH_IF of <group> is true")
def _rematch(stage: Stage, name: str) -> None:
    """The next answer says so."""
    stage.part(Matcher).unfit = [_group(stage, name)]


def _group(stage: Stage, name: str) -> int:
    return [group.name for group in _sites(stage).groups].index(name)


@answers(MatchSites)
def _matched(stage: Stage, request: MatchSites) -> Iterable[SitesMatched | SitesUnknown]:
    matcher = stage.part(Matcher)
    if matcher.is_down:
        yield SitesUnknown("no collector")
    else:
        unfit, matcher.unfit = matcher.unfit, []
        yield matcher.places.answer(request, unfit)


@in_words(MatchSites)
def _match(words: Words, request: MatchSites) -> str:
    """Groups that want a site; in brackets those that have one, and which."""
    names = [group.name for group in GroupsOfDag.of(words.dag).site_groups]
    wanted = " ".join(names[one.group] for one in request.wanted) or "nothing"
    claims = ", ".join(f"{names[group]} {site}" for group, site in request.claims)
    return f"match {wanted} ({claims})"


@in_words(do.ForgetPlacements)
def _forget(words: Words, action: do.ForgetPlacements) -> str:
    gone = ", which are gone" * action.are_gone
    return f"forget placements of {' '.join(map(words.name, action.nodes))}{gone}"


@fact("groups")
def _groups(stage: Stage) -> str:
    """Each with its state, and its site."""
    sites = _sites(stage)
    states = [GroupState(state).name.lower() for state in sites.group_states]
    return ", ".join(
        f"{group.name} {state}" + (f" at {site}" if site else "")
        for group, state, site in zip(sites.groups, states, sites.sites)
    )
