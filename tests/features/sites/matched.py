"""A DAG with groups of nodes, and the sites that they can run at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from condor_pydagman.engine import actions as do
from condor_pydagman.features.sites.choice import Offer, Room, choose
from condor_pydagman.features.sites.messages import MatchSites, SiteClaim, SitesMatched
from condor_pydagman.features.sites.run import Sites
from condor_pydagman.features.sites.states import CLAIMING, GroupState
from condor_pydagman.graph.model import Dag
from tests import make
from tests.make import QUIET


def sites_of(harness: make.EngineHarness) -> Sites:
    found = harness.engine.run.features["sites"]
    assert isinstance(found, Sites)
    return found


class Places:
    """The sites that there are, and what is kept there.

    Attributes:
        rooms: by site, how many groups it may have.
        fits: by kind of group, the only site that fits it, if there is only one.
        claims: the sites that are kept for groups.
    """

    def __init__(self, rooms: str = "s:9") -> None:
        """`rooms`: sites with the number of their places."""
        words = (word.partition(":") for word in rooms.split())
        self.rooms = {site: int(most) for site, _, most in words}
        self.fits: dict[int, str] = {}
        self.claims: dict[int, str] = {}

    def answer(self, request: MatchSites, unfit: Iterable[int] = ()) -> SitesMatched:
        """Give sites to groups that want one."""
        kept = dict(request.claims)
        taken = {site: list(kept.values()).count(site) for site in self.rooms}
        rooms = {site: Room(most, taken[site]) for site, most in self.rooms.items()}
        kinds = {one.kind for one in request.wanted}
        offers = {
            kind: [Offer(site) for site in self.rooms if self.fits.get(kind, site) == site]
            for kind in kinds
        }
        found = choose(request.wanted, offers, rooms, request.limits.of(self.rooms))
        self.claims = {**kept, **dict(found)}
        for site, most in self.rooms.items():
            assert list(self.claims.values()).count(site) <= most
        claims = [SiteClaim(group, site, f"ad-{site}") for group, site in found]
        reasons = [(kind, "all sites are full") for kind in kinds]
        return SitesMatched(claims, tuple(self.rooms), reasons, tuple(unfit))


class Matched(make.EngineHarness):
    """A DAG whose groups get sites."""

    places: Places

    @property
    def sites(self) -> Sites:
        """What the engine knows of the groups."""
        return sites_of(self)

    def answer(self, unfit: tuple[int, ...] = ()) -> list[do.Action]:
        """Answer the last request for sites, and let the log come back."""
        assert self.sites.asked
        self.tell(self.places.answer(self.ever(MatchSites)[-1], unfit))
        first = self.last
        self.last = first + self.read_back()
        self.same_as_replayed()
        return self.last

    def back(self) -> list[do.Action]:
        """The log comes back."""
        first = self.last
        self.last = first + self.read_back()
        self.same_as_replayed()
        return self.last

    def happens(self, *what: Any) -> list[do.Action]:
        self.tell(*what)
        return self.back()

    def same_as_replayed(self) -> None:
        """A DAGMan that reads the log of this one comes to the same."""
        self.same_replay()
        mine, its = self.sites, sites_of(self.restart())
        if mine.awaited:
            return
        for group, state in enumerate(mine.group_states):
            assert (state in CLAIMING) == (its.group_states[group] in CLAIMING), GroupState(state)
            assert mine.rounds[group] == its.rounds[group]
            if state in CLAIMING:
                assert mine.sites[group] == its.sites[group]
                assert mine.digests[group] == its.digests[group]
            assert mine.taken_back.get(group) == its.taken_back.get(group)
        assert mine.failures == its.failures
        limits = mine.rests.limits(self.now, mine.there())
        assert limits == its.rests.limits(self.now, its.there())

    def groups(self) -> str:
        """States of the groups, and their sites."""
        sites = self.sites
        return " ".join(
            f"{group.name}={GroupState(sites.group_states[number]).name}"
            + (f"@{sites.sites[number]}" if sites.sites[number] else "")
            for number, group in enumerate(sites.groups)
        )


def matched(of: Dag | str, rooms: str = "s:9") -> Matched:
    """A DAG that has begun; `rooms` are sites with the number of their places."""
    harness = Matched(of, QUIET)
    harness.places = Places(rooms)
    harness.begin()
    return harness


def placed(of: Dag | str, rooms: str = "s:1 t:1") -> Matched:
    """The same, and its groups have got their sites: the first at site s."""
    harness = matched(of, rooms)
    harness.answer()
    return harness
