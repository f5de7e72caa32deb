"""Sites of groups of nodes, in scenes."""

from __future__ import annotations

from condor_pydagman.features.sites.messages import SiteClaim, SitesMatched
from tests.scenes.phrases import Told, phrase
from tests.scenes.stage import Stage


@phrase("the groups get <text>")
def _matched(_: Stage, sites: str) -> Told:
    """A site each, in the order of the groups."""
    names = sites.split()
    yield SitesMatched([SiteClaim(group, name, "") for group, name in enumerate(names)], names)
