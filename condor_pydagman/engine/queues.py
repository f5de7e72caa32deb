"""Queues of pending work: nodes to submit or to retry, scripts, clocks, clusters to be removed.

Data structures only: each is changed by its own methods, uses no other, and emits no action.
In recovery mode pending work accumulates here; later log events cancel what has already happened.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque

from condor_pydagman.engine.inputs import HeldProc
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.timers import REMOVAL_GRACE_S, REMOVAL_RETRY_S

MAX_HOLD_SCRIPTS = 100_000  # waiting scripts; a job may go on hold and off it faster than they run

# What a proc does while a clock of TIMEOUT runs.
QUEUED, RUNNING, TOTAL = "QUEUED", "RUNNING", "TOTAL"


class ReadyQueue:
    """The ready queue: which node is submitted next.

    Order: highest effective priority first; among equals first come, first served, except that a
    *prepended* node goes before all that were appended, last come first (stock rule).  The entry of
    a node that left early stays in the heap and is skipped when its turn comes.
    """

    MIN_COMPACT_LENGTH = 1000  # entries; a shorter heap is not worth cleaning of stale ones

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, int]] = []
        # by node that is in it, its place among those of its priority
        self.tickets: dict[int, int] = {}
        self._last = 0
        self._first = 0

    def __len__(self) -> int:
        return len(self.tickets)

    def __contains__(self, node: int) -> bool:
        return node in self.tickets

    def add(self, node: int, priority: int, *, first: bool = False) -> None:
        """Queue a node that is not in the queue."""
        assert node not in self.tickets
        if first:
            self._first -= 1
            ticket = self._first
        else:
            self._last += 1
            ticket = self._last
        self.tickets[node] = ticket
        self._push((-priority, ticket, node))

    def take_over(self, other: ReadyQueue) -> None:
        """All nodes of another queue are in this one instead, in the same order."""
        self._first, self._last, self.tickets = other._first, other._last, other.tickets
        for entry in other._heap:
            if self.tickets.get(entry[2]) == entry[1]:
                self._push(entry)

    def _push(self, entry: tuple[int, int, int]) -> None:
        heapq.heappush(self._heap, entry)

    def discard(self, node: int) -> None:
        """The node needs no submission any more."""
        self.tickets.pop(node, None)
        if len(self._heap) > self.MIN_COMPACT_LENGTH and len(self._heap) > 2 * len(self.tickets):
            self._heap = [entry for entry in self._heap if self.tickets.get(entry[2]) == entry[1]]
            heapq.heapify(self._heap)

    def clear(self) -> None:
        """No node needs a submission any more."""
        self.tickets.clear()

    def first(self) -> int | None:
        """The next node; None if the queue is empty."""
        while self._heap:
            _, ticket, node = self._heap[0]
            if self.tickets.get(node) == ticket:
                return node
            heapq.heappop(self._heap)
        return None

    def pop(self) -> int | None:
        """Take the next node out; None if the queue is empty."""
        node = self.first()
        if node is not None:
            self._drop(node)
            del self.tickets[node]
        return node

    def _drop(self, node: int) -> None:
        """`node`, which is the first, leaves the heap; some queues have several."""
        heapq.heappop(self._heap)


class Deferral(NamedTuple):
    """How often a script has been put off by DEFER, and when first (seconds since the epoch)."""

    number: int
    since: float


class ScriptQueue:
    """PRE or POST scripts that are to start: first come, first served.

    A script that DEFER has put off joins the queue again when its time has come.
    """

    def __init__(self) -> None:
        self._waiting: deque[int] = deque()
        self.nodes: set[int] = set()  # whose scripts want to start, now or later
        self._put_off: dict[int, float] = {}  # until when, by node
        self._deferred: list[tuple[float, int]] = []  # the same as a heap, and some that are over
        # what DEFER with an end has done so far, as far as it can go on
        self.put_offs: dict[int, Deferral] = {}

    def __len__(self) -> int:
        """How many scripts want to start, without those put off."""
        return len(self.nodes) - len(self._put_off)

    def add(self, node: int) -> None:
        """The node's script is to be started."""
        if self.put_offs:
            self.put_offs.pop(node, None)
        self.nodes.add(node)
        self._enter(node)

    def take_over(self, other: ScriptQueue) -> None:
        """All scripts of another queue are in this one instead, in the same order."""
        self.nodes, self._put_off = other.nodes, other._put_off
        self._deferred, self.put_offs = other._deferred, other.put_offs
        for node in other._waiting:
            if node in self.nodes and node not in self._put_off:
                self._enter(node)

    def _enter(self, node: int) -> None:
        self._waiting.append(node)

    def defer(self, node: int, until: float) -> None:
        """The node's script is to be started again at `until` (seconds since the epoch)."""
        self.nodes.add(node)
        self._put_off[node] = until
        heapq.heappush(self._deferred, (until, node))

    def discard(self, node: int) -> None:
        """The node needs no script any more."""
        self.nodes.discard(node)
        self._put_off.pop(node, None)

    def clear(self) -> None:
        """Start none of them."""
        self.nodes.clear()
        self._put_off.clear()

    def pop(self, now: float) -> int | None:
        """The next node whose script may start, or None."""
        while self._deferred and self._deferred[0][0] <= now:
            until, node = heapq.heappop(self._deferred)
            if self._put_off.get(node) == until:
                del self._put_off[node]
                self._enter(node)
        first = self._take()
        if first is not None:
            self.nodes.discard(first)
        return first

    def _take(self) -> int | None:
        while self._waiting:
            node = self._waiting.popleft()  # perhaps of a time before it was discarded
            if node in self.nodes and node not in self._put_off:
                return node
        return None

    def next_time(self) -> float | None:
        """When the next deferred script is due."""
        while self._deferred and self._put_off.get(self._deferred[0][1]) != self._deferred[0][0]:
            heapq.heappop(self._deferred)
        return self._deferred[0][0] if self._deferred else None


class HoldScripts:
    """HOLD scripts that are to start, those put off by DEFER, and how many run."""

    def __init__(self) -> None:
        self.running = 0  # how many run
        # how often each proc that has not ended has gone on hold, by cluster and proc
        self.holds: dict[tuple[int, int], int] = {}
        # procs that are on hold as far as an old log has been replayed, without those whose scripts
        # have ended
        self.logged: dict[tuple[int, int], HeldProc] = {}
        # those that are to start, now or later
        self.waiting: deque[HeldProc] = deque()
        self.deferred: list[tuple[float, HeldProc]] = []
        self.put_offs: dict[HeldProc, Deferral] = {}  # as of a ScriptQueue
        self._warned = False

    def next_time(self) -> float | None:
        """When the next one that was put off is due."""
        return self.deferred[0][0] if self.deferred else None

    def count(self, node: int, cluster: int, proc: int) -> HeldProc:
        """A proc of a node that has a script goes on hold."""
        number = self.holds.get((cluster, proc), 0) + 1
        self.holds[cluster, proc] = number
        return HeldProc(node, cluster, proc, number)

    def add(self, held: HeldProc) -> str:
        """A script is to run; if too many wait, it is left out.

        Returns the warning to be logged, '' if there is none.
        """
        if len(self.waiting) < MAX_HOLD_SCRIPTS:
            self.waiting.append(held)
            return ""
        first, self._warned = not self._warned, True
        too_many = (
            f"Warning: more than {MAX_HOLD_SCRIPTS:,} HOLD scripts wait; further ones are left out"
        )
        return too_many if first else ""

    def held_in_old_log(self, held: HeldProc) -> None:
        """In recovery mode: a proc went on hold; its script runs if nothing cancels it."""
        self.logged[held.cluster, held.proc] = held

    def ended_in_old_log(self, cluster: int, proc: int, number: int) -> None:
        """In recovery mode: the script of this hold of a proc has ended."""
        held = self.logged.get((cluster, proc))
        if held is not None and held.number == number:
            del self.logged[cluster, proc]

    def released(self, cluster: int, proc: int) -> None:
        """A proc is on hold no longer: an old log asks for no script of it."""
        self.logged.pop((cluster, proc), None)

    def forget(self, cluster: int, proc: int) -> None:
        """A proc has ended."""
        self.released(cluster, proc)
        self.holds.pop((cluster, proc), None)

    def started(self) -> None:
        """A script starts."""
        self.running += 1

    def ended(self) -> None:
        """A script has ended."""
        self.running = max(0, self.running - 1)

    def defer(self, held: HeldProc, until: float) -> None:
        """A script is to run again at `until` (seconds since the epoch)."""
        heapq.heappush(self.deferred, (until, held))

    def pop(self, now: float) -> HeldProc | None:
        """The next one that may start, or None."""
        self.waiting.extend(self.logged.values())
        self.logged.clear()
        while self.deferred and self.deferred[0][0] <= now:
            self.waiting.append(heapq.heappop(self.deferred)[1])
        return self.waiting.popleft() if self.waiting else None


class RetryQueue:
    """Nodes that wait for their next run."""

    def __init__(self) -> None:
        self.nodes: dict[int, float] = {}  # when each is due, in seconds since the epoch
        self._heap: list[tuple[float, int]] = []

    def add(self, node: int, due: float) -> None:
        """The node's next run is to start at `due`."""
        self.nodes[node] = due
        heapq.heappush(self._heap, (due, node))

    def discard(self, node: int) -> None:
        """The node waits no longer."""
        self.nodes.pop(node, None)

    def due(self, node: int) -> float | None:
        """When the node's next run starts; None if it does not wait."""
        return self.nodes.get(node)

    def next_time(self) -> float | None:
        """When the first of them is due."""
        while self._heap and self.nodes.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def pop(self, now: float) -> int | None:
        """The first node whose time has come, or None."""
        when = self.next_time()
        if when is None or when > now:
            return None
        node = heapq.heappop(self._heap)[1]
        del self.nodes[node]
        return node


class Clock(NamedTuple):
    """A limit that a proc reaches at `when` unless it does something else before.

    `kind` is QUEUED, RUNNING or TOTAL; `since` is when it began to do that; `warns`: nothing
    happens to it then, it is late.  Times are seconds since the epoch.
    """

    when: float
    node: int
    cluster: int
    proc: int
    kind: str
    since: float
    warns: bool = False


class Clocks:
    """Clocks of procs, and what each of these procs does."""

    MIN_COMPACT_LENGTH = 1000  # clocks; a shorter heap is not worth cleaning of stale ones

    def __init__(self) -> None:
        self._heap: list[Clock] = []
        self._since: dict[tuple[int, int], tuple[str, float]] = {}  # what a proc does, since when
        self._begun: set[tuple[int, int]] = set()  # procs whose life in the queue is being timed

    def __bool__(self) -> bool:
        """Whether any clock runs."""
        return bool(self._heap)

    def next_time(self) -> float | None:
        """When the next clock expires."""
        while self._heap and not self._runs(self._heap[0]):
            heapq.heappop(self._heap)
        return self._heap[0].when if self._heap else None

    def set(self, clock: Clock) -> None:
        """Start a clock; of those of a proc up to four run at a time."""
        heapq.heappush(self._heap, clock)
        if len(self._heap) > max(self.MIN_COMPACT_LENGTH, 8 * len(self._since)):
            self._heap = [clock for clock in self._heap if self._runs(clock)]
            heapq.heapify(self._heap)

    def pop(self, now: float) -> Clock | None:
        """The next clock that expires."""
        when = self.next_time()
        return heapq.heappop(self._heap) if when is not None and when <= now else None

    def begin(self, cluster: int, proc: int) -> bool:
        """The proc is in the queue from now on; False if that was known before."""
        known = (cluster, proc) in self._begun
        self._begun.add((cluster, proc))
        return not known

    def knows(self, cluster: int, proc: int) -> bool:
        """Whether it is known what the proc does."""
        return (cluster, proc) in self._since

    def does(self, cluster: int, proc: int, kind: str) -> bool:
        """Whether the proc waits, runs, or is in the queue at all (TOTAL)."""
        known = self._since.get((cluster, proc))
        return known is not None and kind in (known[0], TOTAL)

    def enter(self, cluster: int, proc: int, kind: str, since: float) -> bool:
        """The proc waits (QUEUED) or runs (RUNNING) from now on; False if it did so before."""
        known = self._since.get((cluster, proc))
        if known is not None and known[0] == kind:
            return False
        self._since[cluster, proc] = (kind, since)
        return True

    def forget(self, cluster: int, proc: int) -> None:
        """The proc has ended: its clocks stop."""
        self._since.pop((cluster, proc), None)
        self._begun.discard((cluster, proc))

    def _runs(self, clock: Clock) -> bool:
        """Whether the proc still does what the clock is for."""
        proc, does = clock[2:4], clock[4:6]
        return proc in self._begun if clock.kind == TOTAL else self._since.get(proc) == does


Target = tuple[int, int]  # what is to be removed: cluster and proc, as in RemoveJobs


class Removals:
    """Clusters, or procs of them, that are to be removed, with the reason that the user is shown.

    An entry stays until the schedd has been told or the jobs have ended.
    """

    def __init__(self) -> None:
        self.due: dict[Target, str] = {}  # those of which the schedd is to be told, with the reason
        # those that are due later, the earliest first
        self.delayed: dict[Target, tuple[float, str]] = {}  # and when; the earliest first
        self.refused: dict[Target, str] = {}  # those of which the schedd could not be told
        self._asked: dict[Target, str] = {}
        self._retry_at = 0.0

    def next_time(self) -> float | None:
        """When the schedd is to be told (once more); None if it knows all."""
        times = [self._retry_at] if self.refused else []
        times += [when for when, _ in itertools.islice(self.delayed.values(), 1)]
        return min(times, default=None)

    def add(self, target: Target, reason: str) -> None:
        """Remove what is left of it."""
        self.due[target] = reason

    def add_delayed(self, target: Target, reason: str, now: float) -> None:
        """Remove what will be left of it in REMOVAL_GRACE_S seconds."""
        self.delayed[target] = (now + REMOVAL_GRACE_S, reason)

    def pop_due(self, now: float) -> dict[Target, str]:
        """Those whose removal is due, with the reason; they are pending no longer."""
        if self.refused and self._retry_at <= now:
            self.due.update(self.refused)
            self.refused.clear()
        while self.delayed:
            target, (when, reason) = next(iter(self.delayed.items()))
            if when > now:
                break
            del self.delayed[target]
            self.due.setdefault(target, reason)
        taken, self.due = self.due, {}
        return taken

    def asked(self, target: Target, reason: str) -> None:
        """The schedd is being asked to remove it."""
        self._asked[target] = reason

    def failed(self, target: Target, reason: str, now: float) -> None:
        """The schedd could not be told: once more, later.  `reason` is used if none was given."""
        if not self.refused:  # else others have waited for longer
            self._retry_at = now + REMOVAL_RETRY_S
        self.refused[target] = self._asked.get(target, reason)
