"""Which nodes of one kind would run behind others in bundles, as far as is known before a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from condor_pydagman.features.bundle.apart import why_apart
from condor_pydagman.features.bundle.chains import Chains, Room
from condor_pydagman.features.bundle.commands import BundleLine
from condor_pydagman.graph.model import DONE, Dag
from condor_pydagman.named_tuple import NamedTuple

ONLY_ONE = "no other node of its line can go with it"
OTHER_KIND = "a node before it runs alone, or its job asks for something else"
FREE_SLOTS = (
    "others wait for the same, and slots that are free may run them sooner;"
    " it joins them if such nodes prove short"
)
# Why a node and one before it go into no bundle together; '' if that is not known.
Unlike = Callable[[int, int], str]


class Chained(NamedTuple):
    """Chains of nodes."""

    number: int = 0  # how many there are, of at least two nodes
    longest: int = 0  # how many tasks run one after the other in the longest
    behind: int = 0  # how many nodes run behind others


class ChainsAhead:
    """Chains of nodes that are of one line, kind and category.

    Args:
        nodes: in an order in which they can run.
        line: with or without CHAINS.
        room: of a bundle of them all.
    """

    def __init__(self, dag: Dag, nodes: Sequence[int], line: BundleLine, room: Room) -> None:
        self._dag, self._line = dag, line
        self._apart = {node: why_apart(dag, node, named=False) for node in nodes if line.chains}
        self._steps = self._all_steps(nodes, room) if line.chains else {}

    def _all_steps(self, nodes: Sequence[int], room: Room) -> dict[int, int]:
        chains = self._chains(room)
        chains.with_followers(node for node in nodes if node not in chains.steps)
        return chains.steps

    def _chains(self, room: Room) -> Chains:
        return Chains(self._dag, room, self._may_join, self._is_done)

    def _may_join(self, node: int) -> bool:
        return not self._apart.get(node, OTHER_KIND)

    def _is_done(self, node: int) -> bool:
        return bool(self._dag.flags[node] & DONE)

    def with_followers(self, heads: Sequence[int], room: Room) -> Sequence[int]:
        """The nodes of a bundle that are ready, and those that run behind them."""
        return self._chains(room).with_followers(heads) if self._line.chains else heads

    def chained(self) -> Chained:
        """All chains, if bundles have room for them."""
        steps, children = self._steps, self._dag.children
        behind = sum(step > 1 for step in steps.values())
        heads = (node for node, step in steps.items() if step == 1)
        number = sum(any(steps.get(one, 1) > 1 for one in children(head)) for head in heads)
        return Chained(number, max(steps.values()), behind) if number else Chained()

    def not_behind(self, nodes: Iterable[int], unlike: Unlike) -> Iterator[tuple[int, str]]:
        """Those of these nodes that don't run behind the ones that they wait for; and why."""
        for node in nodes:
            if self._steps.get(node) == 1:
                yield node, self._apart[node] or self._why_first(node, unlike)

    def _why_first(self, node: int, unlike: Unlike) -> str:
        for parent in self._dag.parents(node):
            if parent not in self._steps and not self._is_done(parent):
                return unlike(parent, node) or OTHER_KIND
        return FREE_SLOTS
