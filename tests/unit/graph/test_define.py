"""The commands that define nodes and submit descriptions."""

from __future__ import annotations

import pytest

from condor_pydagman.vocabulary import NodeKind
from tests.unit.graph.texts import build_text, error, problems


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
