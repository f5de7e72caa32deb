"""From a Dag to boxes and lines."""

from __future__ import annotations

import pytest

from condor_pydagman.follow.shown_states import Shown
from condor_pydagman.graph.model import JOIN, Dag, Splice
from condor_pydagman.picture.fold import make_sketch
from condor_pydagman.picture.sketch import Edge, Fold, Line, Sketch
from condor_pydagman.picture.states import States
from condor_pydagman.vocabulary import NodeKind
from tests.unit.picture import dag_of


def sketch(dag: Dag, limit: int, **states: Shown) -> Sketch:
    found = States(dag)
    for name, state in states.items():
        found.of[dag.ids[name]] = state
    return make_sketch(dag, found.of, limit)


def spliced(splices: int, nodes: int) -> Dag:
    """Splices of a split and works, all between a first and a last node."""
    dag = Dag()
    first = dag.add_node("first", "f.sub")
    ends = []
    for number in range(splices):
        begin = dag.add_node(f"S{number}+split", "s.sub")
        works = [dag.add_node(f"S{number}+work{n}", "w.sub") for n in range(nodes - 1)]
        dag.add_edges([first], [begin])
        dag.add_edges([begin], works)
        dag.splices.append(Splice(f"S{number}", "s.dag", "", begin, len(dag)))
        ends += works
    dag.add_edges(ends, [dag.add_node("last", "l.sub")])
    dag.finish()
    return dag


def test_a_small_dag_is_shown_as_it_is() -> None:
    found = sketch(dag_of("abcd", [([0], [1, 2]), ([1], [3]), ([2], [3])]), 10)
    assert [box.label for box in found.boxes] == ["a", "b", "c", "d"]
    assert found.lines == [Line(0, 1), Line(0, 2), Line(1, 3), Line(2, 3)]


def test_alike_nodes_fold_to_a_stack_and_failed_ones_stand_out() -> None:
    dag = dag_of([*(f"work_{n}" for n in range(50)), "join"], [(range(50), [50])])
    found = sketch(dag, 10, work_7=Shown.FAILED, work_8=Shown.FAILED, work_1=Shown.DONE)
    labels = {box.label: box for box in found.boxes}
    assert set(labels) == {"work_0 … work_49", "work_7 … work_8", "join"}
    stack = labels["work_0 … work_49"]
    assert (stack.fold, stack.things, stack.counts[Shown.DONE]) == (Fold.ALIKE, 48, 1)
    assert labels["work_7 … work_8"].members == [7, 8]


def test_splices_fold_first() -> None:
    found = sketch(spliced(5, 40), 8)
    assert [(box.fold, box.label, box.nodes) for box in found.boxes] == [
        (Fold.NODE, "first", 1),
        *((Fold.SPLICE, f"S{n}", 40) for n in range(5)),
        (Fold.NODE, "last", 1),
    ]


def test_folded_splices_that_are_alike_fold_to_a_stack() -> None:
    found = sketch(spliced(30, 10), 6)
    (stack,) = [box for box in found.boxes if box.fold is Fold.ALIKE]
    assert (stack.label, stack.things, stack.splices, stack.nodes) == ("S0 … S29", 30, True, 300)


def test_splices_stay_open_if_what_is_in_them_can_fold() -> None:
    found = sketch(spliced(2, 100), 20)
    assert [box.label for box in found.boxes] == [
        "first", "S0+split", "S0+work0 … S0+work98", "S1+split", "S1+work0 … S1+work98", "last",
    ]  # fmt: skip


def test_of_nested_splices_the_inner_ones_fold_before_the_outer_ones() -> None:
    dag = Dag()
    for outer in range(3):
        begin = len(dag)
        for inner in "abcd":
            names = [f"S{outer}+T{inner}+{letter}" for letter in "pqrst"]
            nodes = [dag.add_node(name, f"{name}.sub") for name in names]
            for parent, child in zip(nodes, nodes[1:]):
                dag.add_edges([parent], [child])
            dag.splices.append(Splice(f"S{outer}+T{inner}", "t.dag", "", nodes[0], len(dag)))
        dag.splices.append(Splice(f"S{outer}", "s.dag", "", begin, len(dag)))
    dag.finish()
    assert {box.label for box in sketch(dag, 14).boxes} == {
        f"S{outer}+T{inner}" for outer in range(3) for inner in "abcd"
    }
    assert {box.label for box in sketch(dag, 5).boxes} == {"S0", "S1", "S2"}


def test_a_wide_parent_line_is_a_dot() -> None:
    dag = dag_of("abcd", [([0, 1], [2, 3])])
    found = sketch(dag, 10)
    assert [box.fold for box in found.boxes] == [Fold.NODE] * 4 + [Fold.DOT]
    assert len(found.lines) == 4


def test_a_join_node_is_a_dot_that_counts_as_a_node() -> None:
    dag = Dag()
    dag.add_node("_condor_join_node0", "DNE.sub", flags=JOIN)
    dag.finish()
    (box,) = sketch(dag, 10).boxes
    assert (box.fold, box.nodes) == (Fold.DOT, 1)


def test_a_product_of_many_and_many_is_never_written_out() -> None:
    names = [f"a{n}" for n in range(2000)] + [f"b{n}" for n in range(2000)]
    found = sketch(dag_of(names, [(range(2000), range(2000, 4000))]), 300)
    assert [(box.things, box.fold) for box in found.boxes] == [
        (2000, Fold.ALIKE), (2000, Fold.ALIKE), (1, Fold.DOT),
    ]  # fmt: skip


@pytest.mark.parametrize("limit", [2, 10])
def test_the_edges_of_a_cycle_are_wrong_and_no_others(limit: int) -> None:
    dag = dag_of("abcde", [([0], [1]), ([1], [2]), ([2], [3]), ([3], [1]), ([3], [4])])
    found = sketch(dag, limit)
    wrong = [(line.tail, line.head) for line in found.lines if line.is_wrong]
    if limit == 10:
        assert wrong == [(1, 2), (2, 3), (3, 1)]
    else:
        assert wrong or any(box.is_wrong for box in found.boxes)


def test_a_node_that_waits_for_itself_is_wrong() -> None:
    (box,) = sketch(dag_of("a", [([0], [0])]), 10).boxes
    assert box.is_wrong


def test_a_chain_folds() -> None:
    dag = dag_of((f"n{n}" for n in range(5000)), [([n], [n + 1]) for n in range(4999)])
    (box,) = sketch(dag, 100).boxes
    assert (box.fold, box.label, box.nodes) == (Fold.CHAIN, "n0 → … → n4999", 5000)


def test_kinds_of_nodes_are_kept() -> None:
    dag = Dag()
    dag.add_node("a", "x")
    dag.add_node("end", "x", NodeKind.FINAL)
    dag.finish()
    assert [box.kind for box in sketch(dag, 10).boxes] == [NodeKind.JOB, NodeKind.FINAL]


def test_weak_edges_are_told() -> None:
    dag = Dag()
    for name in "abc":
        dag.add_node(name, "x")
    dag.add_edges([0], [1], weak=True)
    dag.add_edges([0], [2])
    dag.finish()
    assert [line.kind for line in sketch(dag, 10).lines] == [Edge.WEAK, Edge.PLAIN]
