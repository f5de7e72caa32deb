"""Cycles: found, described, and never found where there is none."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.graph.cycle import describe_cycle, find_cycle
from condor_pydagman.graph.model import Dag

Line = tuple[Sequence[int], Sequence[int]]


def make(nodes: int, lines: Sequence[Line]) -> Dag:
    dag = Dag()
    for node in range(nodes):
        dag.add_node(f"n{node}", "x")
    for parents, children in lines:
        dag.add_edges(parents, children)
    dag.finish()
    return dag


def described(nodes: int, lines: Sequence[Line]) -> str:
    dag = make(nodes, lines)
    cycle = find_cycle(dag)
    return describe_cycle(dag, cycle) if cycle else ""


def test_no_cycle() -> None:
    assert find_cycle(make(0, [])) is None
    assert find_cycle(make(4, [([0], [1, 2]), ([1, 2], [3])])) is None


def test_a_node_that_is_its_own_parent() -> None:
    assert described(2, [([1], [1])]) == "n1 -> n1"


def test_what_leads_to_a_cycle_and_away_is_left_out() -> None:
    lines: list[Line] = [([0], [1]), ([1], [2]), ([2], [3]), ([3], [1]), ([3], [4]), ([4], [5])]
    assert described(6, lines) == "n1 -> n2 -> n3 -> n1"


def test_a_cycle_through_a_line_of_many_parents_and_children() -> None:
    assert described(4, [([0, 1], [2, 3]), ([3], [1])]) == "n1 -> n3 -> n1"


def test_long_chains_and_cycles() -> None:
    count = 20_000
    chain: list[Line] = [([node], [node + 1]) for node in range(count - 1)]
    assert find_cycle(make(count, chain)) is None
    text = described(count, [*chain, ([count - 1], [0])])
    assert text.startswith("n0 -> n1 -> n2")
    assert text.endswith(f"n{count - 1} -> n0")
    assert f"... {count + 1 - 20} more nodes ..." in text


_NODES = st.lists(st.integers(0, 7), min_size=1, max_size=3, unique=True)


@given(st.lists(st.tuples(_NODES, _NODES), max_size=8))
def test_a_cycle_is_one_and_none_is_overlooked(lines: list[Line]) -> None:
    dag = make(8, lines)
    cycle = find_cycle(dag)
    if cycle is None:
        order = _sorted_by_parents(dag)
        assert len(order) == len(dag)
    else:
        for node, following in zip(cycle, [*cycle[1:], cycle[0]]):
            assert following in set(dag.children(node))


def _sorted_by_parents(dag: Dag) -> list[int]:
    order: list[int] = []
    while True:
        ready = [
            node
            for node in range(len(dag))
            if node not in order and set(dag.parents(node)) <= set(order)
        ]
        if not ready:
            return order
        order.extend(ready)
