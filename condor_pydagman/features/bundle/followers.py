"""Followers: nodes that may run behind their parents in one bundle, by lines with CHAINS."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.state import RunState
from condor_pydagman.features.bundle.chains import LONG_S, Chains, Room, few, why_apart
from condor_pydagman.features.bundle.commands import BundleLine
from condor_pydagman.named_tuple import NamedTuple

MAX_LOOKED_AT = 5000  # nodes that one request has


class Key(NamedTuple):
    """What nodes have in common that can go together."""

    priority: int  # their own, without what is added for the whole DAG
    line: BundleLine
    kind: str  # as what makes bundles has found it
    category: str


class Known(Protocol):
    """What is known of the nodes of a run that may be bundled, as of `waiting.Waiting`."""

    line_of: dict[int, BundleLine]
    kinds: dict[int, str]
    alone: set[int]

    def priority(self, node: int) -> int:
        """That of the node, without what is added for the whole DAG."""

    def why_alone(self, node: int) -> str:
        """Why the node runs alone whatever its description says; '' if it does not."""


class Followers:
    """The followers of a run and their kinds."""

    def __init__(self, run: RunState, waiting: Known) -> None:
        self.run, self._waiting = run, waiting
        self._apart: dict[int, bool] = {}  # that can't be behind others, whatever their kinds
        self._asked: set[int] = set()  # of which kind they are

    def to_look_at(self, heads: Iterable[int]) -> list[int]:
        """Possible followers of these nodes whose kinds are not known yet."""
        line_of, kinds = self._waiting.line_of, self._waiting.kinds
        todo = [node for node in heads if line_of[node].chains]
        below: dict[int, None] = {}
        while todo and len(below) < MAX_LOOKED_AT:
            some = [one for one in self._children(todo.pop()) if one not in below]
            below.update(dict.fromkeys(some))
            todo += some
        found = [node for node in below if node not in kinds and node not in self._asked]
        self._asked.update(found)
        return found

    def _children(self, node: int) -> Iterator[int]:
        line = self._waiting.line_of[node]
        for child in few(self.run.dag.children(node)):
            if self._waiting.line_of.get(child) == line and not self._is_apart(child):
                yield child

    def _is_apart(self, node: int) -> bool:
        found = self._apart.get(node)
        if found is None:
            why = why_apart(self.run.dag, node) or self._waiting.why_alone(node)
            found = self._apart[node] = bool(why)
        return found

    def forget(self, node: int) -> None:
        """What keeps the node from others may have changed."""
        self._apart.pop(node, None)
        self._asked.discard(node)

    def seen(self, node: int, kind: str) -> None:
        """Note the kind of a follower; '' if it can't be bundled."""
        if node in self._asked:
            self._asked.discard(node)
            if kind:
                self._waiting.kinds[node] = kind

    def with_heads(self, key: Key, room: Room, heads: Iterable[int]) -> list[int]:
        """The ready nodes `heads` and their followers, in an order in which they can run."""
        run, states = self.run, self.run.nodes.states
        if room.task_s > LONG_S:
            return list(heads)

        def may_join(node: int) -> bool:
            return states[node] == State.WAITING and self._may_join(key, node)

        def is_done(node: int) -> bool:
            return states[node] == State.DONE

        return Chains(run.dag, room, may_join, is_done).with_followers(heads)

    def _may_join(self, key: Key, node: int) -> bool:
        run, waiting = self.run, self._waiting
        return (
            waiting.kinds.get(node) == key.kind
            and waiting.line_of.get(node) == key.line
            and not self._is_apart(node)
            and node not in waiting.alone
            and waiting.priority(node) == key.priority
            and run.category(node) == key.category
            and not (run.nodes.marks[node] or run.is_closed_to(node))
            and node not in run.retrying.on_hold
        )
