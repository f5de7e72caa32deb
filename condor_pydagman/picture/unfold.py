"""A sketch in which single folded boxes are opened: what is in one is folded for itself.

Unlike `fold.make_sketch`, what folds does not depend on states: boxes stay where they are while the
DAG runs, but for nodes that are asked to be beside what they are folded into.  Each folded box has
a name that is the same each time, as long as the DAG is: of the outermost ones `g0`, `g1`, of those
in them `g0.0` and so on.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from condor_pydagman.graph.model import Splice
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.picture.fold import lines_between, make_sketch
from condor_pydagman.picture.grouping import most_arrows
from condor_pydagman.picture.network import Foldable, Network, layers
from condor_pydagman.picture.sketch import Box, Fold, Sketch
from condor_pydagman.vocabulary import NodeKind

_KEPT = 100  # boxes that were opened
_LEAST = 2  # vertices of a folded box


class Unfolded(NamedTuple):
    """A sketch, and the names of its boxes: '' for a single node or junction; `shut` has the names
    of those that were to be opened, for which there was no room."""

    sketch: Sketch
    names: list[str]
    shut: list[str]


class _Piece(NamedTuple):
    """A box and its vertices, in ascending order."""

    name: str
    box: Box
    vertices: Sequence[int]


class Unfolding:
    """Sketches of one Dag; what was folded once is kept.

    Args:
        dag: it is finished.
        limit: about how many boxes there are before any is opened, and in each that is.
        most: boxes there may be; what would make more stays folded.
    """

    def __init__(self, dag: Foldable, limit: int, most: int) -> None:
        self._dag, self._limit, self._most = dag, limit, most
        self._base = Network.of_dag(dag)
        self._whole: tuple[Sketch, list[_Piece]] | None = None
        self._inner: dict[str, list[_Piece]] = {}

    def sketch(self, opened: Collection[str], apart: Sequence[int] = ()) -> Unfolded:
        """Boxes and lines.

        Args:
            opened: names of boxes to open; unknown ones are passed over.
            apart: nodes that have boxes of their own beside the folded ones that they belong to.
        """
        dag, base = self._dag, self._base
        if self._whole is None:
            folded, pieces = _split(dag, range(dag.vertex_count), "g", self._limit, base)
            if len(folded.boxes) != len(pieces) or not folded.lines:
                folded = _joined(dag, base, pieces)
            self._whole = folded, pieces
        sketch, pieces = self._whole
        shut: set[str] = set()
        while True:
            wanted = (one.name in opened and one.name not in shut for one in pieces)
            place = next((number for number, yes in enumerate(wanted) if yes), -1)
            if place < 0:
                break
            after = [*pieces[:place], *self._inside(pieces[place]), *pieces[place + 1 :]]
            found = _joined(dag, base, after) if len(after) <= self._most else None
            if found is None or len(found.lines) > most_arrows(self._most):
                shut.add(pieces[place].name)
            else:
                sketch, pieces = found, after
        beside = [one for piece in pieces for one in self._beside(piece, apart)]
        if len(beside) > len(pieces):
            sketch, pieces = _joined(dag, base, beside), beside
        return Unfolded(sketch, [piece.name for piece in pieces], sorted(shut))

    def _beside(self, piece: _Piece, apart: Sequence[int]) -> list[_Piece]:
        """A piece without nodes that are to be beside it, and these."""
        own = [node for node in apart if _has(piece.vertices, node)] if piece.box.is_folded else []
        rest = [vertex for vertex in piece.vertices if vertex not in own] if own else []
        if not own or len(rest) < _LEAST:
            return [piece]
        members = [node for node in piece.box.members if node not in own]
        counts = [piece.box.nodes - len(own), *piece.box.counts[1:]]
        box = replace(piece.box, counts=counts, members=members)
        return [_Piece(piece.name, box, rest), *map(self._single, own)]

    def _single(self, node: int) -> _Piece:
        box = Box(Fold.NODE, self._dag.names[node], NodeKind(self._dag.kinds[node]))
        box.counts[0], box.members = 1, [node]
        return _Piece("", box, [node])

    def _inside(self, piece: _Piece) -> list[_Piece]:
        inner = self._inner.get(piece.name)
        if inner is None:
            part = _Part(self._dag, piece.vertices)
            _, inner = _split(part, piece.vertices, f"{piece.name}.", self._limit)
            while len(self._inner) >= _KEPT:
                del self._inner[next(iter(self._inner))]
            self._inner[piece.name] = inner
        return inner


def _has(vertices: Sequence[int], vertex: int) -> bool:
    place = bisect_left(vertices, vertex)
    return place < len(vertices) and vertices[place] == vertex


def _joined(dag: Foldable, base: Network, pieces: Sequence[_Piece]) -> Sketch:
    of = array("i", bytes(4 * base.count))
    for number, piece in enumerate(pieces):
        for vertex in piece.vertices:
            of[vertex] = number
    boxes = [piece.box for piece in pieces]
    return Sketch(boxes, lines_between(dag, base, of, boxes, ()), of)


def _split(
    part: Foldable,
    vertices: Sequence[int],
    prefix: str,
    limit: int,
    base: Network | None = None,
) -> tuple[Sketch, list[_Piece]]:
    """The sketch of a part, whose vertices have these numbers in the whole, and its boxes."""
    sketch = make_sketch(part, bytes(len(part)), limit, base)
    if len(sketch.boxes) == 1 and len(vertices) > 1:
        sketch = _in_ranges(part, sketch.boxes[0], limit)
    inside: list[array[int]] = [array("i") for _ in sketch.boxes]
    for vertex, place in zip(vertices, sketch.of):
        inside[place].append(vertex)
    pieces = []
    for number, (box, own) in enumerate(zip(sketch.boxes, inside)):
        box.members = [vertices[member] for member in box.members]
        name = f"{prefix}{number}" if len(own) > 1 else ""
        pieces.append(_Piece(name, box, own))
    return sketch, pieces


def _in_ranges(part: Foldable, whole: Box, limit: int) -> Sketch:
    """Things that are all alike, or a chain: as many ranges as there may be boxes, in the order of
    the edges."""
    layer, _ = layers(Network.of_dag(part))
    order = sorted(range(part.vertex_count), key=layer.__getitem__)
    count = min(len(order), limit)
    of = array("i", bytes(4 * len(order)))
    boxes: list[Box] = []
    for number in range(count):
        own = order[len(order) * number // count : len(order) * (number + 1) // count]
        for vertex in own:
            of[vertex] = number
        boxes.append(_range_box(part, own, whole))
    return Sketch(boxes, [], of)


def _range_box(part: Foldable, own: Sequence[int], whole: Box) -> Box:
    nodes = [vertex for vertex in own if vertex < len(part)]
    ends = dict.fromkeys(part.names[nodes[place]] for place in (0, -1)) if nodes else {}
    if len(own) == 1:
        fold = Fold.NODE if nodes else Fold.DOT
    else:
        fold = whole.fold if whole.fold is not Fold.SPLICE else Fold.LAYERS
    mark = " → " if fold is Fold.CHAIN else " … "
    box = Box(fold, mark.join(ends), whole.kind, len(own))
    box.counts[0], box.members = len(nodes), list(nodes[:1])
    return box


class _Part:
    """Some vertices of a Dag, numbered anew in their order; nodes before junctions, as there."""

    def __init__(self, dag: Foldable, vertices: Sequence[int]) -> None:
        self._dag, self._vertices = dag, vertices
        self._number = {vertex: number for number, vertex in enumerate(vertices)}
        self._count = bisect_left(vertices, len(dag))
        nodes = vertices[: self._count]
        self.names = [dag.names[node] for node in nodes]
        self.submits = [dag.submits[node] for node in nodes]
        self.kinds = bytes(dag.kinds[node] for node in nodes)
        self.flags = bytes(dag.flags[node] for node in nodes)
        self.decided: Mapping[int, int] = {}  # lines in a part are not drawn
        self.splices = [
            one._replace(begin=begin, end=begin + one.end - one.begin)
            for one in dag.splices
            for begin in (self._begin_of(one),)
            if begin >= 0
        ]

    def _begin_of(self, splice: Splice) -> int:
        """Where a splice begins here; -1 if it is not in here whole, or is all that is here."""
        begin = bisect_left(self._vertices, splice.begin)
        end = bisect_left(self._vertices, splice.end)
        is_whole = end - begin == splice.end - splice.begin
        return begin if is_whole and 0 < end - begin < self._count else -1

    def __len__(self) -> int:
        return self._count

    @property
    def vertex_count(self) -> int:
        return len(self._vertices)

    def successors_as_counted(self, vertex: int) -> Sequence[int]:
        number = self._number
        near = self._dag.successors_as_counted(self._vertices[vertex])
        return [number[one] for one in near if one in number]

    def is_weak(self, parent: int, child: int) -> bool:
        return self._dag.is_weak(self._vertices[parent], self._vertices[child])
