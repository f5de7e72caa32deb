"""A Dag that has grown lets go of a piece whose nodes are done, so that it can grow for ever.

The reverse of `grow.extend`: the nodes of the piece leave the Dag with their edges and all that is
known of them, and their numbers can be given to new nodes.  The caller has found out that nothing
waits for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from condor_pydagman.features.growth.commands import (
    GrownPiece,
    GrowthOfDag,
    LetGo,
    PieceContents,
    growth_of,
)
from condor_pydagman.graph.model import BY_NODE, Dag

_NUMBER = re.compile(r"[0-9]{1,9}")


def numbers(text: str) -> list[int]:
    """The pieces that a record names; what is no number in a damaged one is passed over."""
    return [int(word) for word in text.split() if _NUMBER.fullmatch(word)]


def let_go(dag: Dag, number: int) -> PieceContents:
    """Let go of the piece of that number; returns what it had contents."""
    data = GrowthOfDag.put(dag)
    piece = next(piece for piece in data.pieces if piece.number == number)
    contents = data.contents.pop(number)
    data.pieces.remove(piece)
    names = [dag.names[node] for node in contents.nodes]
    data.let_go_of = _added(dag, data.let_go_of, piece, set(names))
    dag.edges.let_go(frozenset(chain(contents.nodes, contents.junctions)))
    _drop_descriptions(dag, contents.nodes)
    for node, name in zip(contents.nodes, names):
        del dag.ids[name]
        dag.names[node] = dag.submits[node] = ""
        dag.flags[node] = 0
    for name in BY_NODE:
        values = getattr(dag, name)
        if values:
            for node in contents.nodes:
                values.pop(node, None)
    for own in dag.features.values():
        own.let_go(contents.nodes)
    dag.variables.let_go(contents.nodes)
    dag.places.let_go(contents.nodes)
    _drop_splices(dag)
    dag.free.extend(contents.nodes)
    dag.free_junctions.extend(contents.junctions)
    dag.changed()
    return contents


def close_gaps(dag: Dag) -> None:
    """Number the nodes anew, so that none of their numbers is free: for those who only read.

    It forgets which node came with which piece: nothing can be let go after it.
    """
    if not dag.free and not dag.free_junctions:
        return
    order = [node for node, _ in dag.named()]
    new = {old: node for node, old in enumerate(order)}
    gone = set(dag.free_junctions)
    kept = (vertex for vertex in reversed(dag.edges.junctions()) if vertex not in gone)
    new.update((old, ~number) for number, old in enumerate(kept))
    dag.edges = dag.edges.numbered_anew(new, len(order))
    dag.renumber(order)
    dag.free, dag.free_junctions, GrowthOfDag.put(dag).contents = [], [], {}


def waits_for(dag: Dag, contents: PieceContents) -> Iterator[int]:
    """The nodes that wait for what a piece has contents, or are ordered by it; one may come twice.
    A node of the piece may be among them."""
    for node in contents.nodes:
        yield from dag.children(node)
    yield from (dag.ids[name] for name in contents.children if name in dag.ids)


def _added(dag: Dag, before: LetGo, piece: GrownPiece, names: set[str]) -> LetGo:
    """The sum of what has been let go, this piece included."""
    adders = [name for name in before.adders if name not in names]
    adder = dag.ids.get(piece.node)
    # One that is still to add has only the name of the node that added this.
    if adder is not None and adder not in growth_of(dag).extensions and piece.node not in names:
        adders.append(piece.node)
    feeding = piece.feeding
    return LetGo(
        0,
        max(before.number, piece.number),
        before.nodes + piece.size,
        max(before.fed, feeding.number) if feeding else before.fed,
        before.fed_nodes + (piece.size if feeding else 0),
        before.last or bool(feeding and feeding.last),
        tuple(adders),
    )


def _drop_descriptions(dag: Dag, nodes: Sequence[int]) -> None:
    """Drop descriptions that stand in the JOB lines of these nodes: no other node has them."""
    if dag.descriptions:
        for node in nodes:
            if dag.submits[node].startswith(f"{dag.names[node]}-InlineDesc"):
                dag.descriptions.pop(dag.submits[node], None)


def _drop_splices(dag: Dag) -> None:
    """Drop splices of which no node is left."""
    if dag.splices:
        dag.splices = [one for one in dag.splices if any(dag.names[one.begin : one.end])]
