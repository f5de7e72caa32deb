"""Where everything goes: a layered layout by Graphviz's dot, edges drawn as smooth curves.

dot finds layers, orders with few crossings and places across the layers; the distances between
layers, the curves, and how separate parts of the DAG stand beside each other are ours.

All work is done as if the DAG ran from the top to the bottom; one that runs from the left to the
right is turned at the end.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.picture.dot_layout import Arranged, Part, RunDot, arrange
from condor_pydagman.picture.network import Network, layers
from condor_pydagman.picture.sketch import Box, Edge, Fold, Line, Sketch
from condor_pydagman.vocabulary import NodeKind

MIN_RACK = 6  # so many nodes with the same parents and children stand in a rack
RACK_GAP = 8.0
RACK_PADDING = 10.0
_LAYER_GAP = 42.0
_MAX_EXTRA_GAP = 120.0
_PART_GAP = 48.0
_ASPECT = 1.6
_CORNER = 8.0  # no edge ends nearer to the corner of a box
_END_GAP = 11.0  # between the ends of two edges at one box
_MAX_BENDS = 1200  # more places where long edges pass layers take dot long, and are no help
BANDS = {NodeKind.PROVISIONER: 0, NodeKind.SERVICE: 0, NodeKind.FINAL: 2}

Size = tuple[float, float]
_Near = tuple[int, Edge, bool]  # a box beside another, and how the line between them looks


class Spot(NamedTuple):
    """A rectangle by its upper left corner."""

    x: float
    y: float
    width: float
    height: float


class Route(NamedTuple):
    """One drawn line, for one or more lines of the sketch."""

    # the first is the start; curve and straight piece take turns from there on
    points: tuple[tuple[float, float], ...]
    # the boxes at its ends
    tails: tuple[int, ...]
    heads: tuple[int, ...]
    kind: Edge
    is_wrong: bool
    is_faint: bool  # a line that could not be laid around boxes


@dataclass
class Positions:
    """Where the boxes and lines of a sketch are."""

    width: float = 0.0
    height: float = 0.0
    left_to_right: bool = False
    spots: list[Spot] = field(default_factory=list)  # of the boxes
    # frames around boxes with the same parents and children
    racks: list[Spot] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)


@dataclass
class _Item:
    """What dot places: a box, or a rack of boxes."""

    boxes: list[int]
    size: Size
    columns: int = 1
    band: int = 1


class _Edge(NamedTuple):
    tail: int
    head: int
    kind: Edge
    is_wrong: bool


class _Solved(NamedTuple):
    """The layout of one connected part, starting at (0, 0)."""

    width: float
    height: float
    spots: list[Spot]
    routes: list[tuple[_Edge, list[tuple[float, float]], bool]]


class _Part(NamedTuple):
    """One connected part, with its items numbered from 0."""

    sizes: list[Size]
    # the edges that dot gets, by these numbers and as they are in the whole
    laid: list[tuple[_Edge, _Edge]]
    faint: list[tuple[_Edge, _Edge]]  # likewise, those that pass too many layers


def place(
    sketch: Sketch, sizes: Sequence[Size], run_dot: RunDot, *, left_to_right: bool = False
) -> Positions:
    """Lay a sketch out; `sizes` are those of its boxes.

    Raises:
        PydagmanError: dot gave no layout.
    """
    items, item_of = _items(sketch, sizes)
    edges = _edges(sketch.lines, item_of)
    across = [(s[1], s[0]) if left_to_right else s for s in (item.size for item in items)]
    groups = _parts(len(items), edges)
    parts = list(zip(groups, _solved(_by_group(groups, across, edges), run_dot)))
    offsets, width, height = _packed(parts, items)
    if left_to_right:
        width, height = height, width
    unknown = [Spot(0, 0, 0, 0)] * len(sketch.boxes)
    placement = Positions(width, height, left_to_right, unknown)
    for (members, solved), (x, y) in zip(parts, offsets):
        for item, spot in zip(members, solved.spots):
            moved = Spot(spot.x + x, spot.y + y, spot.width, spot.height)
            if left_to_right:
                moved = Spot(moved.y, moved.x, moved.height, moved.width)
            _put(placement, items[item], moved, sizes)
        for edge, points, is_faint in solved.routes:
            moved_points = tuple((px + x, py + y) for px, py in points)
            if left_to_right:
                moved_points = tuple((py, px) for px, py in moved_points)
            ends = tuple(items[edge.tail].boxes), tuple(items[edge.head].boxes)
            placement.routes.append(Route(moved_points, *ends, edge.kind, edge.is_wrong, is_faint))
    return placement


def _items(sketch: Sketch, sizes: Sequence[Size]) -> tuple[list[_Item], list[int]]:
    """Boxes, and racks of many boxes of one shape with the same parents and children."""
    around: list[tuple[list[_Near], list[_Near]]] = [([], []) for _ in sketch.boxes]
    for line in sketch.lines:
        mark = line.kind, line.is_wrong
        around[line.head][0].append((line.tail, *mark))
        around[line.tail][1].append((line.head, *mark))
    alike: dict[object, list[int]] = {}
    for number, box in enumerate(sketch.boxes):
        near = tuple(map(tuple, around[number]))
        can = box.fold is not Fold.DOT and box.kind not in BANDS and not box.is_wrong
        alike.setdefault((box.fold, box.kind, near) if can else number, []).append(number)
    items: list[_Item] = []
    item_of = [0] * len(sketch.boxes)
    for group in alike.values():
        racks = [group] if len(group) >= MIN_RACK else [[number] for number in group]
        for boxes in racks:
            for number in boxes:
                item_of[number] = len(items)
            items.append(_item(sketch.boxes, boxes, sizes))
    return items, item_of


def _item(boxes: Sequence[Box], members: list[int], sizes: Sequence[Size]) -> _Item:
    band = BANDS.get(boxes[members[0]].kind, 1)
    if len(members) == 1:
        return _Item(members, sizes[members[0]], band=band)
    width = max(sizes[number][0] for number in members) + RACK_GAP
    height = max(sizes[number][1] for number in members) + RACK_GAP
    columns = max(2, round((len(members) * _ASPECT * height / width) ** 0.5))
    rows = -(-len(members) // columns)
    room = 2 * RACK_PADDING - RACK_GAP
    return _Item(members, (columns * width + room, rows * height + room), columns, band)


def _edges(lines: Sequence[Line], item_of: Sequence[int]) -> list[_Edge]:
    """Edges between items: for a rack one stands for all."""
    found = {
        (item_of[line.tail], item_of[line.head]): _Edge(
            item_of[line.tail], item_of[line.head], line.kind, line.is_wrong
        )
        for line in lines
        if item_of[line.tail] != item_of[line.head]
    }
    return list(found.values())


class _Union:
    """Which items hang together."""

    def __init__(self, count: int) -> None:
        self._root = list(range(count))

    def of(self, item: int) -> int:
        """The lowest item that hangs together with this one."""
        root = self._root
        while root[item] != item:
            root[item] = root[root[item]]
            item = root[item]
        return item

    def join(self, one: int, other: int) -> bool:
        """Whether that was new."""
        low, high = sorted((self.of(one), self.of(other)))
        self._root[high] = low
        return low != high


def _parts(count: int, edges: Sequence[_Edge]) -> list[list[int]]:
    """The connected parts, each with its items in order."""
    union = _Union(count)
    for edge in edges:
        union.join(edge.tail, edge.head)
    parts: dict[int, list[int]] = {}
    for item in range(count):
        parts.setdefault(union.of(item), []).append(item)
    return list(parts.values())


def _by_group(
    groups: Sequence[Sequence[int]], sizes: Sequence[Size], edges: Sequence[_Edge]
) -> list[_Part]:
    group_of = {item: number for number, group in enumerate(groups) for item in group}
    own: list[list[_Edge]] = [[] for _ in groups]
    for edge in edges:
        own[group_of[edge.tail]].append(edge)
    return [_part([sizes[item] for item in group], group, some) for group, some in zip(groups, own)]


def _part(sizes: list[Size], members: Sequence[int], edges: Sequence[_Edge]) -> _Part:
    number = {item: place for place, item in enumerate(members)}
    local = [edge._replace(tail=number[edge.tail], head=number[edge.head]) for edge in edges]
    laid, faint = _without_longest(len(members), local)
    original = dict(zip(local, edges))
    return _Part(
        sizes,
        [(edge, original[edge]) for edge in laid],
        [(edge, original[edge]) for edge in faint],
    )


def _solved(parts: Sequence[_Part], run_dot: RunDot) -> list[_Solved]:
    """Lay out all parts; dot is asked once, for those that have edges."""
    asked = [
        Part(part.sizes, [(edge.tail, edge.head) for edge, _ in part.laid])
        for part in parts
        if len(part.sizes) > 1
    ]
    arranged = iter(arrange(asked, run_dot))
    return [
        _spread(next(arranged), *part)
        if len(part.sizes) > 1
        else _Solved(*part.sizes[0], [Spot(0, 0, *part.sizes[0])], [])
        for part in parts
    ]


def _without_longest(count: int, edges: Sequence[_Edge]) -> tuple[list[_Edge], list[_Edge]]:
    """The edges that dot gets, and those that pass too many layers."""
    ordered = sorted(edges)
    tails = array("i", (edge.tail for edge in ordered))
    heads = array("i", (edge.head for edge in ordered))
    layer, _ = layers(Network(count, tails, heads))
    laid: list[_Edge] = []
    faint: list[_Edge] = []
    bends, union = 0, _Union(count)
    for edge in sorted(ordered, key=lambda e: (abs(layer[e.head] - layer[e.tail]), e)):
        bends += max(0, abs(layer[edge.head] - layer[edge.tail]) - 1)
        is_needed = union.join(edge.tail, edge.head)  # dot must get one connected part
        (laid if is_needed or bends <= _MAX_BENDS else faint).append(edge)
    return sorted(laid), faint


def _spread(
    found: Arranged,
    sizes: Sequence[Size],
    laid: Sequence[tuple[_Edge, _Edge]],
    faint: Sequence[tuple[_Edge, _Edge]],
) -> _Solved:
    """Our distances between the layers, and curves through them."""
    ranks = found.layers
    side = -1.0 if _runs_backwards(found) else 1.0
    centres = [side * x for x in found.centres]
    edges = [_downwards(edge, ranks) for edge, _ in laid]
    passes = [[side * x for x in row] for row in found.passes]
    crossings = _with_ends(edges, passes, centres, sizes)
    tops, bottoms = _rows(ranks, sizes, laid, crossings)
    left = min(
        min(x - size[0] / 2 for x, size in zip(centres, sizes)),
        min((x for row in crossings for x in row), default=0.0),
    )
    right = max(
        max(x + size[0] / 2 for x, size in zip(centres, sizes)),
        max((x for row in crossings for x in row), default=0.0),
    )
    spots = [
        Spot(x - w / 2 - left, (tops[rank] + bottoms[rank] - h) / 2, w, h)
        for x, rank, (w, h) in zip(centres, ranks, sizes)
    ]
    routes = []
    for (edge, original), row in zip(laid, crossings):
        shifted = [x - left for x in row]
        routes.append((original, _curve(edge, shifted, ranks, spots, tops, bottoms), False))
    for edge, original in faint:
        row = [spots[item].x + spots[item].width / 2 for item in (edge.tail, edge.head)]
        if ranks[edge.tail] > ranks[edge.head]:
            row.reverse()
        routes.append((original, _curve(edge, row, ranks, spots, tops, bottoms), True))
    return _Solved(right - left, bottoms[-1], spots, routes)


def _downwards(edge: _Edge, ranks: Sequence[int]) -> tuple[int, int]:
    """The upper and the lower end of an edge; in a cycle the upper one may be its head."""
    ends = edge.tail, edge.head
    return ends if ranks[edge.tail] <= ranks[edge.head] else ends[::-1]


def _runs_backwards(found: Arranged) -> bool:
    """Whether, within layers, items mostly stand in the reverse of their order in the DAG."""
    rows: dict[int, list[tuple[float, int]]] = {}
    for number, (layer, x) in enumerate(zip(found.layers, found.centres)):
        rows.setdefault(layer, []).append((x, number))
    balance = 0
    for row in rows.values():
        row.sort()
        balance += sum(1 if a[1] < b[1] else -1 for a, b in zip(row, row[1:]))
    return balance < 0


def _with_ends(
    edges: Sequence[tuple[int, int]],
    passes: Sequence[Sequence[float]],
    centres: Sequence[float],
    sizes: Sequence[Size],
) -> list[list[float]]:
    """Where edges begin, pass layers and end; ends at one box stand beside each other."""
    crossings = [[centres[a], *row, centres[b]] for (a, b), row in zip(edges, passes)]
    sides: dict[tuple[int, int], list[tuple[float, int]]] = {}
    for number, (ends, row) in enumerate(zip(edges, crossings)):
        sides.setdefault((ends[0], 0), []).append((row[1], number))
        sides.setdefault((ends[1], -1), []).append((row[-2], number))
    places = []
    for (item, end), towards in sides.items():
        towards.sort()
        room = max(0.0, sizes[item][0] - 2 * _CORNER)
        gap = min(_END_GAP, room / max(1, len(towards) - 1))
        first = centres[item] - gap * (len(towards) - 1) / 2
        places += [(number, end, first + gap * n) for n, (_, number) in enumerate(towards)]
    for number, end, x in places:
        crossings[number][end] = x
    return crossings


def _rows(
    ranks: Sequence[int],
    sizes: Sequence[Size],
    laid: Sequence[tuple[_Edge, _Edge]],
    crossings: Sequence[Sequence[float]],
) -> tuple[list[float], list[float]]:
    """Top and bottom of every layer; flat edges get more room below them."""
    count = max(ranks) + 1
    heights, slant = [0.0] * count, [0.0] * count
    for rank, (_, height) in zip(ranks, sizes):
        heights[rank] = max(heights[rank], height)
    for (edge, _), row in zip(laid, crossings):
        low = min(ranks[edge.tail], ranks[edge.head])
        for step, (x0, x1) in enumerate(zip(row, row[1:])):
            slant[low + step] = max(slant[low + step], abs(x1 - x0))
    tops, bottoms, y = [], [], 0.0
    for height, flat in zip(heights, slant):
        tops.append(y)
        bottoms.append(y + height)
        y += height + _LAYER_GAP + min(_MAX_EXTRA_GAP, flat * 0.06)
    return tops, bottoms


def _curve(
    edge: _Edge,
    row: Sequence[float],
    ranks: Sequence[int],
    spots: Sequence[Spot],
    tops: Sequence[float],
    bottoms: Sequence[float],
) -> list[tuple[float, float]]:
    """Start, then ends of pieces, by turns curved and straight, from tail to head."""
    upper, lower = edge.tail, edge.head
    if ranks[upper] > ranks[lower]:
        upper, lower = lower, upper
    low = ranks[upper]
    points = [(row[0], spots[upper].y + spots[upper].height)]
    for step, x in enumerate(row[1:-1], 1):
        points += [(x, tops[low + step]), (x, bottoms[low + step])]
    points.append((row[-1], spots[lower].y))
    return points if upper == edge.tail else points[::-1]


def _packed(
    parts: Sequence[tuple[list[int], _Solved]], items: Sequence[_Item]
) -> tuple[list[tuple[float, float]], float, float]:
    """Parts in rows about as wide as a screen; PROVISIONER and SERVICE above, FINAL below."""
    area = sum((s.width + _PART_GAP) * (s.height + _PART_GAP) for _, s in parts)
    widest = max((solved.width for _, solved in parts), default=0.0)
    target = max(widest, (area * _ASPECT) ** 0.5)
    rows: list[tuple[int, list[int]]] = []
    x = 0.0
    for number in _in_bands(parts, items):
        members, solved = parts[number]
        band = items[members[0]].band
        if not rows or band != rows[-1][0] or x + solved.width > target:
            rows.append((band, []))
            x = 0.0
        rows[-1][1].append(number)
        x += solved.width + _PART_GAP
    widths = [sum(parts[n][1].width + _PART_GAP for n in row) - _PART_GAP for _, row in rows]
    offsets, total, y = [(0.0, 0.0)] * len(parts), max(widths, default=0.0), 0.0
    main_rows = sum(band == 1 for band, _ in rows)
    for (band, row), width in zip(rows, widths):
        x = 0.0 if band == 1 and main_rows > 1 else (total - width) / 2
        for number in row:
            offsets[number] = (x, y)
            x += parts[number][1].width + _PART_GAP
        y += max(parts[number][1].height for number in row) + _PART_GAP
    return offsets, total, max(0.0, y - _PART_GAP)


def _in_bands(parts: Sequence[tuple[list[int], _Solved]], items: Sequence[_Item]) -> Iterator[int]:
    """Numbers of the parts, band by band, large ones before small ones."""
    keys = [
        (items[members[0]].band, -len(members), number) for number, (members, _) in enumerate(parts)
    ]
    return (key[-1] for key in sorted(keys))


def _put(placement: Positions, item: _Item, spot: Spot, sizes: Sequence[Size]) -> None:
    """Give the boxes of an item their places."""
    if len(item.boxes) == 1:
        placement.spots[item.boxes[0]] = spot
        return
    placement.racks.append(spot)
    width = max(sizes[number][0] for number in item.boxes)
    height = max(sizes[number][1] for number in item.boxes)
    for place_of, number in enumerate(item.boxes):
        row, column = divmod(place_of, item.columns)
        placement.spots[number] = Spot(
            spot.x + RACK_PADDING + column * (width + RACK_GAP),
            spot.y + RACK_PADDING + row * (height + RACK_GAP),
            width,
            height,
        )
