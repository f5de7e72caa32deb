"""What the engine asks of what looks for sites, and what that answers."""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.features.sites.choice import NO_LIMITS, Limits, Wanted
from condor_pydagman.named_tuple import NamedTuple


class MatchSites(NamedTuple):
    """Find sites for groups, and keep them for these.  Answered by SitesMatched or SitesUnknown.

    Asked again after a restart, it finds the same sites, as far as they are still kept.

    Attributes:
        claims: all groups that have a site, and which; all other claims of this DAG are given up.
        wanted: groups that need one.
        watched: groups whose policy has a REMATCH_IF, and their sites.
        limits: how many groups more each site may get now.
    """

    claims: tuple[tuple[int, str], ...]
    wanted: tuple[Wanted, ...]
    watched: tuple[tuple[int, str], ...] = ()
    limits: Limits = NO_LIMITS


class SiteClaim(NamedTuple):
    """A site that is kept for a group; `digest` is of its ad, as it was then."""

    group: int
    site: str
    digest: str


class SitesMatched(NamedTuple):
    """Answer to MatchSites.

    Attributes:
        claims: sites that are kept for groups from now on.
        sites: all sites that have an ad.
        reasons: why there is none for groups of a kind that got none.
        unfit: groups for which the REMATCH_IF of their policy is true.
        without_room: groups whose site has been given to others meanwhile: it is not kept for them.
    """

    claims: Sequence[SiteClaim] = ()
    sites: Sequence[str] = ()
    reasons: Sequence[tuple[int, str]] = ()
    unfit: Sequence[int] = ()
    without_room: Sequence[int] = ()


class SitesUnknown(NamedTuple):
    """Answer to MatchSites: the collector could not be asked, or claims could not be written."""

    reason: str


class PlaceFree(NamedTuple):
    """A place at a site may be free for groups of the DAG: another DAG has given it up."""
