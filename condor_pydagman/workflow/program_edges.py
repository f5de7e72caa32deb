"""The edges of a DAG file as lines of a Python program, in which layers have names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby

from condor_pydagman.named_tuple import NamedTuple


class Edge(NamedTuple):
    """A PARENT line: every one of `children` waits for every one of `parents`."""

    parents: tuple[str, ...]
    children: tuple[str, ...]
    weak: bool = False


class Position(NamedTuple):
    """Where a program has a node."""

    variable: str  # that holds the node, or its layer
    number: int = 0  # in the layer, from 0
    size: int = 0  # of the layer; 0 if the node is in none


Positions = Mapping[str, Position]


def without_joins(edges: Iterable[Edge], joins: set[str]) -> Iterator[Edge]:
    """The edges, those through nodes that only join others made direct."""
    some = list(edges)
    parents: dict[str, tuple[str, ...]] = {}
    for edge in some:
        if edge.children[0] in joins:
            parents[edge.children[0]] = parents.get(edge.children[0], ()) + edge.parents
    for edge in some:
        if edge.children[0] not in joins:
            yield edge._replace(parents=parents.get(edge.parents[0], edge.parents))


def edge_lines(edges: Iterable[Edge], positions: Positions) -> Iterator[str]:
    """The lines."""

    def alike(edge: Edge) -> tuple[object, ...]:
        variables = [{_at(name, positions).variable for name in names} for names in edge[:2]]
        return len(edge.parents), len(edge.children), *variables, edge.weak

    for _, some in groupby(edges, alike):
        yield from _of_alike(list(some), positions)


def _at(name: str, positions: Positions) -> Position:
    """Where a node is; those of splices are known by their names."""
    return positions.get(name) or Position(f"flow[{name!r}]")


def _of_alike(some: Sequence[Edge], positions: Positions) -> Iterator[str]:
    """Those of edges between the same variables, with as many nodes each."""
    ours, theirs = (_nodes(list(chain(*names)), positions) for names in list(zip(*some))[:2])
    parents, children, weak = len(some[0].parents), len(some[0].children), some[0].weak
    if len(some) > 1 and parents == children == 1 and ours[0] != "[":
        yield f"{ours}.before_each({theirs}{', weak=True' * weak})"
    elif len(some) > 1 and ours.isidentifier() and theirs.isidentifier() and not weak:
        yield f"for n in range({len(some)}):"
        yield f"    {_chunk(ours, parents)} >> {_chunk(theirs, children)}"
    else:
        yield from chain.from_iterable(_alone(edge, positions) for edge in some)


def _chunk(layer: str, size: int) -> str:
    return f"{layer}[n]" if size == 1 else f"{layer}[{size} * n:{size} * (n + 1)]"


def _alone(edge: Edge, positions: Positions) -> Iterator[str]:
    parents, children = _nodes(edge.parents, positions), _nodes(edge.children, positions)
    if not edge.weak and not (parents[0] == children[0] == "["):
        yield f"{parents} >> {children}"
    elif not edge.weak:
        yield f"for child in {children}:"
        yield f"    {parents} >> child"
    elif parents[0] != "[":
        yield f"{parents}.before({children}, weak=True)"
    else:
        yield f"for parent in {parents}:"
        yield f"    parent.before({children}, weak=True)"


def _nodes(names: Sequence[str], positions: Positions) -> str:
    """Nodes as an expression: a variable, a slice of one, or a list."""
    found = [_at(name, positions) for name in names]
    first, numbers = found[0], [one.number for one in found]
    if len(found) == 1:
        return f"{first.variable}[{first.number}]" if first.size else first.variable
    step = numbers[1] - numbers[0]
    regular = range(first.number, numbers[-1] + 1, step) if step > 0 else ()
    if {one.variable for one in found} == {first.variable} and numbers == list(regular):
        if len(found) == first.size:
            return first.variable
        by = f":{step}" if step > 1 else ""
        return f"{first.variable}[{first.number}:{numbers[-1] + 1}{by}]"
    return f"[{', '.join(_nodes([name], positions) for name in names)}]"
