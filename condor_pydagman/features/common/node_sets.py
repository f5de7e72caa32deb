"""Which nodes a line of a DAG file is about: named ones, those of a category, or all.

The end of such a line is NODES with names, CATEGORY with the name of one, or ALL_NODES.  In a
splice, ALL_NODES are the splice's nodes, and a category is its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, ClassVar

from condor_pydagman.features.common import rows
from condor_pydagman.features.common.rows import Check, as_it_is
from condor_pydagman.graph.building import Building
from condor_pydagman.graph.model import Dag, FeatureData
from condor_pydagman.graph.modify import category_name
from condor_pydagman.graph.problems import ProcessingError
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import NodeKind

ALL_NODES, CATEGORY, NODES = ("ALL_NODES", "CATEGORY", "NODES")


def members(refuse: Check = as_it_is) -> Any:
    """The part of a row that says the nodes; the field behind it has the names.  `refuse` may raise
    an error of its own for a word that is none of the three."""
    return rows.variants(
        {
            ALL_NODES: None,
            CATEGORY: rows.names("name", "<category>", 1),
            NODES: rows.names("nodes", "<node1> [<node2> ...]"),
        },
        empty=(),
        refuse=refuse,
    )


class NodeSet(NamedTuple):
    """The nodes that a line is about."""

    category: str = ""  # full name of the category whose nodes they are, '' if it is not about one
    # the nodes, in ascending order; None: those of the category, or all
    nodes: tuple[int, ...] | None = None

    def among(self, dag: Dag, nodes: Collection[int], kinds: Collection[int]) -> Iterable[int]:
        """Those of the nodes, which are all of a DAG or all that a piece has brought, that the line
        means and that are of these kinds."""
        if self.nodes is not None:
            return self.nodes if self.nodes and self.nodes[0] in nodes else ()
        if self.category:
            nodes = [node for node in nodes if dag.categories.get(node) == self.category]
        return of_kinds(dag, nodes, kinds)

    def renumbered(self, new: Sequence[int]) -> NodeSet:
        """The same when node n has become node `new[n]`."""
        if self.nodes is None:
            return self
        return self._replace(nodes=tuple(sorted(new[node] for node in self.nodes)))

    def words(self, dag: Dag) -> tuple[str, tuple[str, ...]]:
        """The end of the line again."""
        if self.nodes is not None:
            return NODES, tuple(dag.names[node] for node in self.nodes)
        return (CATEGORY, (self.category,)) if self.category else (ALL_NODES, ())

    def is_of_unused_category(self, dag: Dag) -> bool:
        """Whether it is about a category that no node is in."""
        return bool(self.category) and self.category not in set(dag.categories.values())


class UsesOfDag(FeatureData):
    """Lines of a DAG that are about sets of nodes, in their order."""

    word: ClassVar[str]  # the command word
    kinds: ClassVar[Collection[int]]  # of nodes that they can be about

    def __init__(self) -> None:
        self.uses: list[Any] = []  # named tuples; the first field is a name, and `of` a NodeSet

    def renumber(self, new: Sequence[int]) -> None:
        """As of `FeatureData`."""
        self.uses = [use._replace(of=use.of.renumbered(new)) for use in self.uses]

    def numbered(self, new: Sequence[int]) -> UsesOfDag:
        """As of `FeatureData`."""
        found = type(self)()
        found.uses = [use._replace(of=use.of.renumbered(new)) for use in self.uses]
        return found

    def grow(self, more: UsesOfDag) -> None:
        """As of `FeatureData`."""
        self.uses.extend(more.uses)

    def mean_new(self, piece: Dag, nodes: range) -> None:
        """Each line of a piece is about new nodes: name those that it means."""
        self.uses = [
            use._replace(of=NodeSet(nodes=tuple(use.of.among(piece, nodes, self.kinds))))
            for use in self.uses
        ]

    def mistakes(
        self, dag: Dag, outer: Dag | None = None, *, grows: bool = False
    ) -> Iterator[ProcessingError]:
        """Lines of a piece that mean no node."""
        for use in self.uses if outer is not None else ():
            if not use.of.nodes:
                yield ProcessingError(
                    f"{self.word} {use[0]}: no new node is meant",
                    hint="in what is added to a DAG that runs, it is about new nodes only",
                )

    def warnings(self, dag: Dag) -> Iterator[str]:
        """Lines that are about no node."""
        for use in self.uses:
            if use.of.is_of_unused_category(dag):
                yield (
                    f"Warning: category {use.of.category} has no assigned nodes, so {self.word}"
                    f" {use[0]} CATEGORY {use.of.category} will have no effect"
                )

    def categories(self) -> Iterator[str]:
        """As of `FeatureData`."""
        return (use.of.category for use in self.uses)


def of_kinds(dag: Dag, nodes: Iterable[int], kinds: Collection[int]) -> tuple[int, ...]:
    """Those of the nodes that are of these kinds."""
    return tuple(node for node in nodes if dag.kinds[node] in kinds)


def node_set(
    building: Building,
    which: str,
    names: Sequence[str],
    kinds: Collection[int],
    refuse: Callable[[str, NodeKind], None],
) -> NodeSet | None:
    """The nodes that a line of a DAG file means; None if there are none in its splice.

    Args:
        which, names: the end of the line.
        kinds: of the nodes that it can be about.
        refuse: raises the error for a named node of another kind.
    """
    dag = building.dag
    if which == CATEGORY:
        return NodeSet(building.text(category_name(building, names[0])))
    if which == NODES:
        found: set[int] = set()
        for name in names:
            nodes = building.named(name)
            kind = NodeKind(dag.kinds[nodes[0]])  # those of a sweep are alike
            if kind not in kinds:
                refuse(name, kind)
            found.update(nodes)
        return NodeSet(nodes=tuple(sorted(found)))
    if building.scope.outer is None:
        return NodeSet()
    nodes = of_kinds(dag, building.nodes(ALL_NODES), kinds)
    return NodeSet(nodes=nodes) if nodes else None
