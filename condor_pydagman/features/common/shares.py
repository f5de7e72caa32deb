"""The rule by which DAGs share too few places: of limits that they share, and of sites.

They share them as equally as their wishes allow.  Who wants less than an equal part gets what it
wants; the others share the rest equally.  Places that can't be shared equally stay with those that
have them.  If there are fewer places than DAGs, a place that is given back goes to the DAG that has
waited longest, so that nobody starves.

Each DAGMan decides by it for itself, under the lock of a directory where all say what they have
(`features.common.adapters.job_claims`); so no one has to be in charge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter

from condor_pydagman.named_tuple import NamedTuple

MAX_WOKEN = 50  # others that one decision wakes


class Party(NamedTuple):
    """One of those that share."""

    name: str  # tells it from the others
    granted: int  # places that it may use now
    wanted: int  # places that it could use, those included
    since: float  # since when it waits for more, seconds since the epoch


def shares(most: int, parties: Sequence[Party]) -> dict[str, int]:
    """How many places each may have; all together no more than `most`."""
    found: dict[str, int] = {}
    greedy = sorted(parties, key=attrgetter("wanted"))
    left = most
    while greedy:
        equal = left // len(greedy)
        if greedy[0].wanted > equal:
            break
        one = greedy.pop(0)
        found[one.name] = one.wanted
        left -= one.wanted
    if not greedy:
        return found
    equal = left // len(greedy)
    order = sorted(greedy, key=lambda one: _order(one, equal))
    for number, one in enumerate(order):
        found[one.name] = equal + (1 if number < left - equal * len(greedy) else 0)
    return found


def next_in_turn(parties: Sequence[Party], fair: Mapping[str, int], free: int) -> list[str]:
    """Who gets the free places, by what `shares` has found."""
    getting = sorted(
        (one for one in parties if one.wanted > one.granted and fair[one.name] > one.granted),
        key=attrgetter("since"),
    )
    found = []
    for one in getting:
        if free <= 0:
            break
        free -= fair[one.name] - one.granted
        found.append(one.name)
    return found


def _order(one: Party, equal: int) -> tuple[bool, float, str]:
    """Sorts those that may get one place more than the others: first comes first."""
    has_more = one.granted > equal
    # Fewer places than DAGs: who has none comes first; else who has the extra place keeps it.
    return (has_more if equal == 0 else not has_more), one.since, one.name
