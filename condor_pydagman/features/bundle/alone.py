"""Nodes of BUNDLE lines that run alone whatever their descriptions say, before a run."""

from __future__ import annotations

from collections.abc import Collection

from condor_pydagman.features.bundle.commands import BUNDLED
from condor_pydagman.features.bundle.one_bundle import why_alone
from condor_pydagman.features.shared_limits.commands import limit_uses_of
from condor_pydagman.features.timeout.commands import timeouts_of
from condor_pydagman.graph.model import Dag


def alone_in(dag: Dag, nodes: Collection[int]) -> dict[int, str]:
    """Those of the nodes of a DAG that run alone, by what its files say; and why."""
    timeouts = timeouts_of(dag)
    every = range(len(dag))
    limited = {node for use in limit_uses_of(dag) for node in use.of.among(dag, every, BUNDLED)}
    reasons = (
        (node, why_alone(dag, node, has_limit=node in limited, timeout=timeouts.get(node)))
        for node in nodes
    )
    return {node: why for node, why in reasons if why}
