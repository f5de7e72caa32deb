"""All nodes of a running DAG: their states, what they wait for, and why they failed.

What every node has is in arrays, what few have in dictionaries; `move()` is the only writer of a
state and of the counts by state.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING

from condor_pydagman.engine.gated_nodes import GATE, GatedNodes
from condor_pydagman.engine.node_states import ALONE, TABLE, Cause, State
from condor_pydagman.graph.model import Dag
from condor_pydagman.vocabulary import NodeKind

if TYPE_CHECKING:
    from condor_pydagman.graph.grow import Growth

_CAUSES = len(Cause)
_NEXT = [-1] * (len(State) * _CAUSES)
for (_state, _cause), _new in TABLE.items():
    _NEXT[_state * _CAUSES + _cause] = _new

MAX_REMEMBERED_MOVES = 2000  # how many moves of all nodes are remembered for error messages


class IllegalMove(AssertionError):
    """A node was to make a move that is not in the table: a bug of ours, with the moves that led to
    it; or a log is followed of which events are missing.
    """

    def __init__(self, text: str, node: int) -> None:
        super().__init__(text)
        self.node = node  # the node


class Nodes:
    """States of all nodes, and the countdown of unfinished parents."""

    __slots__ = (
        "_futile_junctions",
        "_recent_moves",
        "_watched",
        "changes",
        "clusters",
        "counts",
        "dag",
        "errors",
        "gated",
        "marks",
        "moved",
        "pop_hopeless",
        "procs",
        "retries",
        "service_counts",
        "services",
        "stale",
        "states",
        "total",
        "values",
        "waiting",
    )

    def __init__(self, dag: Dag) -> None:
        self.dag = dag
        self.states = bytearray(len(dag))  # a `State` for each node
        # those of `node_states` for each node; `mark` and `unmark` are their only writers
        self.marks = bytearray(len(dag))
        # the SERVICE nodes, which are in no count but their own
        self.services = frozenset(dag.of_kind(NodeKind.SERVICE))
        self.total = len(dag) - len(self.services)  # how many nodes there are without them
        self.counts = [0] * len(State)  # how many nodes are in each state, services left out
        self.counts[State.WAITING] = len(dag) - len(self.services)
        self.service_counts = [0] * len(State)  # the same of services
        self.service_counts[State.WAITING] = len(self.services)
        # for each vertex (as `Edges.vertices`), how many predecessors have not ended
        self.waiting = dag.edges.predecessor_counts()
        # what features do then, see `feature.Feature`
        self.moved: tuple[Callable[[int, int, int], None], ...] = ()
        self.pop_hopeless: tuple[Callable[[bool], list[int]], ...] = ()
        # nodes have ceased to be failed, and it is not known yet which are futile now
        self.stale = False
        self.gated = GatedNodes(dag)  # the nodes that are outside of that countdown
        self._watched = self.gated.watched
        for node in self.gated.parents:
            self.waiting[node] += GATE
        self.retries: dict[int, int] = {}  # retries taken so far, by node; absent means 0
        self.values: dict[int, int] = {}  # return value of the last run, by node; absent means 0
        self.errors: dict[int, str] = {}  # why a node failed, in words
        self.clusters = array("i", bytes(4 * len(dag)))  # last cluster of each node, 0 if none
        # its first proc there, None if no node has shared a cluster with others
        self.procs: array[int] | None = None
        self.changes = 0  # number of moves so far; tells whether anything has to be published again
        self._futile_junctions: set[int] = set()  # below which all is futile
        self._recent_moves: deque[tuple[float, int, int, int]] = deque(maxlen=MAX_REMEMBERED_MOVES)

    def grow(self, added: Growth) -> list[int]:
        """The DAG has grown.  Returns the nodes that now have no unfinished parent, of those that
        are new or wait for an ended one."""
        count = len(added.nodes)
        self._append(added)
        self.total += count
        self.counts[State.WAITING] += count
        self.changes += 1
        for node in added.decided:
            self.waiting[node] += GATE
        for node, parents in added.before:
            self.waiting[node] += parents
        free = added.roots.copy()
        for node, successors, weak in added.behind:
            if self.states[node] == State.DONE:
                free += self._count(successors, -1)
            elif self.states[node] == State.FAILED:
                free += self._count([v for v, mark in zip(successors, weak) if mark], -1)
        return free

    def _append(self, added: Growth) -> None:
        """There are nodes behind the others, and junctions behind theirs, which stand at the end
        of `waiting` in reverse."""
        first, count = len(self.states), len(added.nodes)
        of_junctions = added.junctions_waiting
        self.waiting[first:first] = array("i", chain(added.waiting, reversed(of_junctions)))
        self.states.extend(bytes(count))
        self.marks.extend(bytes(count))
        self.clusters.extend(repeat(0, count))
        if self.procs is not None:
            self.procs.extend(repeat(0, count))

    def move(self, node: int, cause: Cause, now: float) -> None:
        """Change the state of one node.

        Raises:
            IllegalMove: the table has no such move.
        """
        old = self.states[node]
        new = _NEXT[old * _CAUSES + cause]
        if new < 0:
            text = f"{State(old).name} + {cause.name}: {self.move_history(node)}"
            raise IllegalMove(text, node)
        self.states[node] = new
        counts = self.service_counts if node in self.services else self.counts
        counts[old] -= 1
        counts[new] += 1
        self.changes += 1
        self._recent_moves.append((now, node, old, cause))
        if self._watched and node in self._watched:
            self.gated.parent_moved(node, old, new)
        for moved in self.moved:
            moved(node, old, new)

    def mark(self, node: int, marks: int) -> None:
        """The node has these marks from now on, beside those that it has."""
        self.marks[node] |= marks

    def unmark(self, node: int, marks: int) -> None:
        """The node has these marks no more."""
        self.marks[node] &= ~marks

    def move_history(self, node: int) -> str:
        """The remembered moves of one node, as text."""
        moves = (
            f"{when:.3f} {State(old).name} + {Cause(cause).name}"
            for when, who, old, cause in self._recent_moves
            if who == node
        )
        return f"node {self.dag.names[node]}: " + ("; ".join(moves) or "no moves yet")

    def forget_error(self, node: int) -> None:
        """The node has not failed any more."""
        self.errors.pop(node, None)

    def not_failed(self, node: int) -> None:
        """The node has failed no more, or is to run anew: what is futile is found out anew."""
        if self.marks[node] & ALONE:
            self.unmark(node, ALONE)
        else:
            self.stale = True

    def settled(self) -> None:
        """It is known which nodes are futile."""
        self.stale = False

    def tell(
        self,
        moved: tuple[Callable[[int, int, int], None], ...],
        pop_hopeless: tuple[Callable[[bool], list[int]], ...],
    ) -> None:
        """From now on these are called; see the attributes of these names."""
        self.moved, self.pop_hopeless = moved, pop_hopeless

    def returned(self, node: int, value: int) -> None:
        """The node's last run, or its jobs so far, returned `value`."""
        if value:
            self.values[node] = value
        else:
            self.values.pop(node, None)  # most nodes return 0: not worth an entry each

    def set_error(self, node: int, error: str) -> None:
        """Why the node failed, in words; the last word counts."""
        self.errors[node] = error

    def set_retries(self, node: int, taken: int) -> None:
        """How many retries the node has taken."""
        self.retries[node] = taken

    def set_cluster(self, node: int, cluster: int, proc: int = 0) -> None:
        """The cluster of the node's present run, and its first proc there."""
        self.clusters[node] = cluster
        if proc and self.procs is None:
            self.procs = array("i", bytes(4 * len(self.clusters)))
        if self.procs is not None:
            self.procs[node] = proc

    def last_job(self, node: int) -> str:
        """`cluster.proc` of the node's last run, '' if it has had none."""
        proc = 0 if self.procs is None else self.procs[node]
        return f"{self.clusters[node]}.{proc}" if self.clusters[node] else ""

    def roots(self) -> list[int]:
        """Nodes without unfinished parents."""
        return [node for node in range(len(self.dag)) if self.waiting[node] == 0]

    def may_start(self, node: int) -> bool:
        """Whether the node's turn has come, as far as its parents decide."""
        return not self.waiting[node] or node in self.gated.opened

    def unfinished_parents(self, node: int) -> int:
        """How many predecessors the node waits for."""
        waiting = self.waiting[node]
        return waiting if waiting < GATE else self.gated.unfinished[node]

    def release_children(self, node: int, *, weak_only: bool = False) -> list[int]:
        """Count `node` as ended for its successors; returns those that now have no unfinished
        parent.

        Iterative: junctions without waiting predecessors hand it on.  `weak_only` is for a
        node that failed: it has ended for those that wait for no more than that.
        """
        edges = self.dag.edges
        return self._count(self._weak(node) if weak_only else edges.successors(node), -1)

    def _count(self, first: Sequence[int], change: int) -> list[int]:
        """Count an unfinished parent more (1) or less (-1).  Returns the nodes, also below
        junctions, that have none now, or had none."""
        turned: list[int] = []
        turns_at = max(change, 0)
        todo = [first]
        while todo:
            for vertex in todo.pop():
                self.waiting[vertex] += change
                if self.waiting[vertex] != turns_at:
                    continue
                if vertex >= 0:
                    turned.append(vertex)
                else:
                    todo.append(self.dag.successors(vertex))
        return turned

    def release_strong(self, node: int) -> list[int]:
        """As `release_children`, of a node that had failed, which has released the weak ones."""
        return self._count(self._weak(node, weak=False), -1)

    def take_back(self, node: int, *, weak_only: bool = False) -> list[int]:
        """The reverse of `release_children`: the node is to run anew.  Returns the children that
        had no unfinished parent, and have one now."""
        return self._count(self._weak(node) if weak_only else self.dag.successors(node), 1)

    def mark_all_futile_anew(self, now: float) -> None:
        """Nodes have ceased to be failed: find out anew which are FUTILE."""
        self._futile_junctions.clear()
        for node in list(self.in_state(State.FUTILE)):
            self.move(node, Cause.FREED, now)
        self.mark_unreachable(now, anew=True)
        for node in list(self.in_state(State.FAILED)):
            if not self.marks[node] & ALONE:
                self.mark_futile(node, now)
        self.mark_unreachable(now)

    def _weak(self, node: int, weak: bool = True) -> Sequence[int]:
        """The successors of a node by weak edges, or by strong ones."""
        marks = self.dag.edges.weak_marks(node)
        return [v for v, mark in zip(self.dag.successors(node), marks) if bool(mark) == weak]

    def mark_futile(self, node: int, now: float) -> int:
        """A node failed: mark what can't run any more FUTILE; returns how many nodes that is.

        A node is futile if a parent of it failed or is futile itself: one that is DONE, or runs,
        keeps no child from running.  (Stock goes on through it.)  A weak edge of the failed node
        makes no child futile; one of a node that is futile does.  Nodes whose turn is decided
        otherwise are passed over.
        """
        futile = self._mark_futile(self._weak(node, weak=False), now)
        return futile + self.mark_unreachable(now)

    def mark_unreachable(self, now: float, *, anew: bool = False) -> int:
        """Mark nodes FUTILE that features know to be so, and everything below them; returns how
        many nodes that were.  `anew`: nodes have ceased to be failed."""
        futile = 0
        while self.pop_hopeless:
            found = [
                node
                for pop_hopeless in self.pop_hopeless
                for node in pop_hopeless(anew)
                if self.states[node] == State.WAITING
            ]
            if not found:
                break
            anew = False
            for node in found:
                self.move(node, Cause.ANCESTOR_FAILED, now)
                futile += 1 + self._mark_futile(self.dag.successors(node), now)
        return futile

    def _mark_futile(self, first: Sequence[int], now: float) -> int:
        gated = self.gated.parents
        futile = 0
        todo = [first]
        while todo:
            for vertex in todo.pop():
                if vertex < 0:
                    if vertex in self._futile_junctions:
                        continue
                    self._futile_junctions.add(vertex)
                elif vertex in gated or self.states[vertex] != State.WAITING:
                    continue
                else:
                    self.move(vertex, Cause.ANCESTOR_FAILED, now)
                    futile += 1
                todo.append(self.dag.successors(vertex))
        return futile

    def mark_futile_from(self, vertices: Sequence[int], now: float) -> None:
        """Mark new vertices, of which a parent can't run, and everything below them."""
        self._mark_futile(vertices, now)
        self.mark_unreachable(now)

    def count_all(self, state: State) -> int:
        """How many nodes are in a state, services included."""
        return self.counts[state] + self.service_counts[state]

    def in_state(self, *states: State) -> Iterator[int]:
        """All nodes in one of these states, in DAG order."""
        wanted = frozenset(states)
        return (node for node, state in enumerate(self.states) if state in wanted)
