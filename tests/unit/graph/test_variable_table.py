"""The table of variables against a dictionary."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.graph.variable_table import Variable, VariableTable, in_order

NODES = 6
nodes = st.integers(0, NODES - 1)
pairs = st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from(["", "1", "a b"])), min_size=1)
simple = st.lists(st.tuples(nodes, pairs), min_size=1, max_size=4)
understood = st.tuples(nodes, st.sampled_from("xyz"))
steps = st.lists(st.one_of(st.tuples(simple, st.booleans()), understood), max_size=6)


def text(found: list[tuple[str, str]]) -> str:
    return " ".join(f'{key}="{value}"' for key, value in found)


def filled(
    found: list[tuple[object, object]],
) -> tuple[VariableTable, dict[int, tuple[Variable, ...]]]:
    """A table, and the dictionary that it should be equal to."""
    table = VariableTable()
    wanted: dict[int, tuple[Variable, ...]] = {}
    for what, append in found:
        if isinstance(what, int):
            wanted[what] = (Variable(str(append), "v", True),)
            table[what] = wanted[what]
            continue
        rows: list[tuple[int, list[tuple[str, str]]]] = what  # type: ignore[assignment]
        numbers = [node for node, _ in rows]
        new = len(set(numbers)) == len(numbers) and wanted.keys().isdisjoint(numbers)
        assert table.add_simple(numbers, [text(pair) for _, pair in rows], bool(append)) == new
        if new:
            for node, pair in rows:
                ordered = sorted(dict(pair).items())
                wanted[node] = tuple(Variable(key, value, bool(append)) for key, value in ordered)
    return table, wanted


@given(steps)
def test_it_is_a_dictionary(found: list[tuple[object, object]]) -> None:
    table, wanted = filled(found)
    assert dict(table) == wanted
    assert len(table) == len(wanted)
    assert [node in table for node in range(NODES + 1)] == [
        node in wanted for node in range(NODES + 1)
    ]
    assert [table.get(node) for node in range(NODES)] == [wanted.get(node) for node in range(NODES)]


@given(steps, st.permutations(range(NODES)))
def test_nodes_with_other_numbers_keep_their_variables(
    found: list[tuple[object, object]], new: list[int]
) -> None:
    table, wanted = filled(found)
    table.renumber(array("i", new))
    assert dict(table) == {new[node]: variables for node, variables in wanted.items()}


def test_a_node_without_variables() -> None:
    table = VariableTable()
    assert table.add_simple([2], ['x="1"'], False)
    for node in (0, 1, 3, 99):
        with pytest.raises(KeyError):
            table[node]


def test_a_line_is_sorted_and_its_last_of_equal_keys_counts() -> None:
    assert in_order([("b", "1"), ("B", "2"), ("a", "3"), ("b", "4")]) == [
        ("B", "2"),
        ("a", "3"),
        ("b", "4"),
    ]


def test_a_million_variables_are_not_a_million_objects() -> None:
    table = VariableTable()
    texts = [f'x="{number}"' for number in range(1000)]
    assert table.add_simple(range(1000), texts, False)
    assert table[999] == (Variable("x", "999", False),)
    assert table[999] is not table[999]
