"""Which nodes that wait to be bundled have children that could start before the others have ended.

A child that has at least as many parents as nodes wait can't start before these have ended, so it
does not matter to it that what the first of them come to is known late.
"""

from __future__ import annotations

from collections import Counter

from condor_pydagman.graph.model import Dag


def fewest_parents(dag: Dag, node: int) -> int:
    """How many nodes must end, at least, before a child of this one can start; 0: it has none."""
    if dag.decided and any(map(dag.is_decided, dag.children(node))):
        return 1
    return min(map(dag.predecessor_count, dag.successors(node)), default=0)


class Awaited:
    """Nodes that have children, counted by how many parents these have."""

    def __init__(self) -> None:
        self._fewest: dict[int, int] = {}
        self._counts: Counter[int] = Counter()

    def add(self, dag: Dag, node: int) -> None:
        """The node waits."""
        fewest = fewest_parents(dag, node)
        if fewest:
            self._fewest[node] = fewest
            self._counts[fewest] += 1

    def drop(self, node: int) -> None:
        """It waits no more."""
        fewest = self._fewest.pop(node, 0)
        if fewest:
            self._counts[fewest] -= 1
            if not self._counts[fewest]:
                del self._counts[fewest]

    def any_before(self, count: int) -> bool:
        """Whether a child of one of them may start before so many nodes have ended."""
        return min(self._counts, default=count) < count
