"""Edges against the simplest model there is: pairs in the order in which lines name them."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.graph import edges
from condor_pydagman.graph.edges import Edges, Rows, ascending
from condor_pydagman.graph.stepwise import at_once

NODES = 7
Line = tuple[list[int], list[int], bool]

nodes = st.lists(st.integers(0, NODES - 1), min_size=1, max_size=4, unique=True).map(sorted)
few = st.lists(st.integers(0, NODES - 1), min_size=1, max_size=1)
simple_lines = st.lists(
    st.one_of(st.tuples(few, nodes, st.booleans()), st.tuples(nodes, few, st.booleans())),
    max_size=12,
)
lines_of_any_kind = st.lists(st.tuples(nodes, nodes, st.booleans()), max_size=12)


def edges_of(lines: Sequence[Line], count: int = NODES) -> Edges:
    edges = Edges()
    for parents, children, weak in lines:
        edges.add(parents, children, weak)
    at_once(edges.finish(count))
    return edges


def pairs(lines: Sequence[Line]) -> list[tuple[int, int]]:
    return [(p, c) for parents, children, _ in lines for p in parents for c in children]


def strong(lines: Sequence[Line]) -> set[tuple[int, int]]:
    return set(pairs([line for line in lines if not line[2]]))


def children(edges: Edges) -> list[list[int]]:
    return [list(edges.children(node)) for node in range(NODES)]


def parents(edges: Edges) -> list[list[int]]:
    return [list(edges.parents(node)) for node in range(NODES)]


@given(simple_lines)
def test_children_and_parents_in_the_order_of_their_lines(lines: list[Line]) -> None:
    edges = edges_of(lines)
    wanted = list(dict.fromkeys(pairs(lines)))
    assert children(edges) == [[c for p, c in wanted if p == node] for node in range(NODES)]
    assert parents(edges) == [[p for p, c in wanted if c == node] for node in range(NODES)]
    for node in range(NODES):
        assert list(edges.successors(node)) == children(edges)[node]
        assert edges.successor_count(node) == len(children(edges)[node])
        assert edges.predecessor_count(node) == len(parents(edges)[node])


@given(lines_of_any_kind)
def test_junctions_change_nothing_but_the_room_that_edges_take(lines: list[Line]) -> None:
    edges = edges_of(lines)
    wanted = set(pairs(lines))
    assert {(p, c) for p, found in enumerate(children(edges)) for c in found} == wanted
    assert {(p, c) for c, found in enumerate(parents(edges)) for p in found} == wanted
    junctions = sum(len(line[0]) > 1 and len(line[1]) > 1 for line in lines)
    assert edges.vertex_count == NODES + junctions
    vertices = list(edges.vertices())
    assert len(vertices) == edges.vertex_count
    assert list(map(edges.predecessor_count, vertices)) == list(edges.predecessor_counts())
    assert sum(map(edges.successor_count, vertices)) == sum(map(edges.predecessor_count, vertices))


@given(lines_of_any_kind)
def test_an_edge_is_weak_if_no_line_makes_it_strong(lines: list[Line]) -> None:
    edges = edges_of(lines)
    for parent, child in pairs(lines):
        assert edges.is_weak(parent, child) == ((parent, child) not in strong(lines))
    if any(edges.is_weak(parent, child) for parent, child in pairs(lines)):
        assert edges.any_weak
    if not any(weak for _, _, weak in lines):
        assert not edges.any_weak


@given(simple_lines, st.permutations(range(NODES)))
def test_nodes_with_other_numbers_keep_their_edges(lines: list[Line], new: list[int]) -> None:
    edges = Edges()
    for tails, heads, weak in lines:
        edges.add(tails, heads, weak)
    edges.renumber(array("i", new))
    at_once(edges.finish(NODES))
    before = edges_of(lines)
    for node in range(NODES):
        assert list(edges.children(new[node])) == [new[c] for c in before.children(node)]
        assert sorted(edges.parents(new[node])) == sorted(new[p] for p in before.parents(node))
    for parent, child in pairs(lines):
        assert edges.is_weak(new[parent], new[child]) == before.is_weak(parent, child)


def marked(marks: tuple[bytearray, bytearray]) -> list[set[int]]:
    return [{node for node in range(NODES) if ends[node]} for ends in marks]


@given(lines_of_any_kind, st.integers(0, 12), st.integers(0, NODES))
def test_ends_are_marked_of_some_edges(lines: list[Line], middle: int, count: int) -> None:
    edges = Edges()
    for parents_, children_, weak in lines[:middle]:
        edges.add(parents_, children_, weak)
    begin = len(edges)
    for parents_, children_, weak in lines[middle:]:
        edges.add(parents_, children_, weak)
    later, inner = (bytearray(NODES), bytearray(NODES)), (bytearray(NODES), bytearray(NODES))
    edges.mark_ends(begin, *later)
    found = pairs(lines[middle:])
    assert marked(later) == [{c for _, c in found}, {p for p, _ in found}]
    edges.mark_inner_ends(count, *inner)
    found = [pair for pair in pairs(lines) if max(pair) < count]
    assert marked(inner) == [{c for _, c in found}, {p for p, _ in found}]


@given(st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=12))
def test_many_edges_at_once_are_as_many_lines(found: list[tuple[int, int]]) -> None:
    edges = Edges()
    edges.add([0], [1], True)
    edges.add_many([tail for tail, _ in found], [head for _, head in found])
    edges.add([5], [6], True)
    at_once(edges.finish(NODES))
    lines = [([0], [1], True), *(([p], [c], False) for p, c in found), ([5], [6], True)]
    before = edges_of(lines)
    assert (children(edges), parents(edges)) == (children(before), parents(before))
    for pair in ((0, 1), (5, 6)):
        assert edges.is_weak(*pair) == (pair not in found)


@pytest.mark.parametrize("late", [[], [0, 63], [31, 5, 5]])
def test_values_are_placed_by_their_keys_in_their_order(late: list[int]) -> None:
    """Few that come late are put between the others."""
    keys = array("i", [*(key for key in range(64) for _ in range(2)), *late])
    values = array("i", range(len(keys)))
    placed = edges._placed(edges._firsts(keys, 64), keys, values)
    assert [*placed] == sorted(values, key=keys.__getitem__)


def test_a_product_of_five_thousand_takes_ten_thousand_entries() -> None:
    edges = Edges()
    edges.add(range(5000), range(5000, 10_000))
    assert len(edges) == 10_000
    at_once(edges.finish(10_000))
    assert edges.vertex_count == 10_001
    assert sum(1 for _ in edges.children(0)) == 5000


def test_no_edges_and_no_nodes() -> None:
    for count in (0, 3):
        edges = edges_of([], count)
        assert edges.vertex_count == count
        assert not edges.any_weak
        assert not any(map(edges.successor_count, range(count)))


def test_what_is_no_edge_is_not_weak() -> None:
    edges = edges_of([([0], [1], True)])
    assert not edges.is_weak(1, 0)
    assert not edges.is_weak(0, 2)


@pytest.mark.parametrize("weak", [True, False])
def test_a_node_can_be_its_own_parent(weak: bool) -> None:
    edges = edges_of([([0], [0], weak)])
    assert list(edges.children(0)) == list(edges.parents(0)) == [0]
    assert edges.is_weak(0, 0) == weak


@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=5))
def test_rows_are_sorted_in_columns(rows: list[list[int]]) -> None:
    columns = list(zip(*rows))
    found = ascending(columns)
    if any(len(set(row)) < len(row) for row in rows):
        assert found is None
    else:
        assert found is not None
        assert list(map(list, zip(*found))) == list(map(sorted, rows))


def test_rows_in_one_array_can_be_had_whole() -> None:
    rows = Rows.counted(array("i", [0, 0, 1]), 2, 0)
    rows.take(array("i", [1, 2, 3]), bytearray())
    assert rows.whole() == (array("i", [0, 2, 3]), array("i", [1, 2, 3]))
    with_junction = Rows.counted(array("i", [0, -1]), 1, 1)
    assert with_junction.whole() is None


def test_a_child_that_a_line_names_twice() -> None:
    edges = edges_of([((0,), (2, 2, 1), False), ((1,), (2,), False)], 3)
    assert [list(edges.children(node)) for node in range(3)] == [[2, 1], [2], []]
    assert edges.predecessor_count(2) == 2
