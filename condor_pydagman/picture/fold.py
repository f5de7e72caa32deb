"""From a Dag of any size to a Sketch that is small enough to be read.

First splices fold, the outermost ones if they must; then, within what is left, nodes that are
alike; see `grouping`.  As long as everything fits, nothing folds.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Hashable, Sequence

from condor_pydagman.follow.shown_states import Shown
from condor_pydagman.graph.model import AFTER_ALL, AT_ONCE, JOIN, Splice
from condor_pydagman.picture.grouping import KINDS, LOOKS, Grouping, Traits, fits, group_items
from condor_pydagman.picture.network import Foldable, Network, knots, layers
from condor_pydagman.picture.sketch import Box, Edge, Fold, Line, Sketch
from condor_pydagman.vocabulary import NodeKind

MAX_MEMBERS = 20
_MAX_LEVELS = 4  # levels of splices that are looked into, each at the cost of the whole DAG

_DIGITS = re.compile(r"[0-9a-f]{8,}|[0-9]+", re.IGNORECASE)
_DOT_KIND = -1
_SPLICE_KIND = -2


def make_sketch(
    dag: Foldable, states: Sequence[int], limit: int, base: Network | None = None
) -> Sketch:
    """Boxes and lines for a finished Dag, at most about `limit` boxes.

    Time and memory are linear in nodes and edges.

    Args:
        states: the state (`Shown`) of each node.
        limit: above it things fold; at least 1.
        base: the network of the Dag, if it is at hand.
    """
    base = base or Network.of_dag(dag)
    base_layers, is_cyclic = layers(base)
    knot = knots(base) if is_cyclic else array("i")
    if fits(base, limit):
        items = _items(dag, base, [], base)
        grouping = Grouping(array("i", range(base.count)), base.count)
        return _drawn(dag, states, base, items, grouping, knot)
    best: tuple[_Items, Grouping] | None = None
    for folded in _levels(dag.splices, base.count, limit):
        items = _items(dag, base, folded, base)
        layer = base_layers if items.network is base else layers(items.network)[0]
        grouping = group_items(items.network, layer, _traits(dag, states, items, folded), limit)
        if best is not None and (grouping.rung > LOOKS or grouping.chains):
            break
        best = items, grouping
    assert best is not None
    return _drawn(dag, states, base, *best, knot)


class _Items:
    """What grouping works on: vertices, and splices in place of theirs."""

    def __init__(
        self, network: Network, of: array[int], first: array[int], splice: dict[int, Splice]
    ) -> None:
        self.network = network
        self.of = of  # by vertex, the number of its item
        self.first = first  # by item, its first vertex
        self.splice = splice  # by item, the splice that it is

    def name(self, dag: Foldable, item: int) -> str:
        """Of the splice or node; '' for a junction."""
        if item in self.splice:
            return self.splice[item].name
        vertex = self.first[item]
        return dag.names[vertex] if vertex < len(dag) else ""


def _levels(splices: Sequence[Splice], vertices: int, limit: int) -> list[list[Splice]]:
    """Which splices to fold: the choices, from coarse to fine; the last one is none of them."""
    by_depth = _by_depth(splices)
    start = 0
    for depth, level in enumerate(by_depth):
        covered = sum(splice.end - splice.begin for splice in level)
        if vertices - covered + len(level) <= limit:
            start = depth
    return [*by_depth, []][start : start + _MAX_LEVELS]


def _by_depth(splices: Sequence[Splice]) -> list[list[Splice]]:
    """Splices with nodes, those of the outermost level first."""
    levels: list[list[Splice]] = []
    around: list[Splice] = []
    for splice in sorted(splices, key=lambda s: (s.begin, -s.end, len(s.name))):
        if splice.begin == splice.end:
            continue
        while around and around[-1].end <= splice.begin:
            around.pop()
        if len(around) == len(levels):
            levels.append([])
        levels[len(around)].append(splice)
        around.append(splice)
    return levels


def _items(dag: Foldable, base: Network, folded: Sequence[Splice], network: Network) -> _Items:
    count = base.count
    if not folded:
        return _Items(network, array("i", range(count)), array("i", range(count)), {})
    head = array("i", range(count))  # the vertex that stands for each
    for splice in folded:
        head[splice.begin : splice.end] = array("i", [splice.begin]) * (splice.end - splice.begin)
    for junction in range(len(dag), count):
        near = {head[vertex] for vertex in (*base.parents(junction), *base.children(junction))}
        if len(near) == 1:
            head[junction] = near.pop()
    first = array("i", (vertex for vertex in range(count) if head[vertex] == vertex))
    number = array("i", bytes(4 * count))
    for item, vertex in enumerate(first):
        number[vertex] = item
    of = array("i", map(number.__getitem__, head))
    splice_items = {number[splice.begin]: splice for splice in folded}
    return _Items(base.merged(of, len(first)), of, first, splice_items)


def _traits(
    dag: Foldable, states: Sequence[int], items: _Items, folded: Sequence[Splice]
) -> Traits:
    """What is alike among items.  Items of different open splices never are."""
    scope = _scopes(dag, folded)
    failed = _failed_items(states, items)
    looks, sorts = array("i"), array("i")
    kinds = array("i")
    number_look, number_sort = _numbering(), _numbering()
    for item, vertex in enumerate(items.first):
        kind, name, sort = _DOT_KIND, "", ""
        if item in items.splice:
            kind, name, sort = _SPLICE_KIND, items.splice[item].name, items.splice[item].file
        elif vertex < len(dag) and not dag.flags[vertex] & JOIN:
            kind, name, sort = dag.kinds[vertex], dag.names[vertex], dag.submits[vertex]
        inside = scope[vertex] if scope and vertex < len(scope) else -1
        looks.append(number_look((kind, _DIGITS.sub("#", name), item in failed, inside)))
        sorts.append(number_sort((kind, sort, inside)))
        kinds.append(kind)
    return Traits(looks, sorts, kinds)


def _scopes(dag: Foldable, folded: Sequence[Splice]) -> array[int]:
    """For each node the number of the innermost splice around it that is open."""
    closed = {splice.name for splice in folded}
    scope = array("i")
    for depth, level in enumerate(_by_depth(dag.splices)):
        for place, splice in enumerate(level):
            if splice.name not in closed:
                scope = scope or array("i", [-1]) * len(dag)
                number = array("i", [place * 1000 + depth % 1000])
                scope[splice.begin : splice.end] = number * (splice.end - splice.begin)
        if level and level[0].name in closed:
            break
    return scope


def _failed_items(states: Sequence[int], items: _Items) -> set[int]:
    if Shown.FAILED not in states:
        return set()
    return {items.of[node] for node, state in enumerate(states) if state == Shown.FAILED}


def _numbering() -> Callable[[Hashable], int]:
    numbers: dict[Hashable, int] = {}
    return lambda key: numbers.setdefault(key, len(numbers))


def _drawn(
    dag: Foldable,
    states: Sequence[int],
    base: Network,
    items: _Items,
    grouping: Grouping,
    knot: Sequence[int],
) -> Sketch:
    group = array("i", map(grouping.of.__getitem__, items.of))
    boxes = _boxes(dag, items, grouping)
    _fill(dag, states, group, boxes)
    return Sketch(boxes, lines_between(dag, base, group, boxes, knot), group)


def _boxes(dag: Foldable, items: _Items, grouping: Grouping) -> list[Box]:
    """A box for each group, still without its nodes."""
    things, first, last = _extent(grouping.of, grouping.count)
    inner_first, inner_last = array("i"), array("i")
    if grouping.inner:
        _, inner_first, inner_last = _extent(grouping.inner, max(grouping.inner) + 1)

    def span(begin: int, end: int) -> str:
        names = dict.fromkeys((items.name(dag, begin), items.name(dag, end)))
        return " … ".join(filter(None, names))

    boxes = []
    for number in range(grouping.count):
        item, count = first[number], things[number]
        is_splice = item in items.splice
        if number in grouping.chains:
            run = grouping.chains[number]
            ends = [span(inner_first[part], inner_last[part]) for part in (run[0], run[-1])]
            middle = [] if len(run) == 2 else ["…"]
            label = " → ".join(filter(None, [ends[0], *middle, ends[1]]))
            boxes.append(Box(Fold.CHAIN, label, things=count, splices=is_splice))
        elif count > 1:
            fold = Fold.LAYERS if grouping.rung >= KINDS else Fold.ALIKE
            label = span(item, last[number])
            boxes.append(Box(fold, label, things=count, splices=is_splice))
        else:
            fold = Fold.SPLICE if is_splice else Fold.NODE
            boxes.append(Box(fold, items.name(dag, item)))
    return boxes


def _extent(of: Sequence[int], count: int) -> tuple[array[int], array[int], array[int]]:
    """How many items each group has, its first one and its last one."""
    things = array("i", bytes(4 * count))
    first, last = array("i", [-1]) * count, array("i", bytes(4 * count))
    for item, group in enumerate(of):
        things[group] += 1
        last[group] = item
        if first[group] < 0:
            first[group] = item
    return things, first, last


def _fill(dag: Foldable, states: Sequence[int], group: Sequence[int], boxes: list[Box]) -> None:
    """Count the nodes of each box and keep some; find out which boxes are dots."""
    failed: dict[int, list[int]] = {}
    kinds: list[set[int]] = [set() for _ in boxes]
    for node in range(len(dag)):
        box, state = boxes[group[node]], states[node]
        box.counts[state] += 1
        if len(box.members) < MAX_MEMBERS:
            box.members.append(node)
        if state == Shown.FAILED and len(failed.setdefault(group[node], [])) < MAX_MEMBERS:
            failed[group[node]].append(node)
        kinds[group[node]].add(_DOT_KIND if dag.flags[node] & JOIN else dag.kinds[node])
    for number, nodes in failed.items():
        members = dict.fromkeys([*nodes, *boxes[number].members])
        boxes[number].members = list(members)[:MAX_MEMBERS]
    for box, present in zip(boxes, kinds):
        if present <= {_DOT_KIND} and box.fold in (Fold.NODE, Fold.ALIKE):
            box.fold = Fold.DOT
        elif len(present) == 1 and box.fold != Fold.SPLICE:
            box.kind = NodeKind(max(0, present.pop()))


def lines_between(
    dag: Foldable, base: Network, group: Sequence[int], boxes: list[Box], knot: Sequence[int]
) -> list[Line]:
    """A line for each pair of boxes between which there are edges, sorted.

    Args:
        group: the number of each vertex's box.
        knot: for each vertex the number of the cycle that it is in, 0 if in none; or empty.
    """
    count = len(boxes)
    ends: dict[int, tuple[int, int]] = {}
    wrong: set[int] = set()
    for tail, head in zip(base.tails, base.heads):
        pair = group[tail] * count + group[head]
        if pair not in ends:
            ends[pair] = (tail, head)
        if knot and knot[tail] and knot[tail] == knot[head]:
            wrong.add(pair)
            ends[pair] = (tail, head)
    lines = []
    for pair, (tail, head) in sorted(ends.items()):
        if pair // count == pair % count:
            boxes[pair // count].is_wrong |= pair in wrong
        else:
            kind = _edge_kind(dag, tail, head)
            lines.append(Line(pair // count, pair % count, kind, pair in wrong))
    return lines


_DECIDED = {AFTER_ALL: Edge.CONDITION, AT_ONCE: Edge.ENOUGH}


def _edge_kind(dag: Foldable, tail: int, head: int) -> Edge:
    by = dag.decided.get(head)
    if by is not None:
        return _DECIDED[by]
    return Edge.WEAK if dag.is_weak(tail, head) else Edge.PLAIN
