"""Statistics of a DAG, and the steps in which what is left of it can run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.features.common.steps import Steps, steps
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.graph.cycle import find_cycle
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.statistics import NO_START, count_arcs, shape
from condor_pydagman.vocabulary import NodeKind
from tests.unit.graph.test_cycle import Line, make


def widths(dag: Dag) -> list[int]:
    return shape(dag).widths


def cycle(dag: Dag) -> str:
    return shape(dag).cycle


@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(0, 7), min_size=1, max_size=5, unique=True),
            st.lists(st.integers(0, 7), min_size=1, max_size=5, unique=True),
        ),
        max_size=6,
    )
)
def test_every_pair_counts_once_whatever_lines_name_it(lines: list[Line]) -> None:
    pairs = {(p, c) for parents, children in lines for p in parents for c in children}
    dag = make(8, lines)
    assert count_arcs(dag) == len(pairs)
    assert bool(shape(dag).cycle) == (find_cycle(dag) is not None)
    flat = make(8, [([p], [c]) for p, c in sorted(pairs)])  # the same without junctions
    assert shape(dag) == shape(flat)


def test_a_wide_line_is_counted_not_written_out() -> None:
    wide = (range(3000), range(3000, 6000))
    dag = make(6000, [wide])
    assert count_arcs(dag) == 9_000_000
    assert shape(dag).widths == [3000, 3000]


def test_depth_is_that_of_the_way_on_which_a_node_is_met_first() -> None:
    assert widths(make(4, [([0], [1]), ([1], [2]), ([0], [2])])) == [2, 1, 1]
    assert widths(make(4, [([0], [2, 3]), ([2], [1]), ([3], [2])])) == [1, 2, 1]
    assert widths(make(0, [])) == []


def test_special_nodes_have_no_place_in_the_graph() -> None:
    dag = Dag()
    dag.add_node("A", "x")
    dag.add_node("F", "x", NodeKind.FINAL)
    dag.add_node("S", "x", NodeKind.SERVICE)
    dag.finish()
    assert shape(dag).widths == [1]


def test_cycles_in_the_words_of_the_stock_tool() -> None:
    assert cycle(make(3, [([0], [1])])) == ""
    assert cycle(make(4, [([0], [1]), ([1], [2]), ([2], [1, 3])])) == ("n0 -> n1 -> n2 -> n1")
    assert cycle(make(2, [([0], [1]), ([1], [0])])) == NO_START
    assert cycle(make(3, [([1], [2]), ([2], [1])])) == ("Failed to visit nodes n1,n2")


def test_a_long_chain() -> None:
    dag = make(50_000, [([n], [n + 1]) for n in range(49_999)])
    assert shape(dag).widths == [1] * 50_000
    assert shape(dag).cycle == ""


# The steps in which what is left of a DAG can run.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("JOB A x\nJOB B x\nJOB C x\nJOB D x\nPARENT A CHILD B C\nPARENT B C CHILD D\n",
         Steps([1, 2, 1], [0], 0, [0, 1, 1, 2])),
        ("JOB A x DONE\nJOB B x\nJOB C x\nPARENT A CHILD B C\n", Steps([2], [1, 2], 1, [0, 0, 0])),
        # the longest way counts, wherever its nodes are defined
        ("JOB C x\nJOB B x\nJOB A x\nPARENT A CHILD B C\nPARENT B CHILD C\n",
         Steps([1, 1, 1], [2], 0, [2, 1, 0])),
        ("JOB A x\nFINAL F x\nSERVICE S x\n", Steps([1], [0], 0, [0, 0, 0])),
        # a join node takes a step
        ("JOB A x\nJOB B x\nJOB C x\nJOB D x\nPARENT A B CHILD C D\n",
         Steps([2, 1, 2], [0, 1], 0, [0, 0, 2, 2, 1])),
    ],
)  # fmt: skip
def test_steps(text: str, expected: Steps) -> None:
    found = steps(build(["x"], lambda _: iter([text]), BuildOptions()))
    assert found._replace(of=list(found.of)) == expected
