"""A finished Dag that grows: the nodes of another Dag, a *piece*, become nodes of it, in place.

The last nodes of a piece may stand for nodes that the Dag has already: a piece has edges from and
to them, and says nothing else about them.  Numbers of nodes and junctions do not change, so that
what is kept by number elsewhere only has to get longer.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain

from condor_pydagman.graph.model import BY_NODE, Dag, Splice
from condor_pydagman.named_tuple import NamedTuple


class Growth(NamedTuple):
    """What a Dag has got.

    Attributes:
        nodes: the new nodes.
        waiting: how many predecessors each new vertex has: those of the nodes, then those of the
            junctions, the last one first (see `edges`).
        behind: nodes that were there, each with its new successors, and 1 for each that is weak.
        before: nodes that were there, each with the number of its new predecessors.
    """

    nodes: range
    waiting: array[int]
    behind: list[tuple[int, Sequence[int], Sequence[int]]]
    before: list[tuple[int, int]]


def extend(dag: Dag, piece: Dag, known: Sequence[int] = ()) -> Growth:
    """Add the nodes and edges of a piece; both are finished.

    `known`: the nodes of `dag` that the last nodes of the piece stand for, in their order.

    The caller has checked that all other names are new, that there is no cycle and that no edge is
    there already.
    """
    first, count = len(dag), len(piece) - len(known)
    new = range(first, first + count)
    growth = _add_edges(dag, piece, known, new)
    dag.ids.update(zip(piece.names[:count], new))
    dag.names.extend(piece.names[:count])
    dag.submits.extend(piece.submits[:count])
    dag.kinds.extend(piece.kinds[:count])
    dag.flags.extend(piece.flags[:count])
    for name in BY_NODE:
        values = getattr(piece, name)
        if values:
            own = {first + node: value for node, value in values.items() if node < count}
            getattr(dag, name).update(own)
    dag.variables.extend(piece.variables, first)
    dag.places.extend(piece.places, first, count)
    dag.descriptions.update(piece.descriptions)
    dag.category_limits.update(piece.category_limits)
    dag.splices.extend(_moved(splice, first) for splice in piece.splices)
    dag.forget_odd_names()
    return growth


def _add_edges(dag: Dag, piece: Dag, known: Sequence[int], new: range) -> Growth:
    count, edges = len(new), piece.edges
    last = len(dag.edges.junctions())
    moved = array("i", chain(new, known, (vertex - last for vertex in edges.junctions())))
    waiting = edges.predecessor_counts()
    places = range(count, len(piece))
    before = [(node, waiting[place]) for node, place in zip(known, places) if waiting[place]]
    behind: list[tuple[int, Sequence[int], Sequence[int]]] = [
        (node, [moved[vertex] for vertex in edges.successors(place)], edges.weak_marks(place))
        for node, place in zip(known, places)
        if edges.successor_count(place)
    ]
    del waiting[count : len(piece)]
    dag.edges.grow(edges, moved, count)
    return Growth(new, waiting, behind, before)


def _moved(splice: Splice, first: int) -> Splice:
    return splice._replace(begin=first + splice.begin, end=first + splice.end)
