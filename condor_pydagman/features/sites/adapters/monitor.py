"""Publishes the sites of a directory in the collector, as long as it runs.

In each round all descriptions are read anew, probes are asked, and what has changed is told.  A
site whose description or probe is wrong is taken back; the others are not affected.  Ads that are
not renewed vanish by themselves after three rounds, should the monitor die.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import classad2

from condor_pydagman.errors import FileError, PydagmanError
from condor_pydagman.features.sites.adapters import probe as site_probe
from condor_pydagman.features.sites.adapters.ads import MY_TYPE, value_of
from condor_pydagman.features.sites.adapters.files import Described, ad_of, read_sites
from condor_pydagman.named_tuple import NamedTuple

INTERVAL_S = 120.0  # between two rounds of probes
PROBE_TIMEOUT_S = 20.0  # for a probe to say how its site is
_PROBES_AT_ONCE = 16
_LIFETIMES = 3  # rounds after which an ad that is not renewed vanishes


class Outcome(NamedTuple):
    """A round.

    Attributes:
        published: names of the sites that are in the collector now.
        problems: what is wrong, for people.
    """

    published: tuple[str, ...]
    problems: tuple[str, ...]


class Collected(NamedTuple):
    """Access to the collector: `publish` takes ads, `take_back` names of sites; both may raise
    PoolError."""

    publish: Callable[[Sequence[Any]], None]
    take_back: Callable[[Sequence[str]], None]


class Monitor:
    """Publishes the sites of a directory.

    Args:
        directory: with descriptions and probes.
        collector: where they are published.
        counts: how many groups are matched, by site; may raise PydagmanError.
        say: is told what has changed.
        interval_s: seconds between rounds, for the lifetime of ads.
        probe_timeout_s: that a probe may take.
    """

    def __init__(
        self,
        directory: Path,
        collector: Collected,
        counts: Callable[[], Counter[str]],
        say: Callable[[str], None],
        *,
        interval_s: float = INTERVAL_S,
        probe_timeout_s: float = PROBE_TIMEOUT_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._directory = directory
        self._collector = collector
        self._counts = counts
        self._say = say
        self._interval_s = interval_s
        self._probe_timeout_s = probe_timeout_s
        self._clock = clock
        self._published: set[str] = set()
        self._problems: set[str] = set()

    def round(self) -> Outcome:
        """Publish what is there now.

        Raises:
            PydagmanError: that can't be done now; what is published stays until its lifetime ends.
        """
        try:
            sites = read_sites(self._directory)
        except OSError as error:
            raise FileError(f"{self._directory}: {error.strerror}") from None
        problems = [problem for site in sites for problem in site.problems]
        ads, failed = self._ads([site for site in sites if not site.problems])
        self._tell([*problems, *failed, *(text for site in sites for text in site.warnings)])
        names = {str(value_of(ad, "Name")) for ad in ads}
        gone = sorted(self._published - names)
        if gone:
            self._collector.take_back(gone)
            self._say(f"removed: {', '.join(gone)}")
            self._published -= set(gone)
        if ads:
            self._collector.publish(ads)
        new = sorted(names - self._published)
        if new:
            self._say(f"published: {', '.join(new)}")
        self._published = names
        return Outcome(tuple(sorted(names)), (*problems, *failed))

    def end(self) -> None:
        """Take all sites back.

        Raises:
            PydagmanError: that can't be done; the ads vanish by themselves later.
        """
        if self._published:
            self._collector.take_back(sorted(self._published))
            self._say(f"removed: {', '.join(sorted(self._published))}")
            self._published = set()

    def _ads(self, sites: Sequence[Described]) -> tuple[list[Any], list[str]]:
        """The ads of sites that can be used, and what probes say of the others."""
        with ThreadPoolExecutor(_PROBES_AT_ONCE) as pool:
            probed = list(pool.map(self._probed, sites))
        taken = self._taken()
        ads = [
            self._ad(site, result.attributes, taken)
            for site, result in zip(sites, probed)
            if not result.problem
        ]
        return ads, [result.problem for result in probed if result.problem]

    def _probed(self, site: Described) -> site_probe.Probed:
        probe = site_probe.probe_of(site.path)
        if probe is None:
            return site_probe.Probed({})
        found = site_probe.ask(probe, site.name, self._probe_timeout_s)
        if found.problem or not _has_bad_limit(ad_of({**site.attributes, **found.attributes})):
            return found
        return site_probe.Probed({}, f"{probe}: MaxMatches is a whole number, not negative")

    def _taken(self) -> Counter[str]:
        try:
            return self._counts()
        except PydagmanError as error:
            self._say(f"matches can't be counted: {error}")
            return Counter()

    def _ad(self, site: Described, more: dict[str, str], taken: Counter[str]) -> Any:
        known = {name.lower() for name in more}
        own = {name: text for name, text in site.attributes.items() if name.lower() not in known}
        ad = ad_of({**own, **more})
        ad["MyType"] = MY_TYPE
        ad["CurMatches"] = taken[site.name]
        ad["UpdateSequenceNumber"] = int(self._clock())
        ad["ClassAdLifetime"] = int(_LIFETIMES * self._interval_s)
        return ad

    def _tell(self, problems: Sequence[str]) -> None:
        """What is wrong is told once, and again when it has been mended in between."""
        for problem in problems:
            if problem not in self._problems:
                self._say(problem)
        self._problems = set(problems)


def _has_bad_limit(ad: classad2.ClassAd) -> bool:
    most = value_of(ad, "MaxMatches")
    return isinstance(most, bool) or not isinstance(most, int) or most < 0
