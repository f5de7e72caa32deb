"""One round of matchmaking for a DAG: which sites there are, which have room, who gets which.

It is made in a process of its own (`features.sites.helper`), as the collector may hang.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

from condor_pydagman.features.sites.adapters import evaluation
from condor_pydagman.features.sites.adapters.ads import KnownAd, SiteAd, known
from condor_pydagman.features.sites.adapters.claims_directory import (
    WAKES,
    Claims,
    ClaimsDirectory,
)
from condor_pydagman.features.sites.analysis import Obstacle, Verdict, analysis
from condor_pydagman.features.sites.choice import (
    NO_LIMITS,
    NOBODY,
    Decision,
    Limits,
    Offer,
    Room,
    Side,
    Wanted,
    decide,
    is_valid,
    valid_until,
    woken,
)
from condor_pydagman.features.sites.commands import SitePolicy
from condor_pydagman.features.sites.messages import SiteClaim, SitesMatched, SitesUnknown
from condor_pydagman.named_tuple import NamedTuple

_FITS = (Obstacle.NONE, Obstacle.FULL)


class Made(NamedTuple):
    """What a round has come to, and the ads of the sites that it gives, by digest."""

    reply: SitesMatched | SitesUnknown
    ads: dict[str, KnownAd]


class Groups(NamedTuple):
    """The groups of a DAG, for which sites are looked for."""

    dag: str  # the DAG file, for people
    names: Sequence[str]  # of the groups, by number
    policies: Sequence[SitePolicy]  # by kind of group
    kinds: Sequence[int]  # by group
    facts: dict[str, Any]  # attributes of the ads of all groups


class Matcher:
    """Makes rounds.

    Args:
        groups: of the DAG.
        directory: the claims of the access point.
        query: gives the sites; raises PoolError.
        interval_s: seconds for which the sites are taken as known.
        address: where the DAGMan is woken that has them made.
        clock: monotonic seconds.
        wall_clock: seconds since the epoch.
    """

    def __init__(
        self,
        groups: Groups,
        *,
        directory: ClaimsDirectory,
        query: Callable[[], list[SiteAd]],
        interval_s: float,
        address: str = "",
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._dag = groups.dag
        self._names = groups.names
        self._kinds = groups.kinds
        self._groups = [evaluation.group_ad(one, groups.facts) for one in groups.policies]
        self._directory = directory
        self._query = query
        self._interval_s = interval_s
        self._address = address
        self._clock = clock
        self._wall_clock = wall_clock
        self._sites: list[SiteAd] = []
        self._known_until = float("-inf")
        self._written: Claims | None = None  # what the own file says

    def round(
        self,
        claims: Sequence[tuple[int, str]],
        wanted: Sequence[Wanted],
        watched: Sequence[tuple[int, str]],
        limits: Limits = NO_LIMITS,
    ) -> Made:
        """Keep these claims, find sites for these groups, look at these.

        Raises:
            PoolError, FileError: that can't be done; nothing has changed.
        """
        before = self._before()
        proven = set(before.sites)
        new = [one for one in claims if (self._names[one[0]], one[1]) not in proven]
        sites = self._present() if wanted or watched or new else self._sites
        few = limits.of(site.name for site in sites)
        with self._directory.locked():
            others = self._others(exactly=bool(wanted or new))
            taken = sum((one.has for one in others), Counter[str]())
            without_room = self._without_room(claims, new, taken) if new else []
            claims = [one for one in claims if one[0] not in without_room]
            has = Counter(site for _, site in claims)
            rooms = {one.name: Room(one.most, taken[one.name] + has[one.name]) for one in sites}
            judged = self._judged(wanted, sites, rooms)
            decided = decide(
                *(wanted, _offers(judged), few, rooms),
                *(_side(before), has, others, self._wall_clock()),
            )
            self._write([*claims, *decided.chosen], decided.after)
        most = {one.name: one.most for one in sites if not one.problem}
        WAKES.wake(woken(decided.after, _side(before), others, most))
        self._note_obstacles(judged, decided, few, dict(limits.resting))
        by_name = {site.name: site for site in sites}
        ads = {site: known(by_name[site]) for site in {site for _, site in decided.chosen}}
        reply = SitesMatched(
            [SiteClaim(group, site, ads[site].digest) for group, site in decided.chosen],
            list(by_name),
            _reasons(decided.chosen, wanted, judged),
            self._unfit(watched, by_name),
            without_room,
        )
        return Made(reply, {ad.digest: ad for ad in ads.values()})

    def _before(self) -> Claims:
        """What the own file says: nobody else has got what it claims.

        Where the directory was removed, others may have.
        """
        if self._directory.follow():
            self._written = None
        if self._written is None:
            self._written = self._directory.own() or Claims(self._dag, ())
        return self._written

    def _others(self, *, exactly: bool) -> list[Side]:
        return _heard(self._directory.others(exactly=exactly), self._wall_clock())

    def _write(self, claims: Sequence[tuple[int, str]], after: Side) -> None:
        until = valid_until(self._wall_clock(), self._interval_s)
        waits = after.waits._replace(until=until, address=self._address)
        kept = tuple((self._names[group], site) for group, site in claims)
        self._directory.write(self._dag, kept, waits)
        self._written = Claims(self._dag, kept, waits)

    def _without_room(
        self,
        claims: Sequence[tuple[int, str]],
        new: Sequence[tuple[int, str]],
        others: Counter[str],
    ) -> list[int]:
        """Of the new claims those for which there is no room.

        A DAG that was recovered by another DAGMan job has claims that ended with the job before it.
        A site without an ad that can be used has room: nobody can be matched to it.
        """
        most = {site.name: site.most for site in self._sites if not site.problem}
        taken = others + Counter(site for one, site in claims if (one, site) not in new)
        found = []
        for group, site in new:
            if taken[site] >= most.get(site, taken[site] + 1):
                found.append(group)
            else:
                taken[site] += 1
        return found

    def _present(self) -> list[SiteAd]:
        if self._clock() >= self._known_until:
            self._sites = self._query()
            self._known_until = self._clock() + self._interval_s
        return self._sites

    def _judged(
        self, wanted: Sequence[Wanted], sites: Sequence[SiteAd], rooms: dict[str, Room]
    ) -> dict[int, list[Verdict]]:
        """A full site is judged as if it had one place left: whether it will fit then."""
        for site in sites:
            if not site.problem:
                site.ad["CurMatches"] = min(rooms[site.name].taken, max(0, site.most - 1))
        kinds = {one.kind for one in wanted}
        found = {kind: evaluation.verdicts(self._groups[kind], sites, rooms) for kind in kinds}
        for site in sites:
            if not site.problem:
                site.ad["CurMatches"] = rooms[site.name].taken
        return found

    def _note_obstacles(
        self,
        judged: dict[int, list[Verdict]],
        decided: Decision,
        few: Mapping[str, int],
        resting: Container[str],
    ) -> None:
        """Sites whose last place has been given away in this round are full; others rest."""
        given = Counter(site for _, site in decided.chosen)
        for found in judged.values():
            for number, one in enumerate(found):
                if one.obstacle is not Obstacle.NONE:
                    continue
                room = decided.rooms[one.site]
                taken = room.taken + given[one.site]
                if taken >= room.most:
                    found[number] = one._replace(obstacle=Obstacle.FULL)
                elif one.site in resting:
                    found[number] = one._replace(obstacle=Obstacle.RESTS)
                elif given[one.site] >= few.get(one.site, given[one.site] + 1):
                    found[number] = one._replace(obstacle=Obstacle.TRIED)
                elif taken + room.reserved >= room.most:
                    found[number] = one._replace(obstacle=Obstacle.RESERVED)

    def _unfit(self, watched: Sequence[tuple[int, str]], sites: Mapping[str, SiteAd]) -> list[int]:
        """Groups for which the REMATCH_IF of their policy is true."""
        return [
            group
            for group, site in watched
            if site in sites
            and evaluation.is_true(self._groups[self._kinds[group]], "RematchIf", sites[site].ad)
        ]


def _reasons(
    chosen: Sequence[tuple[int, str]],
    wanted: Sequence[Wanted],
    judged: Mapping[int, Sequence[Verdict]],
) -> list[tuple[int, str]]:
    """By kind of groups that got no site, why."""
    served = {group for group, _ in chosen}
    left = sorted({one.kind for one in wanted if one.group not in served})
    return [(kind, analysis(judged[kind])) for kind in left]


def _side(own: Claims) -> Side:
    return Side("", own.counts(), own.waits)


def _offers(judged: Mapping[int, Sequence[Verdict]]) -> dict[int, list[Offer]]:
    return {
        kind: [Offer(one.site, one.rank) for one in found if one.obstacle in _FITS]
        for kind, found in judged.items()
    }


def _heard(others: Sequence[Side], now: float) -> list[Side]:
    """Other DAGs; that those wait who can't be woken does not count."""
    return [
        one
        if is_valid(one.waits, now) and WAKES.is_heard(one.waits.address)
        else one._replace(waits=NOBODY)
        for one in others
    ]


def give_up(directory: ClaimsDirectory) -> None:
    """Give up all claims of a DAG, and wake those who get the places.

    Raises:
        FileError: the directory can't be read; who waits finds them later.
    """
    own = directory.own()
    directory.remove()
    if own is not None:
        others = _heard(directory.others(exactly=False), time.time())
        WAKES.wake(woken(Side("", Counter()), _side(own), others, {}))
