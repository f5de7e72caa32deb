"""CHAINS: which nodes run in a bundle behind others of it, as soon as these have ended well.

A node joins if all nodes that it waits for are done or in the bundle, and nothing is to happen
between their end and its start (`apart`).

In a bundle nodes of which none waits for another run one after the other (`parallel` at a time),
though slots may be free.  So a fan-out joins only if what it costs that way is less than what the
bundle saves, a job's start for each step.  A chain, of which each node waits for the one before,
costs nothing; unless what its nodes have made comes home with the job, and others wait for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from condor_pydagman.features.bundle.apart import few
from condor_pydagman.named_tuple import NamedTuple

LONG_S = 20.0  # of a task: what takes that long gains nothing by running behind others in a job
STEP_S = 0.5  # that a step takes longer in a job of its own, at least. Measured: 1.6 s
LEAST_S = 1.0  # of a chain that is cut
PARTS = 4  # of the work for a slot that a chain is at most, then


class Room(NamedTuple):
    """How many nodes may be in a bundle."""

    most: int  # all in all
    parallel: int = 1  # how many run side by side
    task_s: float = 0.0  # how long one takes, in seconds; 0: that is not known
    longest_s: float = 0.0  # the same of the longest
    steps: int = 0  # how many may be in it for one that is ready, with that one; 0: any number
    # what a node has made comes home with the job, and those that wait for the node elsewhere wait
    # for that
    comes_home: bool = False

    def cut(self, heads: int, length: int, slots: int) -> Room:
        """The same with chains that are cut if there are more of them than slots: else some slots
        would run whole ones in the end, while others have nothing to do.

        What is left of a chain costs another job.  So none is cut that is short, nor any as long
        as times are not known: few are submitted then (`plan`).

        Args:
            heads: nodes that are ready, and bundles that run or are to.
            length: how many nodes there are for one that is ready.
        """
        if length * self.task_s <= LEAST_S or not 0 < slots < heads:
            return self
        return self._replace(steps=max(1, heads * length // (PARTS * slots)))


class Graph(Protocol):
    """Which nodes wait for which."""

    def children(self, node: int) -> Iterable[int]:
        """Those that wait for the node; one may come twice."""

    def parents(self, node: int) -> Iterable[int]:
        """Those that the node waits for; one may come twice."""


class Chains:
    """The nodes of one bundle, as they join it.

    Args:
        may_join: whether a node may, as far as it is not a question of its parents.
        is_done: whether one that is not in the bundle is done.
    """

    def __init__(
        self,
        graph: Graph,
        room: Room,
        may_join: Callable[[int], bool],
        is_done: Callable[[int], bool],
    ) -> None:
        self._graph, self._room = graph, room
        self._may_join, self._is_done = may_join, is_done
        # by node, how many tasks, one after the other, it takes until it has ended
        self.steps: dict[int, int] = {}

    def with_followers(self, heads: Iterable[int]) -> list[int]:
        """Nodes that are ready, and those that run behind them, in an order in which they can.

        The next node of a chain comes before the next chain.
        """
        for head in heads:
            if len(self.steps) < self._room.most:
                self._follow(head)
        return list(self.steps)

    def _follow(self, head: int) -> None:
        """Add a node, and those that run behind it, or behind it and others."""
        self.steps[head] = 1
        on_step, size, in_turn = Counter([1]), 1, 0  # of what is added
        todo = [head]
        while todo:
            joining = {child: self._step_of(child) for child in self._joining(todo.pop())}
            # As quick for one node behind many as behind few: a chain may have thousands.
            more = Counter(joining.values())
            steps = len(on_step) + len(more.keys() - on_step.keys())
            waiting = in_turn + sum(self._in_turn(on_step[at], n) for at, n in more.items())
            if self._has_room(size, len(joining)) and self._pays(steps, waiting, joining):
                on_step.update(more)
                size, in_turn = size + len(joining), waiting
                self.steps.update(joining)
                todo.extend(reversed(joining))

    def _joining(self, parent: int) -> Iterator[int]:
        """Its children that could join now."""
        for child in few(self._graph.children(parent)):
            if child not in self.steps and self._may_join(child):
                parents = self._graph.parents(child)
                if all(one in self.steps or self._is_done(one) for one in parents):
                    yield child

    def _step_of(self, node: int) -> int:
        return 1 + max(self.steps.get(parent, 0) for parent in self._graph.parents(node))

    def _in_turn(self, there: int, more: int) -> int:
        """How many nodes more wait for others of their step, if so many join it."""
        parallel = self._room.parallel
        return max(0, there + more - parallel) - max(0, there - parallel)

    def _has_room(self, size: int, more: int) -> bool:
        """Whether there is room for so many nodes more, with so many of one that is ready."""
        room = self._room
        is_long = 0 < room.steps < size + more
        return more > 0 and not is_long and len(self.steps) + more <= room.most

    def _pays(self, steps: int, in_turn: int, joining: Iterable[int]) -> bool:
        """Whether slots that are free would not run these nodes sooner, and others do not wait for
        them for longer than that saves."""
        room, saved_s = self._room, STEP_S * (steps - 1)
        is_quick = not in_turn or 0 < in_turn * room.task_s / room.parallel <= saved_s
        return is_quick and not self._holds_up(joining)

    def _holds_up(self, joining: Iterable[int]) -> bool:
        """Whether others, which wait for the same, would wait for the end of these nodes for longer
        than these take to start in jobs of their own."""
        room, graph = self._room, self._graph
        if not room.comes_home or 0 < room.longest_s <= STEP_S:
            return False
        parents = {one for node in joining for one in graph.parents(node)} & self.steps.keys()
        expected = {child for node in joining for child in few(graph.children(node))}
        expected.update(self.steps, joining)
        return any(one not in expected for parent in parents for one in graph.children(parent))
