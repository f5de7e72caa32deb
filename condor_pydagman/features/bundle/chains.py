"""CHAINS: which nodes run in a bundle behind others of it, as soon as these have ended well.

A node joins if all nodes that it waits for are done or in the bundle, and nothing is to happen
between their end and its start (`why_apart`).

In a bundle nodes of which none waits for another run one after the other (`parallel` at a time),
though slots may be free.  So a fan-out joins only if what it costs that way is less than what the
bundle saves, a job's start for each step.  A chain, of which each node waits for the one before,
costs nothing; unless what its nodes have made comes home with the job, and others wait for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Protocol

from condor_pydagman.features.bundle.commands import BundleLine
from condor_pydagman.features.cache.commands import cached_of
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import ScriptKind

LONG_S = 20.0  # of a task: what takes that long gains nothing by running behind others in a job
STEP_S = 0.5  # that a step takes longer in a job of its own, at least. Measured: 1.6 s
LEAST_S = 1.0  # of a chain that is cut
PARTS = 4  # of the work for a slot that a chain is at most, then
MAX_EDGES = 500  # to or from a node, beyond which none joins: all are looked at again and again


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


def why_apart(dag: Dag, node: int, *, named: bool = True) -> str:
    """Why a node can't run behind those that it waits for, in one bundle; '' if it can.

    Whatever happens between their end and its start is not known in the job, or is not done there.

    Args:
        named: whether the text names the one that it can't run behind, or is the same for all.
    """
    if dag.may_grow():
        return "the DAG may grow, so that it may have to wait for others"
    if dag.is_decided(node):
        return "more decides whether it runs than that those before it are done"
    if dag.script(node, ScriptKind.PRE) is not None:
        return "it has a PRE script"
    if node in dag.save_points:
        return "it has a SAVE_POINT_FILE"
    if node in cached_of(dag):
        return "it has a CACHE, which is asked when its turn comes"
    parents = few(dag.parents(node))
    if not parents and dag.has_parents(node):
        return f"it waits for more than {MAX_EDGES} nodes"
    reasons = (_why_not_behind(dag, parent, node, named=named) for parent in parents)
    return next(filter(None, reasons), "")


def few(nodes: Iterable[int]) -> list[int]:
    """The nodes, each once; none if there are more than a bundle has room for, by far."""
    found = list(islice(nodes, MAX_EDGES + 1))
    return list(dict.fromkeys(found)) if len(found) <= MAX_EDGES else []


def _why_not_behind(dag: Dag, parent: int, node: int, *, named: bool) -> str:
    before, abort = _before(dag, parent, named=named), dag.aborts.get(parent)
    if dag.script(parent, ScriptKind.POST) is not None:
        return f"{before} has a POST script"
    if abort is not None and abort.status == 0:
        return f"{before} ends the DAG if it returns 0"
    if dag.is_weak(parent, node):
        return f"it also runs if {before} fails"
    must_run = next(filter(None, (data.must_run(parent) for data in dag.all_features())), "")
    return f"{before} {must_run.removeprefix('it ')}" if must_run else ""


def why_unlike(
    dag: Dag, line_of: Mapping[int, BundleLine], parent: int, node: int, *, named: bool = True
) -> str:
    """Why a node and one that it waits for go into no bundle together, whatever their descriptions
    say; '' if they may.  `named`: as of `why_apart`."""
    before = _before(dag, parent, named=named)
    if line_of.get(parent) != line_of.get(node):
        return f"{before} is of no BUNDLE line, or of another"
    if dag.categories.get(parent) != dag.categories.get(node):
        return f"{before} is of another category, or of none"
    has_another = dag.priorities.get(parent, 0) != dag.priorities.get(node, 0)
    return f"{before} has another PRIORITY" if has_another else ""


def _before(dag: Dag, parent: int, *, named: bool) -> str:
    return f"{f'node {dag.names[parent]}' if named else 'a node'} before it"


def waiting_inside(dag: Dag, line_of: Mapping[int, BundleLine]) -> Iterator[int]:
    """Nodes of lines with CHAINS that wait for at least one node of the same line."""
    for node, line in line_of.items():
        if line.chains and any(line_of.get(parent) == line for parent in dag.parents(node)):
            yield node


class Graph(Protocol):
    """Which nodes wait for which."""

    def children(self, node: int) -> Iterable[int]:
        """Those that wait for the node; one may come twice."""

    def parents(self, node: int) -> Iterable[int]:
        """Those that the node waits for; one may come twice."""


class _Size(NamedTuple):
    """How large the part of a bundle is that begins with one node that is ready."""

    nodes: int = 1  # how many there are in it, with that one
    steps: int = 1  # on how many steps they are
    in_turn: int = 0  # how many of them wait for others of their step


class _Shape:
    """The nodes of such a part, by the step that they are on.

    It is as quick to add one to many nodes as to few: a chain may have thousands.
    """

    def __init__(self, parallel: int) -> None:
        self._on_step = Counter([1])
        self._parallel = parallel
        self._size = _Size()

    def with_more(self, steps: Iterable[int]) -> _Size:
        """What the size would be with nodes on these steps, too."""
        nodes, all_steps, in_turn = self._size
        for step, number in Counter(steps).items():
            there = self._on_step[step]
            nodes, all_steps = nodes + number, all_steps + (there == 0)
            in_turn += self._in_turn(there + number) - self._in_turn(there)
        return _Size(nodes, all_steps, in_turn)

    def _in_turn(self, number: int) -> int:
        return max(0, number - self._parallel)

    def add(self, steps: Iterable[int], size: _Size) -> None:
        """Add nodes on these steps; the size is what it would be with them."""
        self._on_step.update(steps)
        self._size = size


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
        shape = _Shape(self._room.parallel)
        todo = [head]
        while todo:
            joining = {child: self._step_of(child) for child in self._joining(todo.pop())}
            if not joining or self._holds_up(joining):
                continue
            more = shape.with_more(joining.values())
            if self._fits(more) and self._pays(more, len(joining)):
                shape.add(joining.values(), more)
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

    def _fits(self, shape: _Size) -> bool:
        """Whether so many nodes may be there for one that is ready."""
        return not self._room.steps or shape.nodes <= self._room.steps

    def _pays(self, shape: _Size, number: int) -> bool:
        """Whether there is room for so many nodes more, and slots that are free would not run them
        sooner."""
        room = self._room
        if len(self.steps) + number > room.most:
            return False
        saved_s = STEP_S * (shape.steps - 1)
        return not shape.in_turn or 0 < shape.in_turn * room.task_s / room.parallel <= saved_s


def next_together(
    room: Room,
    heads: int,
    slots: int,
    followed: Callable[[int, Room], list[int]],
    size: Callable[[int], int],
) -> list[int]:
    """The nodes of the next bundle of a line with CHAINS; none: none yet.

    Args:
        heads: as of `Room.cut`.
        slots: 0 if they are not known, or the author has said how many nodes go together.
        followed: so many of those that are ready, and the nodes that run behind them.
        size: how many of those that are ready are next, if there are so many nodes for each.
    """
    first = followed(1, room)
    room = room.cut(heads, len(first), slots)
    return followed(size(min(len(first), room.steps or len(first))), room)
