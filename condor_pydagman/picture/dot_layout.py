"""Graphs for Graphviz's `dot`, and its results: the layout of the connected parts of a picture.

dot is asked twice.  At first for the layers alone (dot: ranks).  Then each edge that passes layers
gets a small node in each of them, and dot orders the nodes of the layers with few crossings and
places them; so long edges get places that they can run straight through.  The distances between
layers, and the curves, are made by `layout`: dot's own routing of edges, which takes a third of its
time, is not used.

Times are bounded: the more edges there are, the sooner dot ends its search for few crossings
(`mclimit`) and for short edges (`nslimit`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from condor_pydagman.errors import PydagmanError
from condor_pydagman.named_tuple import NamedTuple

# Runs dot on graphs in the DOT language; returns them with dot's attributes, in the same language.
RunDot = Callable[[Sequence[str]], Sequence[str]]
Size = tuple[float, float]
Ends = tuple[int, int]

_POINTS = 72.0  # in an inch, which dot measures sizes in
_UNLIMITED_EDGES = 1000  # dot takes half a second for so many
_GAP = 14.0  # between two edges that pass a layer
_MARGIN = 4.0  # beside a box, on each side
_LAYER_GAP = 42.0
# What it costs when an edge is not straight: from a node to another, to a passing place, between
# two of these.  As dot has it for its own.
_WEIGHTS = (1, 2, 8)

_NODE = re.compile(r"^\s*(\d+)\s*\[(.*?)\];", re.DOTALL | re.MULTILINE)
_RANK = re.compile(r"\brank=(\d+)")
_PLACE = re.compile(r'\bpos="([^,"]+),([^,"]+)"')


class Part(NamedTuple):
    """Nodes by their widths and heights, and edges, each as (tail, head)."""

    sizes: Sequence[Size]
    edges: Sequence[Ends]


class Arranged(NamedTuple):
    """Where dot puts a part; only places across the layers are told."""

    layers: list[int]  # of the nodes; the first layer is 0
    centres: list[float]  # of the nodes
    # for each edge where it passes layers, from the upper end to the lower one
    passes: list[list[float]]


def arrange(parts: Sequence[Part], run_dot: RunDot) -> list[Arranged]:
    """Arrange parts with an edge or more.

    Raises:
        PydagmanError: dot gave no layout.
    """
    if not parts:
        return []
    ranked = run_dot([_layer_question(part) for part in parts])
    layers = [_layers(text, len(part.sizes)) for text, part in zip(ranked, parts)]
    passing = [_passing(part, own) for part, own in zip(parts, layers)]
    placed = run_dot([_place_question(*each) for each in zip(parts, layers, passing)])
    found = []
    for text, part, own, places in zip(placed, parts, layers, passing):
        count = len(part.sizes)
        across = _across(text, count + sum(map(len, places)))
        passes = [[across[number] for number in numbers] for numbers in places]
        found.append(Arranged(own, across[:count], passes))
    return found


def _layer_question(part: Part) -> str:
    lines = ["digraph{", _limits(part.edges), "graph[phase=1];"]
    lines += [f"{number};" for number in range(len(part.sizes))]
    lines += [f"{tail}->{head};" for tail, head in part.edges]
    return "\n".join([*lines, "}\n"])


def _limits(edges: Sequence[Ends]) -> str:
    ease = min(1.0, _UNLIMITED_EDGES / len(edges)) ** 2
    steps = max(0.1, 8 * ease**2)  # of the search for places, for each node
    return f"graph[mclimit={ease:.3f},nslimit={steps:.3f},nslimit1={10 * steps:.3f}];"


def _passing(part: Part, layers: Sequence[int]) -> list[range]:
    """For each edge the numbers of the nodes that stand where it passes layers."""
    number, found = len(part.sizes), []
    for tail, head in part.edges:
        count = max(0, abs(layers[head] - layers[tail]) - 1)
        found.append(range(number, number + count))
        number += count
    return found


def _place_question(part: Part, layers: Sequence[int], passing: Sequence[range]) -> str:
    """All edges lead downwards here, each to the next layer."""
    lines = [
        "digraph{",
        _limits(part.edges),
        f"graph[nodesep={_GAP / _POINTS:.3f},ranksep={_LAYER_GAP / _POINTS:.3f},splines=none];"
        'node[shape=box,fixedsize=true,label=""];',
    ]
    for number, (width, height) in enumerate(part.sizes):
        wide = (width + 2 * _MARGIN) / _POINTS
        lines.append(f"{number}[width={wide:.4f},height={height / _POINTS:.4f}];")
    lines.append("node[width=0.02,height=0.02];")
    for (tail, head), between in zip(part.edges, passing):
        upper, lower = (tail, head) if layers[tail] <= layers[head] else (head, tail)
        path = [upper, *between, lower]
        for one, other in zip(path, path[1:]):
            weight = _WEIGHTS[(one in between) + (other in between)]
            lines.append(f"{one}->{other}[weight={weight}];")
    return "\n".join([*lines, "}\n"])


def _layers(text: str, count: int) -> list[int]:
    found = {int(node[1]): _RANK.search(node[2]) for node in _NODE.finditer(text)}
    ranks = [found.get(number) for number in range(count)]
    layers = [int(rank[1]) for rank in ranks if rank is not None]
    if len(layers) != count:
        raise _no_layout(text)
    used = {rank: layer for layer, rank in enumerate(sorted(set(layers)))}
    return [used[rank] for rank in layers]


def _across(text: str, count: int) -> list[float]:
    found = {int(node[1]): _PLACE.search(node[2]) for node in _NODE.finditer(text)}
    places = [found.get(number) for number in range(count)]
    across = [float(place[1]) for place in places if place is not None]
    if len(across) != count:
        raise _no_layout(text)
    return across


def _no_layout(text: str) -> PydagmanError:
    return PydagmanError(f"Graphviz gave no layout but: {text[:200]!r}")
