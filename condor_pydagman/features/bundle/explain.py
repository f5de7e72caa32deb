"""Nodes that run in a bundle, or wait in one."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.features.bundle.shown import place_of
from condor_pydagman.follow.run_model import NodeRun, Run
from condor_pydagman.printable import number_of


def moments(run: Run, node: NodeRun) -> Iterator[tuple[float, str]]:
    """When the node has gone into the bundle that it is in."""
    place = place_of(run, node.name)
    if place is not None:
        others = number_of(place.others, "other node")
        yield place.since, f"in bundle {place.bundle} with {others}"
