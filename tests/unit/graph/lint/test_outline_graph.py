"""The graph that condor_dag_checker counts: edges by PARENT lines, join nodes, ends of a splice."""

from __future__ import annotations

from condor_pydagman.graph.lint.outline_graph import OutlineGraph
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


def test_rows_with_an_unknown_name_add_nothing() -> None:
    graph = graph_of("A B")
    assert not graph.add_rows("", [("A", "B"), ("A", "C")])
    assert len(graph.dag.edges) == 0
    assert graph.add_rows("", [("A", "B")])
    assert len(graph.dag.edges) == 1


def test_ends_are_of_the_nodes_from_a_number_on() -> None:
    graph = graph_of("A B C")
    graph.add_edges([1], [2])
    ends = graph.ends_from(1)
    assert (list(ends.initial), list(ends.terminal)) == ([1], [2])
