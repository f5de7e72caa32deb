"""The Dag: edges, junctions, places."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.graph.model import Dag
from condor_pydagman.names import logged_name


def dag_of(count: int, lines: list[tuple[list[int], list[int]]]) -> Dag:
    dag = Dag()
    for number in range(count):
        dag.add_node(f"N{number}", "x.sub")
    for parents, children in lines:
        dag.add_edges(parents, children)
    dag.finish()
    return dag


def test_a_line_with_many_on_both_sides_is_one_junction() -> None:
    dag = dag_of(200, [(list(range(100)), list(range(100, 200)))])
    assert dag.vertex_count == 201
    assert list(dag.children(3)) == list(range(100, 200))
    assert list(dag.parents(150)) == list(range(100))
    assert dag.predecessor_count(150) == 1
    assert dag.predecessor_count(200) == 100


def test_an_edge_named_twice_counts_once() -> None:
    dag = dag_of(2, [([0], [1]), ([0], [1])])
    assert list(dag.successors(0)) == [1]
    assert dag.predecessor_count(1) == 1


def test_nodes_without_edges() -> None:
    dag = dag_of(2, [])
    assert not dag.has_children(0)
    assert not dag.has_parents(1)
    assert list(dag.children(1)) == []


def test_places_name_the_right_file() -> None:
    dag = Dag(files=["a.dag", "empty.dag", "b.dag"])
    dag.begin_file()
    dag.add_node("A", "x.sub", line=3)
    dag.begin_file()
    dag.begin_file()
    dag.add_node("B", "x.sub", line=9)
    dag.add_node("made by us", "x.sub")
    dag.finish()
    assert [dag.place(node) for node in range(3)] == ["a.dag:3", "b.dag:9", ""]


numbers = st.integers(0, 7)
sides = st.lists(numbers, min_size=1, max_size=5, unique=True)


@given(st.lists(st.tuples(sides, sides), max_size=8))
def test_children_and_parents_agree_with_the_lines(
    lines: list[tuple[list[int], list[int]]],
) -> None:
    dag = dag_of(8, lines)
    wanted = {(p, c) for parents, children in lines for p in parents for c in children}
    assert {(p, c) for p in range(8) for c in dag.children(p)} == wanted
    assert {(p, c) for c in range(8) for p in dag.parents(c)} == wanted


def test_nodes_are_found_by_the_name_that_the_log_shows() -> None:
    dag = Dag()
    for name in ("A", "x" * 5000, "b\x02"):
        dag.add_node(name, "x.sub")
    assert [dag.find(logged_name(name)) for name in dag.names] == [0, 1, 2]
    assert dag.find("Z") is None
