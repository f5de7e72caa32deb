"""What the engine asks of what looks for sites, and what that answers."""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.features.sites.choice import NO_LIMITS, Limits, Wanted
from condor_pydagman.named_tuple import NamedTuple


class MatchSites(NamedTuple):
    """Find sites for groups, and keep them for these.  Answered by SitesMatched or SitesUnknown.

    Asked again after a restart, it finds the same sites, as far as they are still kept.
    """

    # all groups that have a site, and which; all other claims of this DAG are given up
    claims: tuple[tuple[int, str], ...]
    wanted: tuple[Wanted, ...]  # groups that need one
    # groups whose policy has a REMATCH_IF, and their sites
    watched: tuple[tuple[int, str], ...] = ()
    limits: Limits = NO_LIMITS  # how many groups more each site may get now


class SiteClaim(NamedTuple):
    """A site that is kept for a group; `digest` is of its ad, as it was then."""

    group: int
    site: str
    digest: str


class SitesMatched(NamedTuple):
    """Answer to MatchSites."""

    claims: Sequence[SiteClaim] = ()  # sites that are kept for groups from now on
    sites: Sequence[str] = ()  # all sites that have an ad
    reasons: Sequence[tuple[int, str]] = ()  # why there is none for groups of a kind that got none
    unfit: Sequence[int] = ()  # groups for which the REMATCH_IF of their policy is true
    # groups whose site has been given to others meanwhile: it is not kept for them
    without_room: Sequence[int] = ()


class SitesUnknown(NamedTuple):
    """Answer to MatchSites: the collector could not be asked, or claims could not be written."""

    reason: str


class PlaceFree(NamedTuple):
    """A place at a site may be free for groups of the DAG: another DAG has given it up."""
