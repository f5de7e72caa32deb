"""Layouts, those included that need no Graphviz."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pytest

from condor_pydagman.picture.layout import Positions, Spot, place
from condor_pydagman.picture.row_layout import place_in_rows, place_legibly
from condor_pydagman.picture.sketch import Box, Fold, Line, Sketch
from condor_pydagman.vocabulary import NodeKind
from tests.unit.picture import dot


def placed(
    count: int, *ends: tuple[int, int], left_to_right: bool = False, **kinds: NodeKind
) -> Positions:
    boxes = [Box(Fold.NODE, f"n{n}", kinds.get(f"n{n}", NodeKind.JOB)) for n in range(count)]
    sketch = Sketch(boxes, [Line(*pair) for pair in ends])
    return place(sketch, [(60, 28)] * count, dot(), left_to_right=left_to_right)


def overlap(one: Spot, other: Spot) -> bool:
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


DIAMOND = ((0, 1), (0, 2), (1, 3), (2, 3))


def test_children_stand_below_their_parents() -> None:
    spots = placed(4, *DIAMOND).spots
    assert spots[0].y + 28 < spots[1].y == spots[2].y < spots[3].y - 28


def test_or_to_the_right_of_them() -> None:
    spots = placed(4, *DIAMOND, left_to_right=True).spots
    assert spots[0].x + 60 < spots[1].x == spots[2].x < spots[3].x - 60
    assert (spots[0].width, spots[0].height) == (60, 28)


@pytest.mark.parametrize("left_to_right", [False, True])
def test_nothing_overlaps_and_all_is_inside(left_to_right: bool) -> None:
    ends = [(n // 2, n) for n in range(1, 40)] + [(n, n + 7) for n in range(0, 30, 3)]
    found = placed(45, *ends, left_to_right=left_to_right)
    assert not any(overlap(*pair) for pair in combinations(found.spots, 2))
    for spot in found.spots:
        assert -0.1 <= spot.x <= found.width - spot.width + 0.1
        assert -0.1 <= spot.y <= found.height - spot.height + 0.1


def test_lines_run_from_box_to_box() -> None:
    found = placed(4, *DIAMOND, (0, 3))
    for route in found.routes:
        tail, head = found.spots[route.tails[0]], found.spots[route.heads[0]]
        (x0, y0), (x1, y1) = route.points[0], route.points[-1]
        assert (y0, y1) == (tail.y + tail.height, head.y)
        assert tail.x <= x0 <= tail.x + tail.width
        assert head.x <= x1 <= head.x + head.width
    assert len(found.routes) == 5


def test_many_with_the_same_parents_and_children_stand_in_a_rack() -> None:
    ends = [(0, n) for n in range(1, 31)] + [(n, 31) for n in range(1, 31)]
    found = placed(32, *ends)
    assert len(found.racks) == 1
    assert [(len(route.tails), len(route.heads)) for route in found.routes] == [(1, 30), (30, 1)]
    assert all(overlap(found.racks[0], spot) for spot in found.spots[1:31])
    assert not any(overlap(*pair) for pair in combinations(found.spots, 2))


def test_the_final_node_stands_last_and_the_service_first() -> None:
    spots = placed(4, (1, 2), n0=NodeKind.FINAL, n3=NodeKind.SERVICE).spots
    assert spots[3].y < spots[1].y < spots[2].y < spots[0].y


def test_a_cycle_is_laid_out() -> None:
    found = placed(3, (0, 1), (1, 2), (2, 0))
    assert len(found.routes) == 3
    assert not any(overlap(*pair) for pair in combinations(found.spots, 2))


def test_too_many_long_edges_are_drawn_faintly() -> None:
    count = 120
    ends = [(n, n + 1) for n in range(count - 1)] + [(0, n) for n in range(2, count)]
    found = placed(count, *ends)
    assert any(route.is_faint for route in found.routes)
    assert len(found.routes) == len(ends)


def test_the_same_sketch_gives_the_same_places() -> None:
    assert placed(4, *DIAMOND) == placed(4, *DIAMOND)


def test_a_long_edge_passes_beside_the_boxes() -> None:
    """It is drawn straight through each layer, from top to bottom, where no box stands."""
    found = placed(6, (0, 1), (1, 2), (2, 3), (0, 3), (3, 4), (4, 5), (2, 5), (0, 5))
    for route in found.routes:
        for (x0, y0), (x1, y1) in zip(route.points[1::2], route.points[2::2]):
            assert x0 == x1
            passed = Spot(x0, y0, 0.1, y1 - y0)
            assert not any(overlap(passed, spot) for spot in found.spots)
    assert max(len(route.points) for route in found.routes) >= 6


def test_edges_at_one_box_end_beside_each_other() -> None:
    found = placed(5, *((0, n) for n in range(1, 5)))
    starts = sorted(route.points[0][0] for route in found.routes)
    assert all(b - a > 5 for a, b in zip(starts, starts[1:]))
    assert found.spots[0].x < starts[0]
    assert starts[-1] < found.spots[0].x + found.spots[0].width


def test_hundreds_of_parts_are_one_question() -> None:
    """A process for each would take seconds."""
    asked = []

    def run(graphs: Sequence[str]) -> Sequence[str]:
        asked.append(len(graphs))
        return dot()(graphs)

    boxes = [Box(Fold.NODE, f"n{n}") for n in range(601)]
    lines = [Line(n, n + 300) for n in range(300)]
    found = place(Sketch(boxes, lines), [(60, 28)] * 601, run)
    assert asked == [300, 300]  # for the layers, and for the places
    assert len(found.routes) == 300


# Layouts that need no Graphviz.


def laid(count: int, lines: list[tuple[int, int]], size: tuple[float, float]) -> Positions:
    boxes = [Box(Fold.NODE, str(number)) for number in range(count)]
    sketch = Sketch(boxes, [Line(*ends) for ends in lines])
    return place_in_rows(sketch, [size] * count)


def test_children_stand_in_rows_below_their_parents() -> None:
    found = laid(4, [(0, 1), (0, 2), (1, 3), (2, 3)], (80, 30))
    tops = [spot.y for spot in found.spots]
    assert tops[0] < tops[1] == tops[2] < tops[3]
    for route in found.routes:
        tail, head = found.spots[route.tails[0]], found.spots[route.heads[0]]
        assert route.points == (
            (tail.x + 40, tail.y + 30),
            (head.x + 40, head.y),
        )


def test_a_wide_layer_has_several_rows_and_nothing_overlaps() -> None:
    found = laid(100, [(0, number) for number in range(1, 100)], (90, 30))
    assert found.width <= 1700
    for number, spot in enumerate(found.spots):
        assert 0 <= spot.x <= found.width - 90 + 0.01
        assert 0 <= spot.y <= found.height - 30 + 0.01
        assert not any(overlap(spot, other) for other in found.spots[number + 1 :])


def test_a_long_strip_is_broken_into_rows_with_the_final_node_last() -> None:
    pairs = [(0, n) for n in range(1, 25)] + [(n, n + 24) for n in range(1, 25)]
    boxes = [Box(Fold.NODE, str(number)) for number in range(50)]
    boxes[-1].kind = NodeKind.FINAL
    sketch, sizes = Sketch(boxes, [Line(*ends) for ends in pairs]), [(120.0, 28.0)] * 50
    assert place(sketch, sizes, dot()).width > 3200
    found = place_legibly(sketch, sizes, dot())
    assert found.width < 1700
    assert found.spots[-1].y > max(spot.y for spot in found.spots[:-1])
    few = Sketch(boxes[:4], [Line(*ends) for ends in DIAMOND])
    assert place_legibly(few, sizes[:4], dot()) == place(few, sizes[:4], dot())


def test_nothing_and_a_cycle() -> None:
    assert laid(0, [], (1, 1)).spots == []
    assert len(laid(2, [(0, 1), (1, 0)], (10, 10)).routes) == 2
