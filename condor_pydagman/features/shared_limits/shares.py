"""How many places each of several DAGs may have of a limit: as equal as their wishes allow.

Who wants less than an equal part gets what it wants; the others share the rest equally.  Places
that can't be shared equally stay with those that have them; but where there are fewer places than
DAGs, each goes to the one that has waited longest as soon as it is given back, so that nobody
starves.
"""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.named_tuple import NamedTuple


class Party(NamedTuple):
    """One of those that share.

    Attributes:
        name: tells it from the others.
        granted: places that it may use now.
        wanted: places that it could use, those included.
        since: since when it waits for more, seconds since the epoch.
    """

    name: str
    granted: int
    wanted: int
    since: float


def shares(most: int, parties: Sequence[Party]) -> dict[str, int]:
    """How many places each may have; all together no more than `most`."""
    found: dict[str, int] = {}
    greedy = sorted(parties, key=lambda one: one.wanted)
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


def _order(one: Party, equal: int) -> tuple[bool, float, str]:
    """Sorts those that may get one place more than the others: first comes first."""
    has_more = one.granted > equal
    return (has_more if equal == 0 else not has_more), one.since, one.name
