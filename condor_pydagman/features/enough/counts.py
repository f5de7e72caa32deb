"""How many of the nodes that an ENOUGH is about are done, not needed, or lost to failures.

It knows no run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from condor_pydagman.engine.node_states import State
from condor_pydagman.features.enough.commands import EnoughsOfDag, goal, is_member, members
from condor_pydagman.graph.model import Dag

FOLLOWS = -1  # in place of an ENOUGH's number: all parents of the node are not needed, or skipped
EARLIER = -2  # an earlier run of the DAG did not need it
_LOST = (State.FAILED, State.FUTILE)


class EnoughCounts:
    """What is counted, for each ENOUGH by its number."""

    def __init__(self, dag: Dag, states: Sequence[int] = ()) -> None:
        """`states`: of all nodes, if any may have moved."""
        self._enoughs = EnoughsOfDag.of(dag)
        # the nodes that it is about
        self.members: list[list[int]] = [members(dag, enough) for enough in self._enoughs.enoughs]
        count = len(self._enoughs.enoughs)
        # how many of them are done, are not needed, or failed or are futile
        self.done = [0] * count
        self.surplus = [0] * count
        self.lost = [0] * count
        self.children = {number: node for node, number in self._enoughs.enough_of.items()}
        self._wide = [number for number in range(count) if number not in self.children]
        self.of: dict[int, list[int]] = {}  # by node, the numbers of those that are about it
        for number, nodes in enumerate(self.members):
            for node in nodes:
                self.of.setdefault(node, []).append(number)
        # nodes that are not needed, and by which ENOUGH, or FOLLOWS, or EARLIER
        self.not_needed: dict[int, int] = {}
        self.touched: dict[int, None] = {}  # those of which a count has changed
        # members that have come to wait (again), since somebody has last asked
        self.waiting: list[int] = []
        self._doubtful: dict[int, None] = {}  # those of whose nodes one more can't be done
        for number, nodes in enumerate(self.members if states else ()):
            for node in nodes:
                self._count(number, node, states[node], 1)

    def __bool__(self) -> bool:
        """Whether the DAG has any ENOUGH."""
        return bool(self.members)

    def grow(
        self, dag: Dag, nodes: Sequence[int], changed: Iterable[int], states: bytearray
    ) -> None:
        """The DAG has got these nodes, none of which has moved; nodes that have `changed` are among
        them, or may have more parents."""
        for _ in range(len(self.members), len(self._enoughs.enoughs)):
            self.members.append([])
            for counts in (self.done, self.surplus, self.lost):
                counts.append(0)
        found = {
            number: [node for node in nodes if is_member(dag, self._enoughs.enoughs[number], node)]
            for number in self._wide
        }
        for child in changed:
            number = self._enoughs.enough_of.get(child)
            if number is not None:
                self.children[number] = child
                parents = members(dag, self._enoughs.enoughs[number])
                found[number] = sorted(set(parents) - set(self.members[number]))
        for number, new in found.items():
            for node in new:
                self.members[number].append(node)
                self.of.setdefault(node, []).append(number)
                self._count(number, node, states[node], 1)

    # What happens.

    def moved(self, node: int, old: int, new: int) -> None:
        """A node that is counted has another state."""
        for number in self.of[node]:
            self._count(number, node, old, -1)
        for number in self.of[node]:
            self._count(number, node, new, 1)
        if new == State.WAITING:
            self.waiting.append(node)

    def mark(self, node: int, number: int) -> None:
        """A node that is about to be DONE is not needed."""
        self.not_needed[node] = number

    def unmark(self, node: int) -> None:
        """It is needed after all, or done no more."""
        self.not_needed.pop(node, None)

    def touch(self, number: int) -> None:
        """It is to be looked at once more."""
        self.touched[number] = None

    def pop_touched(self) -> list[int]:
        """Those of which a count has changed since the last call."""
        found = list(self.touched)
        self.touched.clear()
        return found

    def wait(self, *nodes: int) -> None:
        """These nodes wait, and may not be needed."""
        self.waiting.extend(nodes)

    def pop_waiting(self) -> list[int]:
        """The nodes that have come to wait since the last call."""
        found, self.waiting = self.waiting, []
        return found

    def _count(self, number: int, node: int, state: int, step: int) -> None:
        if state == State.DONE:
            counts = self.surplus if node in self.not_needed else self.done
        elif state in _LOST:
            counts = self.lost
        else:
            return
        if counts is not self.done:
            self._doubtful[number] = None
        counts[number] += step
        self.touched[number] = None

    # Questions.

    def goal(self, number: int) -> int:
        """How many are enough; no more than those that are needed at all, if some are not."""
        total, surplus = len(self.members[number]), self.surplus[number]
        wanted = goal(self._enoughs.enoughs[number], total)
        return min(wanted, total - surplus) if surplus else wanted

    def is_reached(self, number: int) -> bool:
        """Whether enough of them are done."""
        return self.done[number] >= max(self.goal(number), 1)

    def is_idle(self, number: int) -> bool:
        """Whether none of them is needed."""
        return 0 < len(self.members[number]) == self.surplus[number]

    def doubt(self) -> None:
        """It is to be found out anew of which nodes enough parents can't be done any more."""
        self._doubtful.update(dict.fromkeys(self.children))

    def pop_hopeless(self) -> list[int]:
        """The nodes of which that has come to be so since the last call."""
        found = [one for one in self._doubtful if one in self.children and self.is_hopeless(one)]
        self._doubtful.clear()
        return [self.children[number] for number in found]

    def left(self, number: int) -> int:
        """How many of them are done, or can still be done."""
        return len(self.members[number]) - self.lost[number] - self.surplus[number]

    def is_hopeless(self, number: int) -> bool:
        """Whether enough of them can't be done any more, since some have failed or are futile."""
        return self.lost[number] > 0 and self.left(number) < self.goal(number)
