"""A Dag that grows is, after each step, the Dag that would have been built at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.features.enough.commands import Enough, EnoughsOfDag
from condor_pydagman.features.run_if.commands import ConditionsOfDag, RunIf
from condor_pydagman.graph.grow import extend, numbered
from condor_pydagman.graph.model import AFTER_ALL, AT_ONCE, BY_NODE, DONE, Dag, Retry, Variable
from condor_pydagman.graph.stepwise import at_once

NODES = 9

ends = st.lists(st.integers(0, NODES - 1), min_size=1, max_size=4, unique=True).map(sorted)
cuts = st.lists(st.integers(0, NODES), max_size=3).map(sorted)


class Line(NamedTuple):
    """A PARENT line."""

    parents: list[int]
    children: list[int]
    weak: bool

    @property
    def last(self) -> int:
        """The line can't stand before that node."""
        return max(*self.parents, *self.children)


def _line(one: list[int], two: list[int], weak: bool) -> Line | None:
    children = [node for node in two if node not in one]
    return Line(one, children, weak) if children else None


lines = st.lists(st.builds(_line, ends, ends, st.booleans()), max_size=10).map(
    lambda found: [line for line in found if line is not None]
)


def _without_repeats(found: Sequence[Line]) -> list[Line]:
    """No edge between two nodes comes twice: the one who makes a piece sees to that."""
    pairs: set[tuple[int, int]] = set()
    kept = []
    for line in found:
        own = {(p, c) for p in line.parents for c in line.children}
        if not own & pairs:
            pairs |= own
            kept.append(line)
    return kept


def _define(dag: Dag, node: int) -> None:
    number = dag.add_node(f"N{node}" + "\x02" * (node == 4), f"{node % 2}.sub", line=node + 1)
    dag.flags[number] = node % 3
    if node % 2:
        dag.retries[number] = Retry(node)
        dag.categories[number] = f"c{node % 3}"
    if node % 3 == 0:
        enoughs = EnoughsOfDag.put(dag)
        enoughs.enough_of[number] = len(enoughs.enoughs)
        dag.decided[number] = AT_ONCE
        enoughs.enoughs.append(Enough(0, "PARENTS", dag.names[number], node + 1))
        enoughs.lines_at.append(f"{dag.places.file}:{node + 3}")
    elif node % 3 == 1:
        ConditionsOfDag.put(dag).conditions[number] = RunIf(0, "", "SKIP", f"Retries == {node}")
        dag.decided[number] = AFTER_ALL
        ConditionsOfDag.put(dag).lines_at[number] = f"{dag.places.file}:{node + 2}"
    if node % 4 == 1:
        assert dag.variables.add_simple([number], [f'x="{node}"'], append=node > 4)
    elif node % 4 == 2:
        dag.variables[number] = (Variable("y", str(node), False),)


def _piece(nodes: range, own: Sequence[Line], renumbered: bool) -> tuple[Dag, list[int]]:
    """New nodes, and behind them those that lines name."""
    named = {node for line in own for node in (*line.parents, *line.children)}
    known = sorted(named - set(nodes))
    dag = Dag()
    dag.places.enter(f"{nodes.start}.dag")
    order = list(reversed(nodes)) if renumbered else list(nodes)
    for node in order:
        _define(dag, node)
    order += known
    for node in known:
        dag.add_node(f"known {node}", "")
    number = {node: place for place, node in enumerate(order)}
    for parents, children, weak in own:
        dag.add_edges([number[p] for p in parents], [number[c] for c in children], weak=weak)
    if renumbered:
        dag.renumber([number[node] for node in (*nodes, *known)])
    dag.finish()
    return dag, known


def _sections(cut: Sequence[int]) -> list[range]:
    bounds = [0, *cut, NODES]
    return [range(begin, end) for begin, end in zip(bounds, bounds[1:])]


def _seen(dag: Dag) -> object:
    enoughs = EnoughsOfDag.of(dag)
    nodes = range(len(dag))
    return (
        dag.names,
        dag.ids,
        dag.submits,
        bytes(dag.flags),
        bytes(dag.kinds),
        {name: getattr(dag, name) for name in BY_NODE},
        dict(dag.variables),
        [dag.place(node) for node in nodes],
        vars(ConditionsOfDag.of(dag)),
        {node: enoughs.enoughs[number] for node, number in enoughs.enough_of.items()},
        {node: enoughs.lines_at[number] for node, number in enoughs.enough_of.items()},
        [list(dag.children(node)) for node in nodes],
        [list(dag.parents(node)) for node in nodes],
        [[dag.is_weak(node, child) for child in dag.children(node)] for node in nodes],
        dag.edges.any_weak,
        len(dag.edges),
        list(map(dag.predecessor_count, dag.vertices())),
        [sorted(dag.edges.weak_marks(vertex)) for vertex in dag.vertices()],
        [list(dag.edges.successors(vertex)) for vertex in dag.vertices()],
        [dag.successors_as_counted(vertex) for vertex in range(dag.vertex_count)],
        dag.edges.flat(),
        [dag.find(name) for name in ("N1", "N4?", "N4\x02", "N8")],
    )


@given(lines, cuts, st.booleans())
def test_grown_piece_by_piece_it_is_as_built_at_once(
    found: list[Line], cut: list[int], renumbered: bool
) -> None:
    sections = _sections(cut)
    kept = _without_repeats(found)
    of_section = [
        [line for line in kept if line.last in nodes] if nodes else [] for nodes in sections
    ]
    whole, grown = Dag(), Dag()
    grown.finish()
    for nodes in sections:
        whole.places.enter(f"{nodes.start}.dag")
        for node in nodes:
            _define(whole, node)
    for own in of_section:
        for line in own:
            whole.add_edges(line.parents, line.children, weak=line.weak)
    whole.finish()
    for nodes, own in zip(sections, of_section):
        piece, known = _piece(nodes, own, renumbered)
        grown.find("N4\x02")
        growth = extend(grown, at_once(numbered(grown, piece, known)))
        assert growth.nodes == nodes
        assert sorted(growth.decided) == [node for node in nodes if node % 3 < 2]
        others = [node for node in nodes if node % 3 == 2]
        assert growth.roots == [node for node in others if not grown.has_parents(node)]
        assert growth.done == [node for node in nodes if grown.flags[node] & DONE]
    assert grown.edges.predecessor_counts() == whole.edges.predecessor_counts()
    assert _seen(grown) == _seen(whole)


def test_one_piece_after_the_other_can_be_weak_or_not() -> None:
    grown = Dag()
    for name in ("A", "B"):
        grown.add_node(name, "x.sub")
    grown.add_edges([0], [1])
    grown.finish()
    for weak in (False, True, False):
        piece = Dag()
        for name in (f"N{len(grown)}", "A"):
            piece.add_node(name, "x.sub")
        piece.add_edges([1], [0], weak=weak)
        piece.finish()
        extend(grown, at_once(numbered(grown, piece, [0])))
    assert [grown.is_weak(0, child) for child in range(1, 5)] == [False, False, True, False]
    assert list(grown.edges.weak_marks(0)) == [0, 0, 1, 0]
