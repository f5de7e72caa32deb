"""The graph that condor_dag_checker counts: edges by PARENT lines, join nodes, ends of a splice."""

from __future__ import annotations

import pytest

from condor_pydagman.dagfile.bulk import SimpleLines
from condor_pydagman.lint.outline_graph import OutlineGraph
from condor_pydagman.lint.references import WaitingRows
from condor_pydagman.vocabulary import NodeKind


def graph_of(names: str, use_join_nodes: bool = True) -> OutlineGraph:
    graph = OutlineGraph(use_join_nodes)
    for name in names.split():
        graph.add_node(name, NodeKind.JOB)
    return graph


def test_many_parents_of_many_children_get_a_join_node() -> None:
    graph = graph_of("A B C D")
    graph.add_edges([0, 1], [2, 3])
    assert graph.dag.names[4:] == ["_condor_join_node1"]


def test_without_join_nodes_they_are_connected_directly() -> None:
    graph = graph_of("A B C D", use_join_nodes=False)
    graph.add_edges([0, 1], [2, 3])
    graph.dag.finish()
    assert [list(graph.dag.children(node)) for node in range(4)] == [[2, 3], [2, 3], [], []]


def parent_lines(*lines: str) -> SimpleLines:
    return SimpleLines(1, len(lines), "".join(f"\n{line}" for line in lines), {})


@pytest.mark.parametrize("last", ["PARENT A CHILD C", "PARENT A CHILD B F", "PARENT F CHILD B"])
def test_parent_lines_with_a_name_that_can_have_no_edge_add_nothing(last: str) -> None:
    graph = graph_of("A B")
    graph.add_node("F", NodeKind.FINAL)
    assert not graph.add_parents("", parent_lines("PARENT A CHILD B", last))
    assert len(graph.dag.edges) == 0
    assert graph.add_parents("", parent_lines("PARENT A CHILD B"))
    assert len(graph.dag.edges) == 1


@pytest.mark.parametrize(
    ("lines", "edges"),
    [
        (["PARENT A CHILD B C", "PARENT B CHILD C A"], [(0, 1), (0, 2), (1, 0), (1, 2)]),
        (["PARENT B CHILD C C", "PARENT A CHILD B A"], [(0, 1), (0, 0), (1, 2)]),
        (["PARENT A CHILD B", "PARENT A CHILD B C"], [(0, 1), (0, 2)]),
    ],
)
def test_parent_lines(lines: list[str], edges: list[tuple[int, int]]) -> None:
    graph = graph_of("A B C")
    assert graph.add_parents("", parent_lines(*lines))
    graph.dag.finish(parents_later=True)
    found = [(node, child) for node in range(3) for child in graph.dag.children(node)]
    assert found == edges
    parents = [(parent, node) for node in range(3) for parent in graph.dag.parents(node)]
    assert sorted(parents) == sorted(edges)


def test_lines_that_wait_are_kept_with_their_numbers() -> None:
    lines = ["JOB A a", "PARENT A CHILD B", "PARENT B CHILD é"]
    waiting = WaitingRows(SimpleLines(7, 3, "".join(f"\n{line}" for line in lines), {}))
    assert [(one.line, one.parents, one.children) for one in waiting.commands()] == [
        (8, ("A",), ("B",)),
        (9, ("B",), ("é",)),
    ]


def test_ends_are_of_the_nodes_from_a_number_on() -> None:
    graph = graph_of("A B C")
    graph.add_edges([1], [2])
    ends = graph.ends_from(1)
    assert (list(ends.initial), list(ends.terminal)) == ([1], [2])
