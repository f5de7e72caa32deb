"""Which site a group gets: a function of what groups want, what sites offer, and their room.

Among the sites that fit on both sides, the one with the greatest Rank; of equal ones, the one with
the smallest part of its room taken; then by name.  So the same facts give the same sites.

A site that has too few places is shared by DAGs as they share a limit (`features.common.shares`).
A DAG says at which sites groups of it wait, and since when.  It waits for a place at a site since
it has last got one there, or has given one back, or else since it first wanted one.  So of too few
places each goes round.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from condor_pydagman.features.common.shares import MAX_WOKEN, Party, next_in_turn, shares
from condor_pydagman.named_tuple import NamedTuple


class Wanted(NamedTuple):
    """A group that is to be matched."""

    group: int  # its number in the DAG
    kind: int  # which offers are made to it, see `choose`
    only: str = ""  # the site that it must have, since its work is there; '' for any
    # sites that it takes only if there is no other one, the first of them first
    last: tuple[str, ...] = ()
    never: tuple[str, ...] = ()  # sites that it does not take


class Offer(NamedTuple):
    """A site that fits groups of some kind; `rank` is what they think of it."""

    site: str
    rank: float = 0.0


class Room(NamedTuple):
    """How many groups a site may have, and has."""

    most: int  # places
    taken: int = 0  # those that groups have
    reserved: int = 0  # free ones that are for other DAGs, whose turn it is


class Limits(NamedTuple):
    """How many groups more sites may get now, beside those that must have them."""

    resting: tuple[tuple[str, int], ...] = ()  # sites that groups had to leave, and how many
    # sites at which groups are of which none has been done so far, and how many
    tried: tuple[tuple[str, int], ...] = ()
    trusted: tuple[str, ...] = ()  # sites that get as many as they have room for
    untried: int = 0  # how many any other one gets; 0: as many as it has room for

    def of(self, sites: Iterable[str]) -> dict[str, int]:
        """Those of these sites that do not get as many as they have room for."""
        first = dict.fromkeys(sites, self.untried) if self.untried else {}
        for site in self.trusted:
            first.pop(site, None)
        return {**first, **dict(self.tried), **dict(self.resting)}


NO_LIMITS = Limits()


def choose(
    wanted: Iterable[Wanted],
    offers: Mapping[int, Sequence[Offer]],
    rooms: Mapping[str, Room],
    few: Mapping[str, int] = {},
) -> list[tuple[int, str]]:
    """Give sites to groups, first come, first served.

    Args:
        wanted: the groups, in their order.
        offers: by kind of group, the sites that fit, those that are full included.
        rooms: by site; a site that is not there has no room.
        few: sites that get only so many groups now, beside those that must have them.

    Returns:
        Groups with their sites; groups that get none are left out.
    """
    taken = {site: room.taken for site, room in rooms.items()}
    left = dict(few)
    sellers: dict[int, _Seller] = {}
    found = []
    for one in wanted:
        seller = sellers.get(one.kind)
        if seller is None:
            offered = offers.get(one.kind, ())
            seller = sellers[one.kind] = _Seller(offered, rooms, taken, left)
        picky = one.only or one.last or one.never
        site = seller.best_for(one) if picky else seller.best()
        if site:
            taken[site] += 1
            if site in left:
                left[site] -= 1
            found.append((one.group, site))
    return found


class _Seller:
    """The offers to one kind of group, the best one at hand."""

    def __init__(
        self,
        offers: Sequence[Offer],
        rooms: Mapping[str, Room],
        taken: dict[str, int],
        left: dict[str, int],
    ) -> None:
        self._offers = [one for one in offers if one.site in rooms]
        self._rooms, self._taken, self._left = rooms, taken, left
        self._heap = [self._key(one) for one in self._offers if self._has_room(one.site)]
        heapq.heapify(self._heap)

    def best(self) -> str:
        """The best site that has room; '' if none has."""
        while self._heap:
            rank, load, site = self._heap[0]
            if not self._has_room(site):
                heapq.heappop(self._heap)
                continue
            now = self._load(site)
            if load == now:
                return site
            heapq.heapreplace(self._heap, (rank, now, site))
        return ""

    def best_for(self, one: Wanted) -> str:
        """As `best`, for a group that does not take every site.

        A site that comes last has to wait for others that will have room again.
        """
        offers = [offer for offer in self._offers if offer.site not in one.never]
        if one.only:
            is_offered = any(offer.site == one.only for offer in offers)
            return one.only if is_offered and self._has_place(one.only) else ""
        fitting = [
            ((_place(offer.site, one.last), *self._key(offer)), offer.site)
            for offer in offers
            if self._has_room(offer.site)
        ]
        site = min(fitting)[1] if fitting else ""
        others = (offer.site for offer in offers if offer.site not in one.last)
        return "" if site in one.last and any(self._rooms[o].most for o in others) else site

    def _key(self, offer: Offer) -> tuple[float, float, str]:
        return (-offer.rank, self._load(offer.site), offer.site)

    def _load(self, site: str) -> float:
        return self._taken[site] / self._rooms[site].most

    def _has_room(self, site: str) -> bool:
        return self._left.get(site, 1) > 0 and self._has_place(site)

    def _has_place(self, site: str) -> bool:
        room = self._rooms[site]
        return self._taken[site] + room.reserved < room.most


def _place(site: str, last: Sequence[str]) -> int:
    return last.index(site) + 1 if site in last else 0


GRACE_S = 60.0  # beyond the time at which who waits will look again, for which it counts
LONGEST_S = 3600.0  # for which who waits counts, whenever it will look again
MAX_SAID = 500  # sites at which a DAG says that it waits: all others read it


class Waits(NamedTuple):
    """What a DAG says of its groups that wait."""

    # when that is no longer true unless it is said again, seconds since the epoch; so a DAGMan that
    # hangs keeps nothing from others for long
    until: float = 0.0
    address: str = ""  # where it is woken
    # by site, how many of them could use a place there, and since when they wait
    sites: Mapping[str, tuple[int, float]] = {}


NOBODY = Waits()


class Side(NamedTuple):
    """A DAG that shares sites with others."""

    name: str  # tells it from the others
    has: Counter[str]  # its groups, by site
    waits: Waits = NOBODY  # what it says of others

    def at(self, site: str) -> Party:
        """What it has and wants there."""
        number, since = self.waits.sites.get(site, (0, 0.0))
        return Party(self.name, self.has[site], self.has[site] + number, since)


class Decision(NamedTuple):
    """What becomes of groups that wait."""

    chosen: list[tuple[int, str]]  # groups with their sites
    rooms: dict[str, Room]  # by site, as it was before, with what is for other DAGs
    after: Side  # what the DAG has and says from now on


def decide(
    wanted: Sequence[Wanted],
    offers: Mapping[int, Sequence[Offer]],
    few: Mapping[str, int],
    rooms: Mapping[str, Room],
    before: Side,
    has: Counter[str],
    others: Sequence[Side],
    now: float,
) -> Decision:
    """Give sites to groups, as `choose` with the same arguments, as far as it is their DAG's turn.

    Args:
        before: what the DAG had and said when it decided last.
        has: its groups by site, before it gets more.
        others: the other DAGs.
        now: seconds since the epoch.
    """
    offers = {
        kind: [one for one in found if one.site in rooms and rooms[one.site].most]
        for kind, found in offers.items()
    }
    said = _since(_wishes(wanted, offers, few), before, has, now)
    own = Side(before.name, has, Waits(sites=said))
    contested = {site for one in others for site in one.waits.sites} & said.keys()
    shared = {
        site: room._replace(reserved=_reserved(site, room.most, own, others))
        for site, room in rooms.items()
        if site in contested
    }
    rooms = {**rooms, **shared}
    chosen = choose(wanted, offers, rooms, few)
    given = Counter(site for _, site in chosen)
    served = {group for group, _ in chosen}
    left = [one for one in wanted if one.group not in served]
    less = {site: max(0, most - given[site]) for site, most in few.items()}
    said = _since(_wishes(left, offers, less), before, has + given, now)
    return Decision(chosen, rooms, Side(before.name, has + given, Waits(sites=said)))


def _reserved(site: str, most: int, own: Side, others: Sequence[Side]) -> int:
    """How many of the free places of a site are not for the groups of `own` that wait."""
    parties = [one.at(site) for one in (own, *others)]
    free = max(0, most - sum(one.granted for one in parties))
    more = shares(most, parties)[own.name] - own.has[site]
    return free - min(free, max(0, more))


def _wishes(
    wanted: Sequence[Wanted], offers: Mapping[int, Sequence[Offer]], few: Mapping[str, int]
) -> Counter[str]:
    """By site, how many of the groups could use a place there."""
    found: Counter[str] = Counter()
    alike: Counter[int] = Counter()
    bound: Counter[str] = Counter()
    for one in wanted:
        if not (one.only or one.last or one.never):
            alike[one.kind] += 1
            continue
        there = [offer.site for offer in offers.get(one.kind, ()) if offer.site not in one.never]
        if one.only:
            bound.update({one.only} & set(there))
        else:
            found.update([site for site in there if site not in one.last] or there)
    for kind, number in alike.items():
        found.update({offer.site: number for offer in offers.get(kind, ())})
    for site in found.keys() & few.keys():
        found[site] = min(found[site], few[site])
    return +(found + bound)


def _since(
    wants: Mapping[str, int], before: Side, has: Mapping[str, int], now: float
) -> dict[str, tuple[int, float]]:
    """`Waits.sites` of a DAG that has these groups there now."""
    found = {}
    for site, number in islice(sorted(wants.items()), MAX_SAID):
        known = before.waits.sites.get(site) if before.has[site] == has.get(site, 0) else None
        found[site] = number, known[1] if known else now
    return found


def woken(after: Side, before: Side, others: Sequence[Side], most: Mapping[str, int]) -> list[str]:
    """Where those wait who get places that are free now.

    Args:
        after: what a DAG has and says now.
        before: what it had and said.
        others: the other DAGs.
        most: by site, how many places it has, as far as known.
    """
    if (after.has, after.waits.sites) == (before.has, before.waits.sites):
        return []  # otherwise two that wait would wake each other for ever
    found: dict[str, None] = {}
    everybody = [after, *others]
    for site in sorted({site for one in others for site in one.waits.sites}):
        parties = [one.at(site) for one in everybody]
        granted = sum(one.granted for one in parties)
        given_up = max(0, before.has[site] - after.has[site])
        leaves = site in before.waits.sites and site not in after.waits.sites
        places = most.get(site, granted + given_up + leaves)
        if places > granted:
            fair = shares(places, parties)
            found.update(dict.fromkeys(next_in_turn(parties, fair, places - granted)))
    addresses = {one.name: one.waits.address for one in others}
    return [addresses[name] for name in found if name in addresses][:MAX_WOKEN]


def is_valid(waits: Waits, now: float) -> bool:
    """Whether what a DAG says still counts."""
    return bool(waits.sites) and now < waits.until <= now + LONGEST_S + GRACE_S


def valid_until(now: float, interval_s: float) -> float:
    """`Waits.until` of who looks again after so many seconds."""
    return now + min(interval_s, LONGEST_S) + GRACE_S
