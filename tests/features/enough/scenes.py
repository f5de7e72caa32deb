"""Nodes that are not needed, in scenes."""

from __future__ import annotations

from tests.scenes.stage import Stage, fact


@fact("not needed")
def _not_needed(stage: Stage) -> str:
    """Their names."""
    not_needed = stage.harness.engine.run.features["enough"].counts.not_needed
    return " ".join(stage.harness.dag.names[node] for node in sorted(not_needed))


@fact("had failed")
def _had_failed(stage: Stage) -> str:
    """Names of those of which people are told that they had failed before."""
    told = stage.harness.engine.node_reports()
    return " ".join(one.name for one in told if "; it had failed: Job proc" in one.details)
