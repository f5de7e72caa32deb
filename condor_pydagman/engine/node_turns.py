"""Nodes whose turn is decided by more than that all their parents are done.

They are outside of the countdown of `Nodes.waiting`, by a number so high that it never ends, and no
failed ancestor makes them futile.  Here is a countdown of their own: how many of their parents have
not ended, however they end.  `Nodes.move` tells of each parent; which rule decides is the business
of modules above (`conditions`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from condor_pydagman.engine.node_states import ENDED, State
from condor_pydagman.graph.condition_commands import parents_of
from condor_pydagman.graph.model import Dag

GATE = 1 << 30  # added to the countdown of `Nodes.waiting`


class Turns:
    """The countdowns of such nodes.

    Attributes:
        parents: their parents, each once.
        unfinished: how many of those have not ended.
        watched: by parent, the nodes that wait for its end.
        changed: nodes of which a parent has ended, or has ceased to be ended, in that order.
        opened: nodes whose turn has come.
    """

    __slots__ = ("changed", "opened", "parents", "unfinished", "watched")

    def __init__(self, dag: Dag, nodes: Iterable[int]) -> None:
        self.parents = {node: parents_of(dag, node) for node in nodes}
        self.unfinished = {node: len(parents) for node, parents in self.parents.items()}
        self.watched: dict[int, list[int]] = {}
        for node, parents in self.parents.items():
            for parent in parents:
                self.watched.setdefault(parent, []).append(node)
        self.changed: dict[int, None] = dict.fromkeys(self.parents)
        self.opened: set[int] = set()

    def grow(self, dag: Dag, nodes: Iterable[int], states: Sequence[int]) -> None:
        """Some of these nodes may have more parents; none of them has begun."""
        for node in nodes:
            if node in self.parents:
                known = set(self.parents[node])
                self.parents[node] = parents_of(dag, node)
                for parent in self.parents[node]:
                    if parent not in known:
                        self.watched.setdefault(parent, []).append(node)
                ended = (State(states[parent]) in ENDED for parent in self.parents[node])
                self.unfinished[node] = len(self.parents[node]) - sum(ended)
                self.close(node)

    def let_go(self, nodes: Iterable[int]) -> None:
        """These nodes have left the DAG, with all that wait for their end."""
        for node in nodes:
            self.parents.pop(node, None)
            self.unfinished.pop(node, None)
            self.watched.pop(node, None)
            self.changed.pop(node, None)
            self.opened.discard(node)

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

    def close(self, node: int) -> None:
        """It is to be decided anew when the node's turn comes."""
        self.opened.discard(node)
        self.changed[node] = None

    def pop_changed(self) -> list[int]:
        """The nodes of which a parent has ended since the last call."""
        found = list(self.changed)
        self.changed.clear()
        return found
