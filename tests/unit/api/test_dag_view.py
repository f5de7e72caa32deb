"""Dag, Node and Edges: the graph's arrays seen as a mapping."""

from __future__ import annotations

import pytest

from condor_pydagman import Edge, NodeKind, Place, Retry, ScriptKind, parse_dag

TEXT = """\
JOB A a.sub
JOB B b.sub DIR d NOOP
JOB C c.sub DONE
SUBDAG EXTERNAL S inner.dag
FINAL F f.sub
PARENT A B CHILD C S
PARENT A CHILD C
RETRY A 3 UNLESS-EXIT 2
VARS A x="1" y="2"
SCRIPT DEFER 4 60 PRE A pre.sh $JOB
ABORT-DAG-ON B 3 RETURN 0
PRIORITY A 7
CATEGORY A heavy
MAXJOBS heavy 2
PRE_SKIP A 1
NODE_STATUS_FILE n.status 30
"""
EDGES = [("A", "C"), ("A", "S"), ("B", "C"), ("B", "S")]


def test_a_dag_is_a_mapping_in_dagmans_order() -> None:
    dag = parse_dag(TEXT, name="t.dag")
    assert list(dag) == ["A", "B", "C", "S", "F"] == [node.name for node in dag.values()]
    assert len(dag) == 5
    assert "A" in dag
    assert "X" not in dag
    assert dag.get("X") is None
    with pytest.raises(KeyError):
        dag["X"]


def test_nodes_say_what_the_lines_say() -> None:
    dag = parse_dag(TEXT, name="t.dag")
    a, b = dag["A"], dag["B"]
    assert (a.kind, a.submit, a.retry) == (NodeKind.JOB, "a.sub", Retry(3, (2,)))
    assert [(one.key, one.value) for one in a.variables] == [("x", "1"), ("y", "2")]
    script = a.scripts[ScriptKind.PRE]
    assert (script.command, script.defer_status, script.defer_seconds) == ("pre.sh $JOB", 4, 60)
    assert (a.priority, a.category, a.pre_skip, a.abort) == (7, "heavy", 1, None)
    assert a.settings == {}
    assert b.abort is not None
    assert (b.abort.status, b.abort.exit_code) == (3, 0)
    assert (b.directory, b.noop, b.done, dict(b.scripts)) == ("d", True, False, {})
    assert dag["C"].done
    assert (dag["S"].kind, dag["S"].subdag, dag["F"].kind) == (
        NodeKind.SUBDAG, "inner.dag", NodeKind.FINAL,
    )  # fmt: skip
    assert dict(dag.category_limits) == {"heavy": 2}
    assert dag.node_status_file == "n.status"


def test_edges_of_a_line_with_many_on_both_sides_come_once() -> None:
    dag = parse_dag(TEXT, name="t.dag")
    assert sorted((edge.parent, edge.child) for edge in dag.edges) == EDGES
    assert len(dag.edges) == len(EDGES)
    assert dag["C"].parents == ("A", "B")
    assert set(dag["A"].children) == {"C", "S"}


def test_whether_there_is_an_edge() -> None:
    dag = parse_dag("JOB A a\nJOB B a\nPARENT A CHILD B\n")
    assert ("A", "B") in dag.edges
    assert Edge("A", "B") in dag.edges
    assert Edge("A", "B", weak=True) not in dag.edges
    assert ("B", "A") not in dag.edges
    assert ("A", "nosuch") not in dag.edges
    assert "A" not in dag.edges


def test_nodes_are_equal_by_dag_and_name() -> None:
    dag, other = parse_dag(TEXT), parse_dag(TEXT)
    assert dag["A"] == dag["A"] != dag["B"]
    assert dag["A"] != other["A"]
    assert {dag["A"], dag["A"]} == {dag["A"]}
    assert dag != other
    assert dag["A"] != "A"
    assert repr(dag["A"]) == "<Node 'A'>"


def test_nothing_can_be_changed() -> None:
    dag = parse_dag(TEXT)
    with pytest.raises(AttributeError):
        dag["A"].submit = "x"  # type: ignore[misc]
    with pytest.raises(TypeError):
        dag.category_limits["heavy"] = 3  # type: ignore[index]


def test_places_are_those_of_the_definition() -> None:
    dag = parse_dag(TEXT, name="t.dag")
    assert dag["B"].place == Place("t.dag", 2)
    assert str(dag["B"].place) == "t.dag:2"
    assert str(Place("t.dag", 2, 5)) == "t.dag:2:5"


def test_the_edges_of_a_dense_layer_are_not_held_in_memory() -> None:
    names = " ".join(f"N{number}" for number in range(2000))
    lines = [f"JOB N{number} a.sub" for number in range(2000)]
    lines += [f"JOB M{number} a.sub" for number in range(2000)]
    dag = parse_dag("\n".join([*lines, f"PARENT {names} CHILD {names.replace('N', 'M')}", ""]))
    assert len(dag.edges) == 4_000_000
    assert next(iter(dag.edges)) == Edge("N0", "M0")


def test_what_commands_of_features_say_of_a_node() -> None:
    text = "JOB A x\nJOB B x\nPARENT A CHILD B\nRUN_IF B Parents.A.n > 1\nTIMEOUT B RUNNING 2h\n"
    dag = parse_dag(f"{text}PUBLISH A FILE a.ad\nPUBLISH A ATTRIBUTES MemoryUsage\n", name="t.dag")
    assert dag["A"].settings == {"PUBLISH": {"file": "a.ad", "attributes": ("MemoryUsage",)}}
    assert dag["B"].settings == {
        "TIMEOUT": {"running": 7200},
        "RUN_IF": {"otherwise": "SKIP", "expression": "Parents.A.n > 1"},
    }
