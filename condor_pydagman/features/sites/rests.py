"""Sites from which groups were taken back rest: for a while none of the DAG's groups is matched to
them, and then one at a time, with the same pause before the next one.  So a site that fails all
jobs does not take all groups.

A group that fails after such a rest makes it twice as long.  Groups that were at the site before it
began do not: they tell nothing new.  The rest is over when a group there has got further than those
that were taken back, or has ended well.  All of that follows from the nodes log.
"""

from __future__ import annotations

from condor_pydagman.named_tuple import NamedTuple

MAX_S = 3600.0  # seconds that a rest grows to


class _Rest(NamedTuple):
    """A site's rest: since when, how long, until when no group is matched to it, and how many nodes
    were done of the group that got furthest before it was taken back."""

    since: float
    delay_s: float
    until: float
    done: int


class SiteRests:
    """The sites that rest, by name."""

    def __init__(self) -> None:
        self._rests: dict[str, _Rest] = {}
        self._matched_at: dict[int, float] = {}

    def __bool__(self) -> bool:
        """Whether any site rests."""
        return bool(self._rests)

    def matched(self, group: int, site: str, when: float) -> None:
        """A group is at the site since then: if that rests, the next one has to wait."""
        self._matched_at[group] = when
        rest = self._rests.get(site)
        if rest is not None:
            self._rests[site] = rest._replace(until=when + rest.delay_s)

    def failed(self, group: int, site: str, when: float, done: int, first_s: float) -> float:
        """A group with so many nodes done is taken back from the site.

        Returns how many seconds it rests; 0 if it rested before the group came there.
        """
        rest = self._rests.get(site)
        if rest is None:
            delay_s = first_s
        elif self._matched_at.get(group, 0.0) <= rest.since:
            self._rests[site] = rest._replace(done=max(rest.done, done))
            return 0.0
        else:
            delay_s = min(rest.delay_s * 2, max(MAX_S, first_s))
            done = max(rest.done, done)
        self._rests[site] = _Rest(when, delay_s, when + delay_s, done)
        return delay_s

    def worked(self, site: str, done: int, *, all_done: bool) -> bool:
        """A group at the site has so many nodes done; whether that is the end of its rest."""
        rest = self._rests.get(site)
        if rest is None or not (all_done or done > rest.done):
            return False
        del self._rests[site]
        return True

    def few(self, now: float, claimed: set[str]) -> tuple[tuple[str, int], ...]:
        """How many groups may be matched now to each site that rests; those that are `claimed`
        have just got one."""
        return tuple(
            (site, int(rest.until <= now and site not in claimed))
            for site, rest in self._rests.items()
        )

    def next_time(self, now: float) -> float | None:
        """When the next of them may have a group."""
        return min((one.until for one in self._rests.values() if one.until > now), default=None)
