"""Which site a group gets: a function of what groups want, what sites offer, and their room.

Among the sites that fit on both sides, the one with the greatest Rank; of equal ones, the one with
the smallest part of its room taken; then by name.  So the same facts give the same sites.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence

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
