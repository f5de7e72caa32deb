"""Which of the nodes that can go together make the next bundle: alike in a run, and before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from condor_pydagman.features.bundle.chains import Room
from condor_pydagman.features.bundle.commands import BundleLine
from condor_pydagman.features.bundle.learned import Learned, Running
from condor_pydagman.features.bundle.plan import MAX_SECONDS, MAX_SIZE, Limits, Seen, Times
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple

MIN_SIZE = 2  # nodes of a bundle


class Group:
    """Nodes of one kind that are ready and can go together, in their order.

    It is counted how many nodes the children of each of them wait for at least.  A child that waits
    for as many nodes as there are, or more, can't start before all of these have ended: it does not
    matter to it that what the first of them come to is known late.

    Args:
        is_live: whether it is known while a bundle runs what its nodes come to.
    """

    def __init__(self, kind: str, *, is_live: bool) -> None:
        self.kind, self.is_live = kind, is_live
        self.nodes: dict[int, float] = {}  # and since when they wait, seconds since the epoch
        self._fewest: dict[int, int] = {}  # of those that have children
        self._counts: Counter[int] = Counter()

    def add(self, dag: Dag, node: int, now: float) -> None:
        """Another one waits."""
        self.nodes[node] = now
        fewest = fewest_parents(dag, node)
        if fewest:
            self._fewest[node] = fewest
            self._counts[fewest] += 1

    def drop(self, node: int) -> None:
        """It waits no more."""
        del self.nodes[node]
        fewest = self._fewest.pop(node, 0)
        if fewest:
            self._counts[fewest] -= 1
            if not self._counts[fewest]:
                del self._counts[fewest]

    def needs_all(self) -> bool:
        """Whether no child of any of them may start before all of them have ended."""
        return min(self._counts, default=len(self.nodes)) >= len(self.nodes)


def fewest_parents(dag: Dag, node: int) -> int:
    """How many nodes must end, at least, before a child of this one can start; 0: it has none."""
    if dag.decided and any(map(dag.is_decided, dag.children(node))):
        return 1
    return min(map(dag.predecessor_count, dag.successors(node)), default=0)


class Jobs(NamedTuple):
    """Jobs of the DAG in the queue."""

    running: int = 0
    idle: int = 0
    bundles: int = 0  # those of them that are bundles
    alike: Iterable[Running] = ()  # bundles of the same kind that run


# So many of the nodes that are ready, the first ones, and those that run behind them.
Followed = Callable[[int, Room], Sequence[int]]


def next_bundle(
    group: Group,
    limits: Limits,
    most: int,
    learned: Learned,
    jobs: Jobs,
    now: float,
    followed: Followed,
) -> Sequence[int]:
    """The nodes of the next bundle; none: none yet.

    Args:
        limits: what their author says.
        most: how many nodes the access point allows in a bundle.
    """

    def size(length: int) -> int:
        """How many of those that are ready are next, if each stands for so many nodes."""
        seen = Seen(
            len(group.nodes),
            running=jobs.running,
            idle=jobs.idle,
            is_live=group.is_live or group.needs_all(),  # who waits for what large ones come to?
            steps=length,
        )
        found = learned.size(group.kind, seen, limits, jobs.alike, now)
        return min(found, max(1, most // length))

    times, slots = learned.times(group.kind), learned.slots or 0
    room = room_of(limits, most, times, comes_home=not group.is_live)
    heads = len(group.nodes) + jobs.bundles
    return next_together(room, heads, 0 if limits.size or limits.seconds else slots, followed, size)


def next_together(
    room: Room, heads: int, slots: int, followed: Followed, size: Callable[[int], int]
) -> Sequence[int]:
    """The nodes of the next bundle of a line with CHAINS; none: none yet.

    Args:
        heads: as of `Room.cut`.
        slots: 0 if they are not known, or the author has said how many nodes go together.
        size: how many of those that are ready are next, if there are so many nodes for each.
    """
    first = followed(1, room)
    room = room.cut(heads, len(first), slots)
    return followed(size(min(len(first), room.steps or len(first))), room)


def side_by_side(dag: Dag, line: BundleLine, category: str) -> int:
    """How many nodes of a line run so in one bundle, if they are of that category."""
    return max(1, min(line.parallel, dag.category_limits.get(category, line.parallel)))


def limits_of(dag: Dag, line: BundleLine, category: str, most: int) -> Limits:
    """What its author says of bundles; the access point allows so many nodes at most."""
    size, parallel = min(line.size, most), side_by_side(dag, line, category)
    return Limits(size, line.max_seconds, parallel)


def room_of(limits: Limits, most: int, times: Times, *, comes_home: bool) -> Room:
    """How many nodes may be in a bundle with those that run behind others; the access point allows
    so many at most."""
    most = limits.size or min(MAX_SIZE, most)
    if times.task_s:
        most_s = limits.seconds or MAX_SECONDS
        most = max(1, min(most, int(most_s * limits.parallel / times.task_s)))
    return Room(most, limits.parallel, times.task_s, times.longest_s, comes_home=comes_home)
