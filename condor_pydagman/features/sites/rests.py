"""How many groups of the DAG a site gets, by how its earlier groups fared: trials and rests.

A site where no group of the DAG has been done is on trial: it gets TRIALS of them, and more when
one is done, or when the jobs of one have been there for TRIAL_S.  So a site that fails all jobs
takes few groups, however many places it has.

A site from which groups were taken back rests: for a while none of the DAG's groups is matched to
it, and then one at a time, with the same pause before the next one.  A group that fails after such
a rest makes it twice as long.  Groups that were at the site before it began do not: they tell
nothing new.  A site that has failed TRIALS groups while others work is avoided for an hour: only
groups that have no other site come there.  The rest ends when a group there ends well, or when one
of its jobs takes it further than the groups that were taken back had come.  All of that follows
from the nodes log.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from condor_pydagman.features.sites.choice import Limits
from condor_pydagman.named_tuple import NamedTuple

TRIALS = 3  # groups at a site where none has been done
TRIAL_S = 600.0  # after which what has not failed counts as working
MAX_S = 3600.0  # seconds that a rest grows to, and for which a site is avoided


class _Rest(NamedTuple):
    """The rest of a site."""

    begun: float  # when
    since: float  # when the last group was taken back that told something new
    delay_s: float  # between that, or the last match, and the next match
    counts_from: float  # that moment
    done: int  # nodes of the group that got furthest before it was taken back
    failed: int  # groups that were taken back
    is_untried: bool  # whether no group had been done there before


class _Stay(NamedTuple):
    """A group at a site: since when, since when it has not failed, and whether by a job."""

    matched: float
    well: float
    by_job: bool = False


class There(NamedTuple):
    """The groups that are at sites and do not leave them."""

    groups: Mapping[str, Sequence[int]]  # by site
    claimed: Collection[str] = ()  # sites that have just been given to one of them
    # those that have a DATA node under way, of which a site's jobs tell nothing
    staging: Collection[int] = ()


class SiteRests:
    """The sites that are on trial, or rest; `count` is how many groups there are."""

    def __init__(self, count: int) -> None:
        self._has_trials = count > TRIALS
        self._rests: dict[str, _Rest] = {}
        self._stays: dict[int, _Stay] = {}
        self._trusted: set[str] = set()

    def rests(self, site: str) -> bool:
        """Whether the site rests."""
        return site in self._rests

    def is_on_trial(self, site: str) -> bool:
        """Whether no group has been done there, and none has failed."""
        return self._has_trials and site not in self._trusted and site not in self._rests

    def leaves(self, group: int) -> None:
        """The group is to come to another site: what it did at the last one tells nothing of it."""
        self._stays.pop(group, None)

    def matched(self, group: int, site: str, when: float) -> None:
        """A group is at the site since then: if that rests, the next one has to wait."""
        self._stays[group] = _Stay(when, when)
        rest = self._rests.get(site)
        if rest is not None:
            self._rests[site] = rest._replace(counts_from=when)

    def stirs(self, group: int, when: float, *, by_job: bool) -> None:
        """A job, or a placement, of the group begins or ends: its first job has TRIAL_S to fail."""
        stay = self._stays.get(group)
        if stay is not None and not stay.by_job:
            self._stays[group] = stay._replace(well=when, by_job=by_job)

    def stumbles(self, group: int) -> None:
        """A run of one of its nodes has failed."""
        stay = self._stays.get(group)
        if stay is not None:
            self._stays[group] = stay._replace(by_job=False)

    def failed(self, group: int, site: str, when: float, done: int, first_s: float) -> float:
        """A group with so many nodes done is taken back from the site.

        Returns how many seconds it rests; 0 if it rested before the group came there.
        """
        rest = self._rests.get(site)
        matched = self._stays[group].matched if group in self._stays else 0.0
        if rest is None:
            is_untried = site not in self._trusted
            self._trusted.discard(site)
            self._rests[site] = _Rest(when, when, first_s, when, done, 1, is_untried)
            return first_s
        failed = rest.failed + (rest.is_untried or matched > rest.begun)
        rest = rest._replace(done=max(rest.done, done), failed=failed)
        if matched <= rest.since:
            self._rests[site] = rest
            return 0.0
        delay_s = min(rest.delay_s * 2, max(MAX_S, first_s))
        self._rests[site] = rest._replace(since=when, counts_from=when, delay_s=delay_s)
        return delay_s

    def failures(self, site: str) -> int:
        """Groups that the site has failed since one was done there, as far as they count."""
        return self._rests[site].failed if site in self._rests else 0

    def trust(self, site: str) -> None:
        """A group has been done there."""
        self._rests.pop(site, None)
        self._trusted.add(site)

    def worked(self, site: str, done: int, *, all_done: bool, by_job: bool) -> bool:
        """A group at the site has so many nodes done, jobs among them or not; whether that is the
        end of its rest."""
        rest = self._rests.get(site)
        if rest is None or not (all_done or (by_job and done > rest.done)):
            return False
        self.trust(site)
        return True

    def limits(self, now: float, there: There) -> Limits:
        """How many groups more each site may get now."""
        resting = [(site, self._more(site, now, there)) for site in self._rests]
        if not self._has_trials:
            return Limits(tuple(resting))
        tried, trusted = [], self._trusted - self._rests.keys()
        for site, groups in there.groups.items():
            if self.is_on_trial(site):
                if any(self._is_well(group, now, there) for group in groups):
                    trusted.add(site)
                else:
                    tried.append((site, max(0, TRIALS - len(groups))))
        return Limits(tuple(resting), tuple(tried), tuple(sorted(trusted)), TRIALS)

    def _is_well(self, group: int, now: float, there: There) -> bool:
        stay = self._stays.get(group)
        return stay is not None and stay.well + TRIAL_S <= now and group not in there.staging

    def _more(self, site: str, now: float, there: There) -> int:
        rest = self._rests[site]
        if self._until(site) > now or site in there.claimed:
            return 0
        groups = there.groups.get(site, ())
        new = [one for one in groups if rest.is_untried or self._stays[one].matched > rest.begun]
        return int(len(new) < max(1, TRIALS - rest.failed))

    def _until(self, site: str) -> float:
        rest = self._rests[site]
        return rest.counts_from + rest.delay_s

    def avoided(self, now: float, there: There) -> tuple[str, ...]:
        """The sites where groups come that have no other one, though their rest may be over."""
        return tuple(site for site, until in self._avoided_until(there) if until > now)

    def _avoided_until(self, there: There) -> Iterator[tuple[str, float]]:
        if self._rests.keys() >= self._trusted | there.groups.keys():
            return  # no other one is known to work
        for site, rest in self._rests.items():
            if rest.failed >= TRIALS:
                yield site, rest.counts_from + MAX_S

    def next_time(self, now: float, there: There) -> float | None:
        """When the next of them may have a group."""
        return min((time for time in self._times(there) if time > now), default=None)

    def _times(self, there: There) -> Iterator[float]:
        for site in self._rests:
            yield self._until(site)
        yield from (until for _, until in self._avoided_until(there))
        for site, groups in there.groups.items():
            if self.is_on_trial(site):
                known = (self._stays.get(group) for group in groups)
                yield from (stay.well + TRIAL_S for stay in known if stay is not None)
