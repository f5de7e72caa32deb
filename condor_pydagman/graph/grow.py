"""A finished Dag that grows: the nodes of another Dag, a *piece*, become nodes of it, in place.

The last nodes of a piece may stand for nodes that the Dag has already: a piece has edges from and
to them, and says nothing else about them.  Numbers of nodes and junctions do not change, so that
what is kept by number elsewhere only has to get longer; but numbers of nodes that have been let go
(`let_go`) are given to new ones, if there are enough of them.

It takes two parts: all of the piece is numbered as it is to be in the Dag, in steps (`numbered`);
then that is put behind what is there (`extend`), in one go but quickly.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain, compress, repeat
from operator import and_, not_
from typing import Any

from condor_pydagman.graph.edges import MoreEdges
from condor_pydagman.graph.model import BY_NODE, DONE, Dag, FeatureData, Splice
from condor_pydagman.graph.stepwise import Steps
from condor_pydagman.graph.variable_table import MoreVariables
from condor_pydagman.named_tuple import NamedTuple


class Growth(NamedTuple):
    """What a Dag has got."""

    # the new nodes; a range that begins behind those that were there, or a list of numbers that
    # nodes had which were let go
    nodes: Sequence[int]
    waiting: Sequence[int]  # how many predecessors each new node has
    junctions: Sequence[int]  # the new junctions; they, too, may have numbers that others had
    junctions_waiting: Sequence[int]  # the same of these
    # nodes that were there, each with its new successors, and 1 for each that is weak
    behind: Sequence[tuple[int, Sequence[int], Sequence[int]]]
    # nodes that were there, each with the number of its new predecessors
    before: list[tuple[int, int]]
    decided: list[int]  # new nodes whose turn is decided by more than that their parents are done
    roots: list[int]  # the other new nodes without predecessors
    done: list[int]  # the new nodes that are done before the start


class NumberedPiece(NamedTuple):
    """A piece, and what depends on the numbers of its nodes, as these are to be in its Dag."""

    piece: Dag  # all else
    growth: Growth  # what is told of it
    ids: dict[str, int]  # by name of a node
    edges: MoreEdges  # all of them
    variables: MoreVariables | None  # if the nodes are put behind those that are there; else None
    by_node: dict[str, dict[int, Any]]  # the attributes of `BY_NODE` that are not empty
    features: dict[str, FeatureData]  # what it holds of features


def numbered(dag: Dag, piece: Dag, known: Sequence[int] = ()) -> Steps[NumberedPiece]:
    """A piece as it is to be in a Dag, if that does not change before `extend`; both are finished.

    `known`: the nodes of `dag` that the last nodes of the piece stand for, in their order.

    The caller has checked that all other names are new, that there is no cycle and that no edge is
    there already.
    """
    count = len(piece) - len(known)
    new, junctions = dag.new_numbers(count), dag.new_junctions(len(piece.edges.junctions()))
    moved = array("i", chain(new, known, reversed(junctions)))
    yield
    ids = dict(zip(piece.names[:count], new))
    yield
    appended = count if isinstance(new, range) else 0
    edges = yield from dag.edges.numbered(
        piece.edges, moved, appended, junctions=isinstance(junctions, range)
    )
    growth = _growth(piece, known, new, junctions, edges)
    yield
    variables = None
    if isinstance(new, range):
        variables = yield from dag.variables.numbered(piece.variables, new.start)
    by_node = {}
    for name in BY_NODE:
        values = getattr(piece, name)
        if values:
            own = {new[node]: value for node, value in values.items() if node < count}
            by_node[name] = own
            yield
    features = {}
    for name, data in piece.features.items():
        features[name] = data.numbered(new)
        yield
    return NumberedPiece(piece, growth, ids, edges, variables, by_node, features)


def extend(dag: Dag, more: NumberedPiece) -> Growth:
    """Add the nodes and edges of a piece that has been numbered for the Dag as it is."""
    piece, growth = more.piece, more.growth
    dag.take_numbers(growth.nodes, growth.junctions)
    dag.edges.grow(more.edges)
    dag.ids.update(more.ids)
    if more.variables is None:
        _put_nodes(dag, piece, growth.nodes)
    else:
        _append_nodes(dag, piece, len(growth.nodes), more.variables)
    for name, values in more.by_node.items():
        getattr(dag, name).update(values)
    for name, data in more.features.items():
        if name in dag.features:
            dag.features[name].grow(data)
        else:
            dag.features[name] = data
    dag.descriptions.update(piece.descriptions)
    dag.category_limits.update(piece.category_limits)
    dag.changed(growth.nodes)
    return growth


def _append_nodes(dag: Dag, piece: Dag, count: int, variables: MoreVariables) -> None:
    """Put nodes behind those that are there."""
    first = len(dag)
    dag.names.extend(piece.names[:count])
    dag.submits.extend(piece.submits[:count])
    dag.kinds.extend(piece.kinds[:count])
    dag.flags.extend(piece.flags[:count])
    dag.variables.grow(variables)
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


def _growth(
    piece: Dag,
    known: Sequence[int],
    new: Sequence[int],
    junctions: Sequence[int],
    edges: MoreEdges,
) -> Growth:
    waiting = piece.edges.predecessor_counts()
    junctions_waiting = waiting[: len(piece) - 1 : -1]
    del waiting[len(new) :]
    behind, before = edges.after.longer, edges.before.longer
    if not (isinstance(new, range) and isinstance(junctions, range)):  # there are new ones in them
        there = frozenset(known)
        behind, before = ([one for one in all_ if one[0] in there] for all_ in (behind, before))
    decided = [new[node] for node in piece.all_decided()]
    others = frozenset(decided)
    roots = [node for node in compress(new, map(not_, waiting)) if node not in others]
    done = list(compress(new, map(and_, piece.flags, repeat(DONE))))
    longer = [(node, len(row)) for node, row, _ in before]
    return Growth(new, waiting, junctions, junctions_waiting, behind, longer, decided, roots, done)


def _moved(splice: Splice, first: int) -> Splice:
    return splice._replace(begin=first + splice.begin, end=first + splice.end)
