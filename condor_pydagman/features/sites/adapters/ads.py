"""The ads of sites, as the collector has them.

A site is an ad of the type PydagmanSite, with a Name and MaxMatches: so many groups may be matched
to it at once.  Requirements and Rank look at the group's ad as TARGET.  Every other attribute is
the site's own, and can be used in submit descriptions as $(MATCH_<attribute>).
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Sequence
from typing import Any

import classad2
import htcondor2

from condor_pydagman.adapters.descriptions import BINDINGS, reason_of
from condor_pydagman.adapters.knobs import lookup
from condor_pydagman.errors import PoolError
from condor_pydagman.features.sites.adapters.claims_directory import MAX_NAME
from condor_pydagman.features.sites.environment import parse_environment
from condor_pydagman.named_tuple import NamedTuple

MY_TYPE = "PydagmanSite"
PUBLISHER = "PydagmanMonitor"  # attribute: the monitor that the ad is from
MAX_SITES = 10_000  # ads of sites that are looked at
MAX_LIFETIME_S = 86_400.0  # for which an ad of another monitor counts at most
MAX_VALUE = 2_000  # characters of a value that submit descriptions can use
_LOOKS, _PAUSE_S = 5, 0.5  # until a collector has what it was sent
_REFUSED = (
    "the collector does not accept ads of sites from this user; its administrator allows that with"
    " ALLOW_DAEMON, in the configuration of the collector (ALLOW_ADVERTISE_STARTD and the like do"
    " not count for these ads); CollectorLog says whom it refused: PERMISSION DENIED to ... for"
    " command 58 (UPDATE_AD_GENERIC)"
)
# Attributes that say nothing of the site itself.
VOLATILE = frozenset(
    (
        *("curmatches", "updatesequencenumber", "lastheardfrom", "mytype", "targettype"),
        *("classadlifetime", "authenticatedidentity", "authenticationmethod", "daemonstarttime"),
        *("updatestotal", "updatessequenced", "updateslost", "updateshistory", "myaddress"),
        PUBLISHER.lower(),
        *("requirements", "rank"),  # which are asked, and differ from round to round
    )
)


class SiteAd(NamedTuple):
    """A site."""

    name: str  # its Name
    most: int  # MaxMatches
    ad: Any  # the ClassAd
    problem: str = ""  # why the ad can't be used, '' if it can


class KnownAd(NamedTuple):
    """What is kept of the ad that a group was matched by; plain data."""

    digest: str  # of all that the ad says of the site
    values: dict[str, Any]  # of its attributes that are plain: text, numbers, truth values
    environment: dict[str, str]  # what its SiteEnvironment says


def query() -> list[SiteAd]:
    """All sites that the collector knows, by name.

    Raises:
        PoolError: it can't be asked.
    """
    return sites_of(_queried([])[:MAX_SITES])


def sites_of(ads: Iterable[Any]) -> list[SiteAd]:
    """The sites of these ads, by name; of two with the same name the later one counts."""
    found = {}
    for ad in ads:
        name = value_of(ad, "Name")
        if isinstance(name, str) and name:
            found[name] = _site(name, ad)
    return [found[name] for name in sorted(found)]


def _site(name: str, ad: Any) -> SiteAd:
    if not is_usable(name):
        return SiteAd(name, 0, ad, f"its Name is not of at most {MAX_NAME} printable characters")
    most = limit_of(ad)
    if most is None:
        wrong = value_of(ad, "MaxMatches")
        return SiteAd(name, 0, ad, f"MaxMatches is {wrong!r}, not a whole number")
    return SiteAd(name, most, ad)


def limit_of(ad: Any) -> int | None:
    """How many groups may be matched to the site; None if its ad says nothing that makes sense."""
    most = value_of(ad, "MaxMatches")
    return most if type(most) is int and most >= 0 else None


def is_usable(name: str) -> bool:
    """Whether a site can have this name."""
    return len(name) <= MAX_NAME and name.isprintable()


def value_of(ad: Any, attribute: str) -> Any:
    """The value of an attribute; None if it has none, or an error."""
    try:
        value = ad.eval(attribute)
    except (KeyError, classad2.ClassAdException, *BINDINGS):
        return None
    return None if isinstance(value, classad2.Value) else value


def known(site: SiteAd) -> KnownAd:
    """What is kept of the ad of a site that a group is matched to."""
    values = {}
    lines = []
    for attribute in sorted(site.ad.keys(), key=str.lower):
        if attribute.lower() in VOLATILE:
            continue
        lines.append(f"{attribute.lower()}={site.ad.lookup(attribute)}")
        value = value_of(site.ad, attribute)
        if isinstance(value, (bool, int, float, str)) and len(str(value)) <= MAX_VALUE:
            values[attribute] = value
    text = value_of(site.ad, "SiteEnvironment")
    environment = parse_environment(text) if isinstance(text, str) else {}
    digest = hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()
    return KnownAd(digest[:12], values, environment)


def publish(ads: Sequence[Any]) -> None:
    """Have the collector know these ads of sites.

    Raises:
        PoolError: it does not take them.
    """
    _advertise(list(ads), "UPDATE_AD_GENERIC")
    wanted = {value_of(ad, "Name") for ad in ads}
    for left in reversed(range(_LOOKS)):
        # A collector that security was not negotiated with drops what it refuses without a word.
        there = _names()
        if there is None or wanted <= there:
            return
        time.sleep(bool(left) * _PAUSE_S)
    raise PoolError(_REFUSED, transient=True)


def _names() -> set[str] | None:
    """The sites that the collector has; None if it does not say."""
    try:
        found = _queried(["Name"])
    except PoolError:
        return None
    return {str(value_of(ad, "Name")) for ad in found}  # a list is nothing for a set


def _queried(wanted: list[str]) -> list[Any]:
    """These attributes of all sites, or all of them; raises PoolError."""
    try:
        found = htcondor2.Collector().query(htcondor2.AdType.Any, f'MyType == "{MY_TYPE}"', wanted)
    except BINDINGS as error:
        raise PoolError(f"the collector: {reason_of(error)}", transient=True) from None
    return list(found)


class Publisher(NamedTuple):
    """Who publishes a site: a monitor, '' if its ad does not say, and for how long it counts."""

    monitor: str
    lifetime_s: float


def publishers() -> dict[str, Publisher]:
    """By name of a site, who has published it last; nothing if the collector does not say."""
    try:
        found = _queried(["Name", PUBLISHER, "ClassAdLifetime"])
    except PoolError:
        return {}
    return {
        str(value_of(ad, "Name")): Publisher(str(value_of(ad, PUBLISHER) or ""), _lifetime_s(ad))
        for ad in found
    }


def _lifetime_s(ad: Any) -> float:
    """For how long an ad counts: anybody's may have anything there, and the collector does not
    mind."""
    value = value_of(ad, "ClassAdLifetime")
    return min(max(value, 0.0), MAX_LIFETIME_S) if isinstance(value, (int, float)) else 0.0


def take_back(names: Iterable[str], monitor: str) -> None:
    """Have the collector forget the ads of these sites, as far as they are from the monitor.

    Raises:
        PoolError: it does not.
    """
    _advertise([_invalidation(name, monitor) for name in names], "INVALIDATE_ADS_GENERIC")


def _invalidation(name: str, monitor: str) -> Any:
    """By its Requirements: of one with a Name the collector looks at that alone."""
    own = f"{PUBLISHER} == {classad2.quote(monitor)}"
    wanted = f'MyType == "{MY_TYPE}" && Name == {classad2.quote(name)} && {own}'
    ad = classad2.ClassAd({"MyType": "Query", "TargetType": MY_TYPE})
    ad["Requirements"] = classad2.ExprTree(wanted)
    return ad


def _advertise(ads: list[Any], command: str) -> None:
    # The bindings say nothing, and send nothing, if no collector is configured.
    if not lookup("COLLECTOR_HOST"):
        reason = "COLLECTOR_HOST is not set; run this where HTCondor is configured"
        raise PoolError(f"the collector: {reason}", transient=False)
    try:
        htcondor2.Collector().advertise(ads, command, True)
    except BINDINGS as error:
        # They say the same of a collector that refuses and of one that is not there.
        reason = f"the collector: {reason_of(error)}" if _names() is None else _REFUSED
        raise PoolError(reason, transient=True) from None
