"""Nodes that run in a bundle, or wait in one."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.features.bundle.shown import place_of
from condor_pydagman.follow.run_model import NodeRun, Run
from condor_pydagman.printable import number_of
from condor_pydagman.vocabulary import NodeStatus


def moments(run: Run, node: NodeRun) -> Iterator[tuple[float, str]]:
    """When the node has gone into the bundle that it is in; while that runs, it may have ended, or
    run again elsewhere."""
    place = place_of(run, node.name)
    runs_alone = any(one.procs and not one.over for one in node.attempts[-1:])
    if place is not None and node.status is NodeStatus.SUBMITTED and not runs_alone:
        others = number_of(place.others, "other node")
        yield place.since, f"in bundle {place.bundle} with {others}"
