"""SAVE_POINT_FILE: progress is written to a file when a node starts for the first time.

A wish until it is done: what an old log shows to have started has had its file written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor_pydagman.engine import actions as do

if TYPE_CHECKING:
    from condor_pydagman.engine.engine import Engine


def want(engine: Engine, node: int) -> None:
    """A node starts."""
    first = not engine.nodes.retries.get(node)
    if first and node in engine.dag.save_points and not engine.dry_run:
        engine.save_points[node] = None


def work_off(engine: Engine) -> None:
    """Write what is due, before anything of those nodes begins."""
    for node in engine.save_points:
        engine.emit(do.WriteSavePoint(node))
    engine.save_points.clear()
