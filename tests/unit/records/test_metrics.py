"""The metrics file, both versions."""

from __future__ import annotations

import json

import pytest

from condor_pydagman.engine.node_states import NOT_NEEDED
from condor_pydagman.engine.report import Deferrals, NodeReport, Report, Shown
from condor_pydagman.graph.model import Dag
from condor_pydagman.records.metrics import RunFacts, metrics_text
from condor_pydagman.vocabulary import DagStatus, NodeKind, NodeStatus

REPORT = Report(
    *(5, 3, 0, 0, 0, 0, 0, 2, 0, 0, DagStatus.NODE_FAILED, False, 9, 0, 0, 0, 7, Deferrals())
)
RUN = RunFacts("25.14.1", 1000.0, 1002.5, 1, dagman_id=12, parent_dagman_id=11, rescue_number=2)


def dag_and_nodes() -> tuple[Dag, list[NodeReport]]:
    dag = Dag(files=["t.dag"])
    done, error = NodeStatus.DONE, NodeStatus.ERROR
    nodes = []
    for name, kind, status in (
        ("A", NodeKind.JOB, done),
        ("B", NodeKind.JOB, error),
        ("D", NodeKind.SUBDAG, error),
        ("F", NodeKind.FINAL, done),
        ("P", NodeKind.PROVISIONER, done),
        ("V", NodeKind.SERVICE, done),
        ("W", NodeKind.SERVICE, NodeStatus.SUBMITTED),
    ):
        number = dag.add_node(name, "n.sub", kind)
        if kind == NodeKind.SUBDAG:
            dag.subdags[number] = "inner.dag"
        nodes.append(NodeReport(number, name, status, 0, 0, 0, 0, 0, False, "", ""))
    dag.finish()
    return dag, nodes


def test_version_2() -> None:
    dag, nodes = dag_and_nodes()
    assert metrics_text(dag, REPORT, nodes, RUN) == (
        "{\n"
        '    "client":"condor_dagman",\n'
        '    "version":"25.14.1",\n'
        '    "type":"metrics",\n'
        '    "metrics_version":2,\n'
        '    "start_time":1000.000,\n'
        '    "end_time":1002.500,\n'
        '    "duration":2.500,\n'
        '    "exitcode":1,\n'
        '    "dagman_id":"12",\n'
        '    "parent_dagman_id":"11",\n'
        '    "rescue_dag_number":2,\n'
        '    "has_final_node":true,\n'
        '    "nodes":4,\n'
        '    "nodes_failed":1,\n'
        '    "nodes_succeeded":3,\n'
        '    "dag_nodes":1,\n'
        '    "dag_nodes_failed":1,\n'
        '    "dag_nodes_succeeded":0,\n'
        '    "provisioner_nodes":1,\n'
        '    "service_nodes":2,\n'
        '    "service_nodes_failed":0,\n'
        '    "service_nodes_succeeded":1,\n'
        '    "total_nodes":7,\n'
        '    "total_nodes_run":6,\n'
        '    "jobs_submitted":9,\n'
        '    "jobs_succeeded":7,\n'
        '    "jobs_failed":2,\n'
        '    "DagStatus":2\n'
        "}\n"
    )


@pytest.mark.parametrize(
    ("own", "parent", "shown"), [(0, 0, ("-1", "0")), (7, 0, ("7", "")), (7, 5, ("7", "5"))]
)
def test_whose_run_it_was(own: int, parent: int, shown: tuple[str, str]) -> None:
    """By hand, as a job, as a job of another DAGMan: so stock writes it."""
    dag, nodes = dag_and_nodes()
    run = RUN._replace(dagman_id=own, parent_dagman_id=parent)
    found = json.loads(metrics_text(dag, REPORT, nodes, run))
    assert (found["dagman_id"], found["parent_dagman_id"]) == shown


def test_version_1() -> None:
    dag, nodes = dag_and_nodes()
    text = metrics_text(dag, REPORT, nodes, RUN._replace(parent_dagman_id=0), version=1)
    assert list(json.loads(text).items()) == [
        ("client", "condor_dagman"),
        ("version", "25.14.1"),
        ("type", "metrics"),
        ("start_time", 1000.0),
        ("end_time", 1002.5),
        ("duration", 2.5),
        ("exitcode", 1),
        ("dagman_id", "12"),
        ("parent_dagman_id", ""),
        ("rescue_dag_number", 2),
        ("jobs", 4),
        ("jobs_failed", 1),
        ("jobs_succeeded", 3),
        ("dag_jobs", 1),
        ("dag_jobs_failed", 1),
        ("dag_jobs_succeeded", 0),
        ("total_jobs", 5),
        ("total_jobs_run", 5),
        ("DagStatus", 2),
    ]


def test_a_service_that_ran_to_the_end_has_succeeded() -> None:
    dag, nodes = dag_and_nodes()
    last = [n._replace(status=NodeStatus.SUBMITTED) for n in nodes]
    values = json.loads(metrics_text(dag, REPORT, last, RUN._replace(exit_code=0)))
    assert (values["service_nodes"], values["service_nodes_succeeded"]) == (2, 2)
    assert values["nodes_succeeded"] == 0
    values = json.loads(metrics_text(dag, REPORT, last, RUN))
    assert (values["service_nodes"], values["service_nodes_succeeded"]) == (2, 0)


def test_the_graph_is_measured_if_wished() -> None:
    dag = Dag()
    for name in "ABCD":
        dag.add_node(name, "n.sub")
    dag.add_node("S", "n.sub", NodeKind.SERVICE)
    dag.add_node("F", "n.sub", NodeKind.FINAL)
    dag.add_edges([0], [1, 2], weak=False)
    dag.add_edges([1, 2], [3], weak=False)
    dag.finish()
    values = json.loads(metrics_text(dag, REPORT, [], RUN, graph=True))
    assert {name: value for name, value in values.items() if name.startswith("graph")} == {
        "graph_height": 2,
        "graph_width": 2,
        "graph_num_edges": 4,
        "graph_num_vertices": 5,
    }
    assert list(values)[-2:] == ["graph_num_vertices", "DagStatus"]


def test_what_was_enough_is_counted_and_what_was_not_needed_did_not_succeed() -> None:
    dag, nodes = dag_and_nodes()
    nodes[0] = nodes[0]._replace(marks=NOT_NEEDED)
    plain = json.loads(metrics_text(dag, REPORT, nodes, RUN))
    assert not {"enough_reached", "nodes_not_needed"} & set(plain)
    report = REPORT._replace(
        shown=(Shown("", 1, metric="enough_reached"), Shown("", 1, metric="nodes_not_needed"))
    )
    values = json.loads(metrics_text(dag, report, nodes, RUN))
    assert (values["enough_reached"], values["nodes_not_needed"]) == (1, 1)
    assert (plain["nodes_succeeded"], plain["nodes_failed"]) == (2, 1)


def test_an_empty_dag_is_still_json() -> None:
    dag = Dag()
    dag.finish()
    values = json.loads(metrics_text(dag, REPORT, [], RUN))
    assert values["has_final_node"] is False
    assert values["nodes"] == values["service_nodes"] == 0
