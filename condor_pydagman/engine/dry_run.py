"""-DryRun: a node is done instead of being submitted.

PRE scripts run, and what they return counts; jobs and the POST scripts behind them do not.  What a
dry run finds is no progress: it writes no rescue file and no save files, so that no later run takes
a node for done whose job has never run.  (Stock DAGMan writes both; it does not go on behind a
PROVISIONER node, and crashes on SERVICE nodes.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor_pydagman.engine.node_states import Cause

if TYPE_CHECKING:
    from condor_pydagman.engine.engine import Engine


def process(engine: Engine, node: int) -> None:
    """It is the node's turn to be submitted."""
    engine.say(f"Processing node: {engine.dag.names[node]}")
    engine.nodes.move(node, Cause.JOBS_SEEN, engine.now)
    engine.left_queue(node)
    engine.submitted_in_a_row += 1
    given = node == engine.provisioner.node and not engine.provisioner.ready
    engine.provisioner.ready = engine.provisioner.ready or given
    engine.succeed(node)
    if given:
        engine.start_roots()
