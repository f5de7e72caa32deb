"""The commands that define nodes and submit descriptions."""

from __future__ import annotations

import pytest

from condor_pydagman.graph.model import DONE, NOOP, USER_DONE
from condor_pydagman.vocabulary import NodeKind
from tests.unit.graph.texts import JOBS, build_text, error, problems


def test_job_options() -> None:
    dag = build_text("JOB A a.sub\nJOB B b.sub DIR d NOOP DONE\n")
    assert dag.submits == ["a.sub", "b.sub"]
    assert list(dag.flags) == [0, NOOP | DONE | USER_DONE]
    assert dag.kinds[1] == NodeKind.JOB
    assert dag.directories == {1: "d"}


@pytest.mark.parametrize(("written", "meant"), [("d/", "d"), ("d//", "d"), ("/", "/"), (".", ".")])
def test_a_directory_has_no_slash_at_its_end(written: str, meant: str) -> None:
    assert build_text(f"JOB A a DIR {written}").directories == {0: meant}


def test_kinds_of_nodes() -> None:
    dag = build_text("JOB A a\nFINAL F f\nPROVISIONER P p\nSERVICE S s\nSERVICE T t\nDATA D d\n")
    found = {name: NodeKind(kind) for name, kind in zip(dag.names, dag.kinds)}
    assert found == {
        "A": NodeKind.JOB,
        "F": NodeKind.FINAL,
        "P": NodeKind.PROVISIONER,
        "S": NodeKind.SERVICE,
        "T": NodeKind.SERVICE,
        "D": NodeKind.DATA,
    }


def test_a_subdag_knows_its_dag_file_and_the_submit_file_to_come() -> None:
    dag = build_text("SUBDAG EXTERNAL A a.dag DIR d\nFINAL F f.dag.condor.sub\n")
    assert dag.submits == ["a.dag.condor.sub", "f.dag.condor.sub"]
    assert dag.subdags == {0: "a.dag", 1: "f.dag"}
    assert list(dag.kinds) == [NodeKind.SUBDAG, NodeKind.FINAL]


@pytest.mark.parametrize("word", ["JOB", "SERVICE", "PROVISIONER"])
def test_other_nodes_cannot_name_the_submit_file_of_a_dag(word: str) -> None:
    found = error(f"JOB A x\n{word} B b.dag.condor.sub\n")
    assert str(found).endswith("The use of the JOB keyword for nested DAGs is prohibited.")
    assert (found.line, found.file) == (2, "x.dag")
    assert "SUBDAG EXTERNAL" in found.hint


@pytest.mark.parametrize("kind", ["FINAL", "PROVISIONER"])
def test_there_is_one_final_and_one_provisioner(kind: str) -> None:
    found = error(f"{kind} F x\nJOB A x\n{kind} G x\n")
    assert str(found) == (
        f"Error: DAG already has a {kind.lower()} node F; attempting to add {kind.lower()} node G"
    )
    assert "ERROR: Failed to add node G to DAG.\nProcessing error at x.dag:3" in found.detail()


def test_what_stands_outside_the_order_of_nodes_is_never_done() -> None:
    dag = build_text("FINAL F x DONE\nSERVICE S x DONE NOOP\n")
    assert list(dag.flags) == [0, NOOP]
    assert dag.warnings == [
        "WARNING: FINAL node F can not be marked as DONE",
        "WARNING: SERVICE node S can not be marked as DONE",
    ]


def test_inline_descriptions_are_numbered() -> None:
    dag = build_text("JOB A {\nx = 1\n}\nJOB B @=E\nqueue 2\n@E\nSUBMIT-DESCRIPTION s {\n}\n")
    assert dag.submits == ["A-InlineDesc0", "B-InlineDesc1"]
    assert dag.descriptions == {"A-InlineDesc0": "x = 1", "B-InlineDesc1": "queue 2", "s": ""}


def test_the_last_submit_description_of_a_name_counts() -> None:
    dag = build_text("SUBMIT-DESCRIPTION s {\nx=1\n}\nSUBMIT-DESCRIPTION s {\nx=2\n}\n")
    assert dag.descriptions == {"s": "x=2"}
    assert "multiple time" in dag.warnings[0]


def test_a_name_that_is_taken() -> None:
    found = error("JOB A x\n\nSUBDAG EXTERNAL A y\n")
    assert str(found) == "ERROR: Node A already exists in DAG."
    assert found.hint.endswith("the first is defined at x.dag:1")
    assert found.text == "SUBDAG EXTERNAL A y"


def test_a_name_that_a_splice_has() -> None:
    found = error("SPLICE A s.dag\nJOB A x\n", {"s.dag": JOBS})
    assert str(found) == "ERROR: Node name A already associated with a splice in DAG"
    found = error("JOB A x\nSPLICE A s.dag\n", {"s.dag": JOBS})
    assert str(found) == "ERROR: Splice name A already associated with a node in DAG."


def test_a_directory_of_a_node_and_one_of_its_dag() -> None:
    found = error("JOB A x DIR e\n", use_dag_dir=True)
    assert str(found) == ("ERROR: Node DIR <directory> sub-command can not be used with -UseDagDir")


def test_names_defined_twice_among_very_many() -> None:
    names = [f"n{number}" for number in range(100)]
    lines = [f"JOB {name} x" for name in [*names, "n7", *names[:3]]]
    found = problems("\n".join(lines) + "\n").errors
    assert [(str(one), one.line) for one in found] == [
        ("ERROR: Node n7 already exists in DAG.", 101),
        ("ERROR: Node n0 already exists in DAG.", 102),
        ("ERROR: Node n1 already exists in DAG.", 103),
        ("ERROR: Node n2 already exists in DAG.", 104),
    ]
