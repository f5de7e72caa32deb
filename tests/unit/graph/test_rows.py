"""Rows of vertices: sorted into their places, and added to."""

from __future__ import annotations

from array import array

from condor_pydagman.graph.edges import Rows
from condor_pydagman.graph.stepwise import at_once


def rows_of(
    pairs: list[tuple[int, int]], nodes: int, junctions: int = 0, marks: bytes = b""
) -> Rows:
    keys, values = (array("i", [pair[side] for pair in pairs]) for side in (0, 1))
    rows = Rows.counted(keys, nodes, junctions)
    rows.sort(keys, values, bytearray(marks))
    return rows


def test_values_stand_in_the_rows_of_their_keys() -> None:
    rows = rows_of([(1, 5), (0, 3), (1, 4), (-1, 0), (0, -1)], 3, 1)
    assert [list(rows.row(vertex)) for vertex in (0, 1, 2, -1)] == [[3, -1], [5, 4], [], [0]]
    assert [rows.count(vertex) for vertex in (0, 1, 2, -1)] == [2, 2, 0, 1]
    assert list(rows.counts()) == [2, 2, 0, 1]
    assert len(rows) == 5


def test_counts_of_junctions_stand_at_the_end_the_last_one_first() -> None:
    rows = rows_of([(-1, 0), (-2, 0), (-2, 1)], 2, 2)
    counts = rows.counts()
    assert (counts[-1], counts[-2]) == (1, 2)


def test_rows_in_one_array_can_be_had_whole() -> None:
    rows = Rows.counted(array("i", [0, 0, 1]), 2, 0)
    rows.take(array("i", [1, 2, 3]), bytearray())
    assert rows.whole() == (array("i", [0, 2, 3]), array("i", [1, 2, 3]))
    assert rows_of([(0, -1), (-1, 0)], 1, 1).whole() is None


def test_marks_stay_with_their_values() -> None:
    rows = rows_of([(1, 5), (0, 3), (1, 4)], 2, marks=bytes([1, 0, 0]))
    assert rows.any_marked
    assert [list(rows.marks_of(vertex)) for vertex in (0, 1)] == [[0], [1, 0]]
    assert rows.flat_marks() == bytearray([0, 1, 0])


def test_repeats() -> None:
    assert rows_of([(0, 1), (0, 1), (1, 0), (-1, 2), (-1, 2)], 2, 1).with_repeats() == {0, -1}


def test_rows_of_new_nodes_stand_behind_and_others_get_longer() -> None:
    rows = rows_of([(0, 1), (0, -1), (-1, 0)], 2, 1)
    more = rows_of([(0, 1), (1, 0), (-1, 0)], 2, 1, marks=bytes([0, 1, 0]))
    moved = array("i", [2, 0, -2])  # its node 1 is node 0 here
    rows.grow(at_once(rows.numbered(more, moved, 1)))
    assert [list(rows.row(vertex)) for vertex in (0, 1, 2, -1, -2)] == [
        *([1, -1, 2], [], [0]),
        *([0], [2]),
    ]
    assert list(rows.marks_of(0)) == [0, 0, 1]
    assert rows.flat() == (
        array("i", [0, 3, 3, 4, 5, 6]),
        array("i", [1, 3, 2, 0, 0, 2]),
    )
