"""Nodes that can't run any more."""

from __future__ import annotations

from condor_pydagman.trace.futile import mark_futile
from condor_pydagman.trace.run_history import NodeRun, Run
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.report.runs import make_dag


def test_descendants_of_a_failed_node() -> None:
    dag = make_dag(
        "JOB A x\nJOB B x\nJOB C x\nJOB D x\nJOB E x\nPARENT A CHILD B E\nPARENT B CHILD C\n"
        "WEAK PARENT A CHILD D\nRUN_IF E Failed > 0\n"
    )
    run = Run()
    run.nodes = {name: NodeRun(name) for name in "ABCDE"}
    run.nodes["A"].status = NodeStatus.ERROR
    mark_futile(run, dag)
    assert {name: node.status.name for name, node in run.nodes.items()} == {
        "A": "ERROR", "B": "FUTILE", "C": "FUTILE", "D": "NOT_READY", "E": "NOT_READY"
    }  # fmt: skip
