"""The dump of failed nodes."""

from __future__ import annotations

from condor_pydagman.engine.report import NodeReport
from condor_pydagman.graph.model import NOOP, Dag, Retry, Script
from condor_pydagman.records.status_table import failure_dump, node_dump
from condor_pydagman.vocabulary import NodeKind, NodeStatus, ScriptKind


def dag_of(*names: str) -> Dag:
    dag = Dag()
    for name in names:
        dag.add_node(name, f"{name}.sub")
    return dag


def failed(number: int, name: str) -> NodeReport:
    return NodeReport(number, name, NodeStatus.ERROR, 0, 0, 1, 0, 0, False, "", "")


def test_everything_a_node_can_have() -> None:
    dag = dag_of("A", "B", "C", "D")
    dag.add_edges([0, 1], [2])
    dag.add_edges([2], [3])
    dag.finish()
    dag.scripts[2] = {
        ScriptKind.POST: Script("post.sh $RETURN"),
        ScriptKind.PRE: Script("pre.sh"),
        ScriptKind.HOLD: Script("hold.sh"),
    }
    dag.retries[2] = Retry(1)
    report = failed(2, "C")._replace(
        error="Job proc (37.0.0) failed with status 7", job="37.0.0", return_value=7, retries_done=1
    )
    assert list(failure_dump(dag, [report])) == [
        "ERROR: the following job(s) failed:",
        "---------------------- Node ----------------------",
        "      Node Name: C",
        "           Noop: false",
        "         NodeID: 2",
        "    Node Status: STATUS_ERROR    ",
        "Node return val: 7",
        "          Error: Job proc (37.0.0) failed with status 7",
        "Job Submit File: C.sub",
        "     PRE Script: pre.sh",
        "    POST Script: post.sh $RETURN",
        "    HOLD Script: hold.sh",
        "          Retry: 1",
        " HTCondor Job ID: (37.0.0)",
        "PARENTS: A B WAITING: 0 CHILDREN: D",
        "---------------------------------------\t<END>",
    ]


def test_the_least_a_node_has() -> None:
    dag = dag_of("A")
    dag.flags[0] = NOOP
    dag.finish()
    assert list(node_dump(dag, failed(0, "A")))[2:] == [
        "           Noop: true",
        "         NodeID: 0",
        "    Node Status: STATUS_ERROR    ",
        "Node return val: 1",
        "Job Submit File: A.sub",
        " HTCondor Job ID: [not yet submitted]",
        "PARENTS:  WAITING: 0 CHILDREN: ",
    ]


def test_nothing_failed_nothing_said() -> None:
    dag = dag_of("A")
    dag.finish()
    assert list(failure_dump(dag, [failed(0, "A")._replace(status=NodeStatus.DONE)])) == []


def test_headline_before_and_after_the_final_node() -> None:
    dag = dag_of("A")
    dag.add_node("F", "f.sub", NodeKind.FINAL)
    dag.finish()
    before = list(failure_dump(dag, [failed(0, "A")]))
    after = list(failure_dump(dag, [failed(0, "A"), failed(1, "F")]))
    assert before[0] == "ERROR: the following Node(s) failed:"
    assert after[0] == "ERROR: the following job(s) failed:"


def test_a_node_with_very_many_children() -> None:
    dag = dag_of("A", *(f"child_{number}" for number in range(300)))
    dag.add_edges([0], range(1, 301))
    dag.finish()
    last = list(node_dump(dag, failed(0, "A")))[-1]
    assert last.endswith(" child_113")
