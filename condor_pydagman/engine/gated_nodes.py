"""Nodes whose turn is decided by more than that all their parents are done.

They are outside of the countdown of `Nodes.waiting`, by a number so high that it never ends, and no
failed ancestor makes them futile.  Here is a countdown of their own: how many of their parents have
not ended, however they end.  `Nodes.move` tells of each parent; the features that close gates
decide which rule opens them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from condor_pydagman.engine.node_states import ENDED, State
from condor_pydagman.graph.joins import parents_of
from condor_pydagman.graph.model import AT_ONCE, Dag

GATE = 1 << 30  # added to the countdown of `Nodes.waiting`


class GatedNodes:
    """The countdowns of such nodes."""

    __slots__ = ("_decided", "changed", "opened", "parents", "unfinished", "watched")

    def __init__(self, dag: Dag) -> None:
        self.parents: dict[int, tuple[int, ...]] = {}  # their parents, each once
        self.unfinished: dict[int, int] = {}  # how many of those have not ended
        self.watched: dict[int, list[int]] = {}  # by parent, the nodes that wait for its end
        # nodes of which a parent has ended, or has ceased to be ended, in that order
        self.changed: dict[int, None] = {}
        self.opened: set[int] = set()  # nodes whose turn has come
        self._decided = dag.decided
        for node in dag.all_decided():
            self._watch(dag, node)

    def _watch(self, dag: Dag, node: int) -> None:
        """Wait for the end of all parents of a node, none of which has ended."""
        known = set(self.parents.get(node, ()))
        parents = self.parents[node] = parents_of(dag, node)
        for parent in parents:
            if parent not in known:
                self.watched.setdefault(parent, []).append(node)
        self.unfinished[node] = len(parents)
        self.close(node)

    def grow(self, dag: Dag, nodes: Iterable[int], states: Sequence[int]) -> None:
        """The DAG has got these nodes, or they may have more parents; none of them has begun."""
        for node in nodes:
            self._watch(dag, node)
            ended = (State(states[parent]) in ENDED for parent in self.parents[node])
            self.unfinished[node] -= sum(ended)

    def parent_moved(self, parent: int, old: int, new: int) -> None:
        """A watched node has another state."""
        step = (State(old) in ENDED) - (State(new) in ENDED)
        if step or State(new) in ENDED:
            for node in self.watched[parent]:
                self.unfinished[node] += step
                self.changed[node] = None

    def children_waiting(self, parent: int) -> Sequence[int]:
        """The nodes that wait for the end of a parent."""
        return self.watched.get(parent, ())

    def open(self, node: int) -> None:
        """The node's turn has come."""
        self.opened.add(node)

    def has_come(self, node: int) -> bool:
        """Whether what was to be waited for has come, so that the node's turn was decided."""
        if self._decided[node] == AT_ONCE:
            return node in self.opened
        return not self.unfinished[node]

    def close(self, node: int) -> None:
        """It is to be decided anew when the node's turn comes."""
        self.opened.discard(node)
        self.changed[node] = None

    def pop_changed(self) -> list[int]:
        """The nodes of which a parent has ended since the last call."""
        found = list(self.changed)
        self.changed.clear()
        return found
