"""PARENT, CONNECT and pins."""

from __future__ import annotations

import pytest

from condor_pydagman.graph.model import JOIN, NOOP
from condor_pydagman.vocabulary import NodeKind
from tests.unit.graph.texts import JOBS, build_files, build_text, children, error, parents

ENDS = "JOB A x\nJOB B x\nPARENT A CHILD B\nPIN_IN A 1\nPIN_OUT B 1\n"


def test_a_line_with_many_parents_and_children_gets_a_join_node() -> None:
    dag = build_text(JOBS + "PARENT B A B CHILD C A\n")
    join = dag.ids["_condor_join_node0"]
    assert dag.submits[join] == "DNE.sub"
    assert dag.kinds[join] == NodeKind.JOB
    assert dag.flags[join] == NOOP | JOIN
    assert list(dag.parents(join)) == [0, 1]
    assert list(dag.children(join)) == [0, 2]


def test_join_nodes_can_be_switched_off() -> None:
    dag = build_text(JOBS + "PARENT A B CHILD C B\n", use_join_nodes=False)
    assert len(dag) == 3
    assert children(dag, "A") == children(dag, "B") == ["B", "C"]


def test_one_parent_needs_no_join_node() -> None:
    assert len(build_text(JOBS + "PARENT A A CHILD B A\n")) == 3


def test_join_nodes_are_not_numbered_by_file() -> None:
    text = "JOB A x\nJOB B x\nPARENT A B CHILD A B\n"
    dag = build_files({"a": text, "b": text})
    assert [name for name in dag.names if "join" in name] == [
        "_condor_join_node0",
        "_condor_join_node1",
    ]


def test_the_name_of_a_join_node_may_be_taken() -> None:
    found = error(JOBS + "JOB _condor_join_node0 x\nPARENT A B CHILD B C\n")
    assert str(found) == "ERROR: Join node name _condor_join_node0 already in use in DAG!!!"


def test_children_in_the_order_in_which_nodes_were_read() -> None:
    dag = build_text(JOBS + "PARENT C CHILD B A\nPARENT C CHILD C\n")
    assert children(dag, "C") == ["A", "B", "C"]
    dag = build_text(JOBS + "PARENT A CHILD C\nPARENT A CHILD B\nPARENT A CHILD B C\n")
    assert children(dag, "A") == ["C", "B"]


def test_weak_edges() -> None:
    dag = build_text(JOBS + "WEAK PARENT A CHILD B C\nPARENT A CHILD C\n")
    assert dag.is_weak(0, 1)
    assert not dag.is_weak(0, 2)
    dag = build_text(JOBS + "PARENT A CHILD C\nWEAK PARENT A CHILD B C\n")
    assert dag.is_weak(0, 1)
    assert not dag.is_weak(0, 2)


def test_weak_edges_of_a_join_node_are_those_into_it() -> None:
    dag = build_text(JOBS + "WEAK PARENT A B CHILD B C\n")
    assert [dag.is_weak(0, 3), dag.is_weak(1, 3), dag.is_weak(3, 2)] == [True, True, False]


def test_a_splice_stands_for_its_ends() -> None:
    splice = JOBS + "PARENT A CHILD B C\n"
    dag = build_text(
        "JOB X x\nSPLICE S s\nPARENT X CHILD S\nPARENT S CHILD Y\nJOB Y x\n", {"s": splice}
    )
    assert children(dag, "X") == ["S+A"]
    assert parents(dag, "Y") == ["S+B", "S+C"]


def test_a_splice_of_splices_stands_for_the_ends_of_them() -> None:
    inner = {"s": JOBS + "PARENT A CHILD B\n", "t": "SPLICE U s\nSPLICE V s\nPARENT U CHILD V\n"}
    dag = build_text("SPLICE T t\nJOB X x\nPARENT X CHILD T\nPARENT T CHILD X\n", inner)
    first = ["T+U+A", "T+U+C"]
    last = ["T+V+B", "T+V+C"]
    assert sorted(set(children(dag, "X"))) == first
    assert sorted(set(parents(dag, "X"))) == last


@pytest.mark.parametrize(
    ("kind", "line", "said"),
    [
        ("FINAL", "PARENT F CHILD A", "a parent to a Final"),
        ("FINAL", "PARENT A CHILD B F", "a child to a Final"),
        ("PROVISIONER", "PARENT F CHILD A", "parent to the PROVISIONER"),
        ("PROVISIONER", "PARENT A CHILD F", "child to the PROVISIONER"),
        ("SERVICE", "PARENT F CHILD A", "a parent to a SERVICE"),
        ("SERVICE", "PARENT A CHILD F", "a child to a SERVICE"),
    ],
)
def test_some_nodes_are_neither_parents_nor_children(kind: str, line: str, said: str) -> None:
    found = error(f"{JOBS}{kind} F x\n{line}\n")
    which = "parent" if line.startswith("PARENT F") else "child"
    assert said.split()[0 if said.startswith(("parent", "child")) else 1] == which
    assert " ".join(str(found).split()[-3:]).endswith("node F")
    assert "failed to add dependency between nodes" in found.detail()
    assert (found.line, found.text) == (5, line)


@pytest.mark.parametrize(
    ("line", "which", "name"),
    [
        ("PARENT Z CHILD A", "parent", "Z"),
        ("PARENT A CHILD B Z", "child", "Z"),
        ("PARENT A B Y Z CHILD C", "parent", "Y"),
        ("PARENT A CHILD ALL_NODES", "child", "ALL_NODES"),
    ],
)
def test_unknown_names(line: str, which: str, name: str) -> None:
    found = error(JOBS + line)
    assert str(found) == f"ERROR: Unknown {which} node {name} specified"
    assert found.at == name  # type: ignore[attr-defined]


def test_nodes_inside_a_splice_cannot_be_named() -> None:
    found = error("SPLICE S s\nJOB X x\nPARENT S+A CHILD X\n", {"s": JOBS})
    assert str(found) == "ERROR: Unknown parent node S+A specified"
    assert "inside a splice" in found.hint


def test_pins_of_equal_number_are_connected() -> None:
    text = "SPLICE S s\nSPLICE T t\nCONNECT S T\n"
    others = {
        "s": JOBS + "PIN_OUT A 2\nPIN_OUT C 1\nPIN_OUT B 1\nPIN_OUT C 1\n",
        "t": "JOB X x\nJOB Y x\nPIN_IN X 1\nPIN_IN Y 2\nPIN_IN X 2\n",
    }
    dag = build_text(text, others)
    assert children(dag, "S+A") == ["T+Y", "T+X"]
    assert children(dag, "S+B") == children(dag, "S+C") == ["T+X"]
    assert parents(dag, "T+X") == ["S+C", "S+B", "S+A"]


@pytest.mark.parametrize(
    ("outs", "ins", "said"),
    [
        ("", "PIN_IN X 1", "parent splice S has 0 pin_outs"),
        ("PIN_OUT X 1", "", "child splice T has 0 pin_ins"),
        ("PIN_OUT X 2", "PIN_IN X 1", "pin_in/out mismatch:  parent splice S has 2 pin_outs;"),
        ("PIN_OUT X 2", "PIN_IN X 2", "parent splice S has no node for pin_out 1"),
        ("PIN_OUT X 2\nPIN_OUT X 1", "PIN_IN X 2", "child splice T has no node for pin_in 1"),
        ("PIN_OUT X 2147483647", "PIN_IN X 2147483647", "no node for pin_out 1"),
        ("PIN_OUT X 1", "PIN_IN X 1\nJOB Y x", "T+Y has no parents after making pin connections"),
    ],
)
def test_pins_that_do_not_fit(outs: str, ins: str, said: str) -> None:
    others = {"s": f"JOB X x\n{outs}\n", "t": f"JOB X x\n{ins}\n"}
    found = error("SPLICE S s\nSPLICE T t\nCONNECT S T\n", others)
    assert said in str(found)
    assert found.line == 3


def test_pins_and_connect_name_what_there_is() -> None:
    assert str(error(JOBS + "PIN_IN Z 1")) == "ERROR: node Z not found!"
    found = error("SPLICE S s\nCONNECT S T\n", {"s": ENDS})
    assert str(found) == "ERROR: Connect child splice T does not exist"
    found = error("SPLICE S s\nCONNECT T S\n", {"s": ENDS})
    assert str(found) == "ERROR: Connect parent splice T does not exist"


def test_a_splice_without_nodes_has_no_ends() -> None:
    found = error("JOB A x\nSPLICE S s\nPARENT A CHILD S\n", {"s": "# nothing\n"})
    assert str(found) == "ERROR: No child nodes provided for dependency creation"
