"""Nodes that do not start since their group waits for a site."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.features.sites.shown import waiting_notices
from condor_pydagman.follow.notice import Notice
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.graph.model import Dag


def held_back(facts: Facts, dag: Dag, node: int) -> Iterator[Notice]:
    """Why a node that waits for nothing else does not start."""
    number = dag.group_of(node)
    group = dag.groups[number].name if number is not None else None
    own = [one for one in facts.of.get("sites", ()) if one.name == group]
    return waiting_notices(own, facts.now)
