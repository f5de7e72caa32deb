"""All sites as people see them: matches, room, jobs in the queue, and jobs that failed lately."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import htcondor2

from condor_pydagman.adapters.descriptions import BINDINGS, reason_of
from condor_pydagman.errors import PoolError
from condor_pydagman.features.common.adapters.queued_dagmans import (
    in_queue,
    queried_jobs,
    queue_name,
)
from condor_pydagman.features.sites.adapters.ads import SiteAd, is_usable, value_of
from condor_pydagman.features.sites.adapters.claims_directory import Claims, ClaimsDirectory
from condor_pydagman.features.sites.adapters.description import SITE_ATTRIBUTE
from condor_pydagman.named_tuple import NamedTuple

LATELY_S = 3600  # how long ago a job may have failed
MAX_ENDED = 10_000  # jobs of the history that are looked at
_STATES = {1: "idle", 2: "running", 5: "held", 6: "running", 7: "running"}


class SiteRow(NamedTuple):
    """A site."""

    name: str  # its Name
    groups: int  # how many groups are matched to it, by the claims of this access point
    most: int | None  # MaxMatches; None if it has no ad
    # procs in the queue of this schedd
    running: int
    idle: int
    held: int
    failed: int  # procs that have failed in the last hour
    age_s: float | None  # seconds since its ad came to the collector; None if it has no ad
    dags: tuple[str, ...]  # DAG files that have groups there
    problem: str = ""  # why its ad can't be used; '' if it can

    @property
    def room(self) -> int:
        """How many groups more it may have."""
        return max(0, (self.most or 0) - self.groups)


def rows(
    ads: Iterable[SiteAd],
    claims: Sequence[Claims],
    queued: Counter[tuple[str, str]],
    failed: Counter[str],
    now: float,
) -> list[SiteRow]:
    """The sites that have an ad, a claim or a job, by name.

    Args:
        queued: procs by site and `running`, `idle` or `held`.
        failed: procs by site.
        now: seconds since the epoch.
    """
    by_name = {ad.name: ad for ad in ads}
    taken = sum((one.counts() for one in claims), Counter[str]())
    names = {*by_name, *taken, *(site for site, _ in queued), *failed}
    found = []
    for name in sorted(names):
        ad = by_name.get(name)
        heard = value_of(ad.ad, "LastHeardFrom") if ad else None
        states = {state: queued[name, state] for state in ("running", "idle", "held")}
        found.append(
            SiteRow(
                name,
                taken[name],
                ad.most if ad else None,
                **states,
                failed=failed[name],
                age_s=now - heard if isinstance(heard, int) else None,
                dags=tuple(sorted({one.dag for one in claims if one.counts()[name]})),
                problem=ad.problem if ad else "",
            )
        )
    return found


def queued_jobs() -> Counter[tuple[str, str]]:
    """Procs in the queue that run at sites, by site and state.

    Raises:
        PoolError: the schedd can't be asked.
    """
    constraint = f"{SITE_ATTRIBUTE} =!= undefined"
    wanted = [SITE_ATTRIBUTE, "JobStatus"]
    found: Counter[tuple[str, str]] = Counter()
    for ad in queried_jobs(constraint, wanted):
        state = _STATES.get(ad.get("JobStatus"))
        site = _site_of(ad)
        if state and site:
            found[site, state] += 1
    return found


def failed_jobs(now: float | None = None) -> Counter[str]:
    """Procs that have failed at sites in the last hour, by site.

    Raises:
        PoolError: the schedd can't be asked.
    """
    begin = int((time.time() if now is None else now) - LATELY_S)
    constraint = f"{SITE_ATTRIBUTE} =!= undefined && (ExitCode =!= 0 || JobStatus == 3)"
    since = f"EnteredCurrentStatus < {begin}"
    try:
        ads = htcondor2.Schedd().history(constraint, [SITE_ATTRIBUTE], match=MAX_ENDED, since=since)
        return Counter(filter(None, map(_site_of, ads)))
    except BINDINGS as error:
        raise PoolError(f"the schedd: {reason_of(error)}", transient=True) from None


def _site_of(job: Any) -> str:
    """The site of a job of any user, who may have written anything; '' if it is none."""
    site = value_of(job, SITE_ATTRIBUTE)
    return site if isinstance(site, str) and is_usable(site) else ""


def all_claims(path: str, say: Callable[[str], None]) -> list[Claims]:
    """All claims of the access point, as one sees them who has none.

    Args:
        path: PYDAGMAN_SITES_DIR.

    Raises:
        FileError: the directory can't be read.
        PoolError: the schedd can't be asked which of them count.
    """
    directory = ClaimsDirectory(path, queue_name(), 0, in_queue, say)
    try:
        return directory.everything()
    finally:
        directory.close()
