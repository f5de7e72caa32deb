"""PARENT, CONNECT and pins."""

from __future__ import annotations

import pytest

from condor_pydagman.graph.model import JOIN, NOOP
from condor_pydagman.vocabulary import NodeKind
from tests.unit.graph.texts import JOBS, build_text, error


def test_a_line_with_many_parents_and_children_gets_a_join_node() -> None:
    dag = build_text(JOBS + "PARENT B A B CHILD C A\n")
    join = dag.ids["_condor_join_node0"]
    assert dag.submits[join] == "DNE.sub"
    assert dag.kinds[join] == NodeKind.JOB
    assert dag.flags[join] == NOOP | JOIN
    assert list(dag.parents(join)) == [0, 1]
    assert list(dag.children(join)) == [0, 2]


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
