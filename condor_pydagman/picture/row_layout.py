"""A layout without Graphviz: boxes in rows by their layers, edges straight from row to row.

Long edges run behind boxes, and more edges cross than in `layout`; it is quick, and needs nothing.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from condor_pydagman.picture.dot_layout import RunDot
from condor_pydagman.picture.layout import BANDS, Positions, Route, Size, Spot, place
from condor_pydagman.picture.network import Network, layers
from condor_pydagman.picture.sketch import Sketch

_BOX_GAP = 16.0
_ROW_GAP = 12.0  # between rows of one layer
_LAYER_GAP = 48.0
_WIDEST = 1600.0  # a layer that is wider has several rows
_FLATTEST = 4.0  # times as wide as high


def place_legibly(
    sketch: Sketch, sizes: Sequence[Size], run_dot: RunDot, *, left_to_right: bool = False
) -> Positions:
    """As `place`, unless that makes a strip so long that its names can't be read on a screen.

    Raises:
        PydagmanError: dot gave no layout.
    """
    found = place(sketch, sizes, run_dot, left_to_right=left_to_right)
    is_strip = not left_to_right and found.width > max(2 * _WIDEST, _FLATTEST * found.height)
    return place_in_rows(sketch, sizes) if is_strip else found


def place_in_rows(sketch: Sketch, sizes: Sequence[Size]) -> Positions:
    """Lay a sketch out; `sizes` are those of its boxes."""
    lines = sorted((line.tail, line.head) for line in sketch.lines)
    tails, heads = (array("i", (line[end] for line in lines)) for end in (0, 1))
    network = Network(len(sketch.boxes), tails, heads)
    rows = _rows(_in_order(network, _bands(sketch, layers(network)[0])), sizes)
    placement = Positions(spots=[Spot(0, 0, 0, 0)] * len(sketch.boxes))
    widths = [sum(sizes[box][0] + _BOX_GAP for box in row) - _BOX_GAP for row, _ in rows]
    placement.width, y = max(widths, default=0.0), 0.0
    for (row, gap), width in zip(rows, widths):
        height, x = max(sizes[box][1] for box in row), (placement.width - width) / 2
        y += gap
        for box in row:
            own = sizes[box]
            placement.spots[box] = Spot(x, y + (height - own[1]) / 2, *own)
            x += own[0] + _BOX_GAP
        y += height
    placement.height = y
    for line in sketch.lines:
        ends = _ends(placement.spots[line.tail], placement.spots[line.head])
        route = Route(ends, (line.tail,), (line.head,), line.kind, line.is_wrong, False)
        placement.routes.append(route)
    return placement


def _bands(sketch: Sketch, layer: Sequence[int]) -> list[int]:
    """Layers, with those of PROVISIONER and SERVICE above all others, that of FINAL below."""
    keys = [(BANDS.get(box.kind, 1), number) for box, number in zip(sketch.boxes, layer)]
    numbers = {key: number for number, key in enumerate(sorted(set(keys)))}
    return [numbers[key] for key in keys]


def _in_order(network: Network, layer: Sequence[int]) -> list[list[int]]:
    """The boxes of each layer, near the middle of their parents."""
    found: list[list[int]] = [[] for _ in range(max(layer, default=-1) + 1)]
    for box, number in enumerate(layer):
        found[number].append(box)
    share = [0.0] * network.count
    for boxes in found:
        parents = {box: network.parents(box) for box in boxes}
        key = {
            box: sum(share[one] for one in near) / len(near) if near else 0.5
            for box, near in parents.items()
        }
        boxes.sort(key=key.__getitem__)
        for column, box in enumerate(boxes):
            share[box] = (column + 0.5) / len(boxes)
    return found


def _rows(in_layers: Sequence[list[int]], sizes: Sequence[Size]) -> list[tuple[list[int], float]]:
    """Rows, and the gap above each."""
    rows: list[tuple[list[int], float]] = []
    for boxes in in_layers:
        gap, width = _LAYER_GAP if rows else 0.0, _WIDEST + 1
        for box in boxes:
            width += sizes[box][0] + _BOX_GAP
            if width > _WIDEST:
                rows.append(([], gap))
                gap, width = _ROW_GAP, sizes[box][0] + _BOX_GAP
            rows[-1][0].append(box)
    return rows


def _ends(tail: Spot, head: Spot) -> tuple[tuple[float, float], ...]:
    down = tail.y <= head.y
    return (
        (tail.x + tail.width / 2, tail.y + (tail.height if down else 0.0)),
        (head.x + head.width / 2, head.y + (0.0 if down else head.height)),
    )
