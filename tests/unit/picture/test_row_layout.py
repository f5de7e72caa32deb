"""Layouts that need no Graphviz."""

from __future__ import annotations

from condor_pydagman.picture.layout import Placement, Spot
from condor_pydagman.picture.row_layout import place_in_rows
from condor_pydagman.picture.sketch import Box, Fold, Line, Sketch


def laid(count: int, lines: list[tuple[int, int]], size: tuple[float, float]) -> Placement:
    boxes = [Box(Fold.NODE, str(number)) for number in range(count)]
    sketch = Sketch(boxes, [Line(*ends) for ends in lines])
    return place_in_rows(sketch, [size] * count)


def overlap(one: Spot, other: Spot) -> bool:
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


def test_children_stand_below_their_parents() -> None:
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


def test_nothing_and_a_cycle() -> None:
    assert laid(0, [], (1, 1)).spots == []
    assert len(laid(2, [(0, 1), (1, 0)], (10, 10)).routes) == 2
