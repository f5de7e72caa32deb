"""Whether groups and sites fit each other, and what groups think of sites: HTCondor's ClassAds.

Requirements of both sides must be true; Rank is a number, anything else counts as 0 (manual:
"Matchmaking with ClassAds").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import classad2

from condor_pydagman.adapters.descriptions import BINDINGS, reason_of
from condor_pydagman.features.sites.adapters.ads import SiteAd
from condor_pydagman.features.sites.analysis import Obstacle, Verdict
from condor_pydagman.features.sites.choice import Room
from condor_pydagman.features.sites.commands import SitePolicy


class BadPolicy(Exception):
    """An expression of a policy can't be read; the text says which and why."""


def group_ad(policy: SitePolicy, facts: Mapping[str, Any]) -> Any:
    """The ClassAd of the groups with a policy.

    Args:
        facts: attributes of all groups, which no policy changes.

    Raises:
        BadPolicy: an expression can't be read.
    """
    ad = classad2.ClassAd()
    expressions = [("Requirements", policy.requirements or "true"), ("Rank", policy.rank or "0")]
    if policy.rematch_if:
        expressions.append(("RematchIf", policy.rematch_if))
    for name, text in (*policy.attributes, *expressions):
        try:
            ad[name] = classad2.ExprTree(text)
        except (classad2.ClassAdException, *BINDINGS) as error:
            raise BadPolicy(f"{name} = {text}: {reason_of(error)}") from None
    for name, value in {"MyType": "PydagmanSiteGroup", **facts}.items():
        ad[name] = value
    return ad


def judge(group: Any, site: SiteAd, room: Room | None) -> Verdict:
    """What becomes of a group at a site; `room` is what is left there."""
    if site.problem:
        return Verdict(site.name, Obstacle.BROKEN, detail=site.problem)
    if not is_true(group, "Requirements", site.ad):
        return Verdict(site.name, Obstacle.GROUP_REFUSES)
    if "Requirements" in site.ad and not is_true(site.ad, "Requirements", group):
        return Verdict(site.name, Obstacle.SITE_REFUSES)
    if room is not None and room.taken >= room.most:
        return Verdict(site.name, Obstacle.FULL)
    return Verdict(site.name, Obstacle.NONE, _number(value_against(group, "Rank", site.ad)))


def verdicts(group: Any, sites: Sequence[SiteAd], rooms: Mapping[str, Room]) -> list[Verdict]:
    """As `judge`, for all sites."""
    return [judge(group, site, rooms.get(site.name)) for site in sites]


def is_true(ad: Any, attribute: str, target: Any) -> bool:
    """Whether an expression of `ad` is true of `target`; undefined and errors are not."""
    value = value_against(ad, attribute, target)
    return isinstance(value, (bool, int, float)) and bool(value)


def value_against(ad: Any, attribute: str, target: Any) -> Any:
    """The value of an expression of `ad`, `target` being the other side; None for none."""
    try:
        found = ad.lookup(attribute)
        value = found.eval(ad, target) if isinstance(found, classad2.ExprTree) else found
    except (KeyError, classad2.ClassAdException, *BINDINGS):
        return None
    return None if isinstance(value, classad2.Value) else value  # which is an int as well


def _number(value: Any) -> float:
    known = isinstance(value, (bool, int, float)) and value == value
    return min(max(float(value), -1e300), 1e300) if known else 0.0
