"""Nodes that are not needed, in scenes."""

from __future__ import annotations

from tests.scenes.stage import Stage, fact


@fact("not needed")
def _not_needed(stage: Stage) -> str:
    """Their names."""
    not_needed = stage.harness.engine.run.features["enough"].counts.not_needed
    return " ".join(stage.harness.dag.names[node] for node in sorted(not_needed))
