"""One round of matchmaking for a DAG: which sites there are, which have room, who gets which.

It is made in a process of its own (`features.sites.helper`), as the collector may hang.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from condor_pydagman.features.sites.adapters import evaluation
from condor_pydagman.features.sites.adapters.ads import KnownAd, SiteAd, known
from condor_pydagman.features.sites.adapters.claims_directory import ClaimsDirectory
from condor_pydagman.features.sites.analysis import Obstacle, Verdict, analysis
from condor_pydagman.features.sites.choice import Offer, Room, Wanted, choose
from condor_pydagman.features.sites.commands import SitePolicy
from condor_pydagman.named_tuple import NamedTuple

_FITS = (Obstacle.NONE, Obstacle.FULL)


class Match(NamedTuple):
    """A group, the site that is kept for it, and the digest of the site's ad."""

    group: int
    site: str
    digest: str


class Round(NamedTuple):
    """What a round has come to.

    Attributes:
        matches: sites that are kept from now on.
        sites: all sites that have an ad.
        reasons: by kind of groups that got none, why.
        unfit: groups for which the REMATCH_IF of their policy is true.
        ads: ads of sites in `matches`, by digest.
        without_room: groups whose site others have got: it is not kept.
    """

    matches: list[Match]
    sites: list[str]
    reasons: list[tuple[int, str]]
    unfit: list[int]
    ads: dict[str, KnownAd]
    without_room: list[int]


class Matcher:
    """Makes rounds.

    Args:
        dag: the DAG file, for people.
        names: of the groups, by number.
        policies: by kind of group.
        kinds: by group.
        facts: attributes of the ads of all groups.
        directory: the claims of the access point.
        query: gives the sites; raises PoolError.
        interval_s: seconds for which the sites are taken as known.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        dag: str,
        names: Sequence[str],
        policies: Sequence[SitePolicy],
        kinds: Sequence[int],
        facts: dict[str, Any],
        *,
        directory: ClaimsDirectory,
        query: Callable[[], list[SiteAd]],
        interval_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._dag = dag
        self._names = names
        self._kinds = kinds
        self._groups = [evaluation.group_ad(policy, facts) for policy in policies]
        self._directory = directory
        self._query = query
        self._interval_s = interval_s
        self._clock = clock
        self._sites: list[SiteAd] = []
        self._known_until = float("-inf")
        self._written: set[tuple[str, str]] | None = None  # claims in the own file

    def round(
        self,
        claims: Sequence[tuple[int, str]],
        wanted: Sequence[Wanted],
        watched: Sequence[tuple[int, str]],
        few: Mapping[str, int] = {},
    ) -> Round:
        """Keep these claims, find sites for these groups, look at these; `few` as in `choose`.

        Raises:
            PoolError, FileError: that can't be done; nothing has changed.
        """
        proven = self._proven()
        new = [one for one in claims if (self._names[one[0]], one[1]) not in proven]
        sites = self._present() if wanted or watched or new else self._sites
        with self._directory.locked():
            others = self._directory.taken_by_others() if wanted or new else Counter()
            without_room = self._without_room(claims, new, others) if new else []
            claims = [one for one in claims if one[0] not in without_room]
            taken = others + Counter(site for _, site in claims)
            rooms = {site.name: Room(site.most, taken[site.name]) for site in sites}
            judged = self._judged(wanted, sites, rooms)
            offers = {
                kind: [Offer(one.site, one.rank) for one in found if one.obstacle in _FITS]
                for kind, found in judged.items()
            }
            chosen = choose(wanted, offers, rooms, few)
            kept = [(self._names[group], site) for group, site in (*claims, *chosen)]
            self._directory.write(self._dag, kept)
            self._written = set(kept)
        self._note_obstacles(judged, rooms, taken, few, Counter(site for _, site in chosen))
        told = self._told(chosen, wanted, watched, sites, judged)
        return told._replace(without_room=without_room)

    def _proven(self) -> set[tuple[str, str]]:
        """The claims that the own file has: nobody else has got them."""
        if self._written is None:
            read = self._directory.own()
            self._written = set(read.sites) if read is not None else set()
        return self._written

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
        rooms: dict[str, Room],
        taken: Counter[str],
        few: Mapping[str, int],
        given: Counter[str],
    ) -> None:
        """Sites whose last place has been given away in this round are full; others rest."""
        for found in judged.values():
            for number, one in enumerate(found):
                if one.obstacle is not Obstacle.NONE:
                    continue
                if taken[one.site] + given[one.site] >= rooms[one.site].most:
                    found[number] = one._replace(obstacle=Obstacle.FULL)
                elif given[one.site] >= few.get(one.site, given[one.site] + 1):
                    found[number] = one._replace(obstacle=Obstacle.RESTS)

    def _told(
        self,
        chosen: list[tuple[int, str]],
        wanted: Sequence[Wanted],
        watched: Sequence[tuple[int, str]],
        sites: Sequence[SiteAd],
        judged: dict[int, list[Verdict]],
    ) -> Round:
        by_name = {site.name: site for site in sites}
        ads = {site: known(by_name[site]) for site in {site for _, site in chosen}}
        served = {group for group, _ in chosen}
        left = sorted({one.kind for one in wanted if one.group not in served})
        unfit = [
            group
            for group, site in watched
            if site in by_name
            and evaluation.is_true(self._groups[self._kinds[group]], "RematchIf", by_name[site].ad)
        ]
        return Round(
            [Match(group, site, ads[site].digest) for group, site in chosen],
            list(by_name),
            [(kind, analysis(judged[kind])) for kind in left],
            unfit,
            {ad.digest: ad for ad in ads.values()},
            [],
        )
