"""Nodes that can't run any more because one before them has failed: no log names them."""

from __future__ import annotations

from condor_pydagman.graph.model import Dag
from condor_pydagman.trace.run_history import Run
from condor_pydagman.vocabulary import NodeStatus


def mark_futile(run: Run, dag: Dag) -> None:
    """Give such nodes their state.  A child by a weak edge runs though its parent has failed; one
    with a condition, or an ENOUGH about its parents, may."""
    special = dag.edges.any_weak or bool(dag.conditions or dag.enough_of)
    failed = [name for name, node in run.nodes.items() if node.status is NodeStatus.ERROR]
    waiting = [number for number in map(dag.find, failed) if number is not None]
    while waiting:
        parent = waiting.pop()
        for child in dag.children(parent):
            node = run.nodes.get(dag.names[child])
            may_run = special and dag.waits_for_end_only(parent, child)
            if node is not None and node.status is NodeStatus.NOT_READY and not may_run:
                node.status = NodeStatus.FUTILE
                waiting.append(child)
