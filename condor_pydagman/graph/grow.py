"""A finished Dag that grows: the nodes of another Dag, a *piece*, become nodes of it, in place.

The last nodes of a piece may stand for nodes that the Dag has already: a piece has edges from and
to them, and says nothing else about them.  Numbers of nodes and junctions do not change, so that
what is kept by number elsewhere only has to get longer; but numbers of nodes that have been let go
(`let_go`) are given to new ones, if there are enough of them.
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
        nodes: the new nodes; a range that begins behind those that were there, or a list of numbers
            that nodes had which were let go.
        waiting: how many predecessors each new node has.
        junctions: the new junctions; they, too, may have numbers that others had.
        junctions_waiting: the same of these.
        behind: nodes that were there, each with its new successors, and 1 for each that is weak.
        before: nodes that were there, each with the number of its new predecessors.
    """

    nodes: Sequence[int]
    waiting: Sequence[int]
    junctions: Sequence[int]
    junctions_waiting: Sequence[int]
    behind: list[tuple[int, Sequence[int], Sequence[int]]]
    before: list[tuple[int, int]]


def extend(dag: Dag, piece: Dag, known: Sequence[int] = ()) -> Growth:
    """Add the nodes and edges of a piece; both are finished.

    `known`: the nodes of `dag` that the last nodes of the piece stand for, in their order.

    The caller has checked that all other names are new, that there is no cycle and that no edge is
    there already.
    """
    count = len(piece) - len(known)
    new = dag.new_numbers(count)
    growth = _add_edges(dag, piece, known, new)
    dag.ids.update(zip(piece.names[:count], new))
    if isinstance(new, range):
        _append_nodes(dag, piece, new)
    else:
        _put_nodes(dag, piece, new)
    for name in BY_NODE:
        values = getattr(piece, name)
        if values:
            own = {new[node]: value for node, value in values.items() if node < count}
            getattr(dag, name).update(own)
    dag.descriptions.update(piece.descriptions)
    dag.category_limits.update(piece.category_limits)
    dag.changed(new)
    return growth


def _append_nodes(dag: Dag, piece: Dag, new: range) -> None:
    """Put nodes behind those that are there."""
    first, count = new.start, len(new)
    dag.names.extend(piece.names[:count])
    dag.submits.extend(piece.submits[:count])
    dag.kinds.extend(piece.kinds[:count])
    dag.flags.extend(piece.flags[:count])
    dag.variables.extend(piece.variables, first)
    dag.places.extend(piece.places, first, count)
    dag.splices.extend(_moved(splice, first) for splice in piece.splices)


def _put_nodes(dag: Dag, piece: Dag, new: Sequence[int]) -> None:
    """Put nodes where others were; they stand in no order, so nothing is said of splices."""
    for place, node in enumerate(new):
        dag.names[node] = piece.names[place]
        dag.submits[node] = piece.submits[place]
        dag.kinds[node] = piece.kinds[place]
        dag.flags[node] = piece.flags[place]
        dag.places.put(node, piece.places, place)
        variables = piece.variables.get(place)
        if variables is not None:
            dag.variables[node] = variables


def _add_edges(dag: Dag, piece: Dag, known: Sequence[int], new: Sequence[int]) -> Growth:
    count, edges = len(new), piece.edges
    appended = count if isinstance(new, range) else 0
    junctions = dag.new_junctions(len(edges.junctions()))
    moved = array("i", chain(new, known, reversed(junctions)))
    waiting = edges.predecessor_counts()
    places = range(count, len(piece))
    before = [(node, waiting[place]) for node, place in zip(known, places) if waiting[place]]
    behind: list[tuple[int, Sequence[int], Sequence[int]]] = [
        (node, [moved[vertex] for vertex in edges.successors(place)], edges.weak_marks(place))
        for node, place in zip(known, places)
        if edges.successor_count(place)
    ]
    junctions_waiting = waiting[: len(piece) - 1 : -1]
    del waiting[count:]
    dag.edges.grow(edges, moved, appended, junctions=isinstance(junctions, range))
    return Growth(new, waiting, junctions, junctions_waiting, behind, before)


def _moved(splice: Splice, first: int) -> Splice:
    return splice._replace(begin=first + splice.begin, end=first + splice.end)
