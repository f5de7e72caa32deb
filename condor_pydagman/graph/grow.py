"""A finished Dag that grows: the nodes of another Dag, a *piece*, become nodes of it, in place.

The last nodes of a piece may stand for nodes that the Dag has already: a piece has edges from and
to them, and says nothing else about them.  Numbers of nodes and junctions do not change, so that
what is kept by number elsewhere only has to get longer.

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
from condor_pydagman.graph.model import BY_NODE, DONE, Dag, FeatureData
from condor_pydagman.graph.stepwise import Steps
from condor_pydagman.graph.variable_table import MoreVariables
from condor_pydagman.named_tuple import NamedTuple


class Growth(NamedTuple):
    """What a Dag has got."""

    nodes: range  # the new nodes; their numbers follow those that were there
    waiting: Sequence[int]  # how many predecessors each new node has
    junctions_waiting: Sequence[int]  # the same of the new junctions
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
    variables: MoreVariables  # those of its nodes
    by_node: dict[str, dict[int, Any]]  # the attributes of `BY_NODE` that are not empty
    features: dict[str, FeatureData]  # what it holds of features


def numbered(dag: Dag, piece: Dag, known: Sequence[int] = ()) -> Steps[NumberedPiece]:
    """A piece as it is to be in a Dag, if that does not change before `extend`; both are finished.

    `known`: the nodes of `dag` that the last nodes of the piece stand for, in their order.

    The caller has checked that all other names are new, that there is no cycle and that no edge is
    there already.
    """
    count = len(piece) - len(known)
    new = range(len(dag), len(dag) + count)
    first_junction = -len(dag.edges.junctions())
    junctions = range(first_junction - len(piece.edges.junctions()), first_junction)
    moved = array("i", chain(new, known, junctions))
    yield
    ids = dict(zip(piece.names[:count], new))
    yield
    edges = yield from dag.edges.numbered(piece.edges, moved, count)
    growth = _growth(piece, new, edges)
    yield
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
    dag.edges.grow(more.edges)
    dag.ids.update(more.ids)
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
    for one in piece.splices:
        dag.splices.append(one._replace(begin=first + one.begin, end=first + one.end))


def _growth(piece: Dag, new: range, edges: MoreEdges) -> Growth:
    waiting = piece.edges.predecessor_counts()
    junctions_waiting = waiting[: len(piece) - 1 : -1]
    del waiting[len(new) :]
    decided = [new[node] for node in piece.all_decided()]
    others = frozenset(decided)
    roots = [node for node in compress(new, map(not_, waiting)) if node not in others]
    done = list(compress(new, map(and_, piece.flags, repeat(DONE))))
    behind = edges.after.longer
    before = [(node, len(row)) for node, row, _ in edges.before.longer]
    return Growth(new, waiting, junctions_waiting, behind, before, decided, roots, done)
