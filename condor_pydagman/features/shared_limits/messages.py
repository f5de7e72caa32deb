"""What the helper of shared limits is asked, and what it says."""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.features.shared_limits.fair_shares import Demand, Grant
from condor_pydagman.named_tuple import NamedTuple

HELPER = "shared_limits"


class TakePlaces(NamedTuple):
    """Ask for places of limits that DAGs share, and give up those that are not kept.  Answered by
    PlacesGiven or PlacesUnknown.
    """

    demands: tuple[Demand, ...]  # by class of nodes, from 1; all places that the DAG has are in it


class PlacesGiven(NamedTuple):
    """Answer to TakePlaces; see `rounds.Outcome`."""

    grants: Sequence[Grant]
    contested: bool = False
    again_s: float | None = None


class PlacesUnknown(NamedTuple):
    """Answer to TakePlaces: nothing has changed."""

    reason: str


class PlacesWanted(NamedTuple):
    """Other DAGs have given places of shared limits back, or want some."""
