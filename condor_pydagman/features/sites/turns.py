"""Whose turn it is at a site that has too few places: DAGs share the places of a site as they share
those of a limit (`features.shared_limits.fair_shares`).

A DAG says at which sites groups of it wait, and since when.  It waits for a place at a site since
it has last got one there, or has given one back, or else since it first wanted one.  So of too few
places each goes round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice

from condor_pydagman.features.shared_limits.fair_shares import (
    MAX_WOKEN,
    Party,
    next_in_turn,
    shares,
)
from condor_pydagman.features.sites.choice import Offer, Room, Wanted, choose
from condor_pydagman.named_tuple import NamedTuple

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
