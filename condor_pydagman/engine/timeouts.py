"""TIMEOUT: jobs that wait, run or live longer than their node allows (man page dagman-language).

The clocks are those of the events in the nodes log, so a restart does not set them back.  What was
too much is noted in the log; when the note is read the node has failed and its jobs are removed.
A clock that fires for jobs that have ended, or that run again, is ignored.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import removals
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.jobs import ENDED, Jobs
from condor_pydagman.engine.node_states import State
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, Note

if TYPE_CHECKING:
    from condor_pydagman.engine.engine import Engine
    from condor_pydagman.graph.model import Timeout

QUEUED, RUNNING, TOTAL = "QUEUED", "RUNNING", "TOTAL"
_WORDS = {QUEUED: "waited", RUNNING: "ran", TOTAL: "has been in the queue"}


class _Clock(NamedTuple):
    when: float
    node: int
    cluster: int
    proc: int
    kind: str
    since: float


class Timeouts:
    """Clocks of procs whose node has a TIMEOUT."""

    FEW = 1000  # clocks that are not worth looking through

    def __init__(self) -> None:
        self._heap: list[_Clock] = []
        self._since: dict[tuple[int, int], tuple[str, float]] = {}  # what a proc does, since when
        self._begun: set[tuple[int, int]] = set()  # procs whose life in the queue is being timed

    def __bool__(self) -> bool:
        """Whether any clock runs."""
        return bool(self._heap)

    def next_time(self) -> float | None:
        """When the next clock strikes."""
        while self._heap and not self._runs(self._heap[0]):
            heapq.heappop(self._heap)
        return self._heap[0].when if self._heap else None

    def set(self, clock: _Clock) -> None:
        """Start a clock."""
        heapq.heappush(self._heap, clock)
        if len(self._heap) > self.FEW and len(self._heap) > 4 * len(self._since):
            self._heap = [clock for clock in self._heap if self._runs(clock)]
            heapq.heapify(self._heap)

    def pop(self, now: float) -> _Clock | None:
        """The next clock that strikes."""
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

    def _runs(self, clock: _Clock) -> bool:
        """Whether the proc still does what the clock is for."""
        known = self._since.get((clock.cluster, clock.proc))
        return known is not None and (clock.kind == TOTAL or known == (clock.kind, clock.since))


def on_submitted(engine: Engine, node: int, event: LogEvent) -> None:
    """A proc is in the queue.  One that was submitted on hold waits for a person, who may take any
    time."""
    limits = engine.dag.timeouts.get(node) if node not in engine.on_hold else None
    if limits is None or event.cluster <= 0:
        return
    if engine.book.by_node[node].procs.get(event.proc, 0) & ENDED:
        return  # its submit event, or our note of it, comes late
    if engine.timeouts.begin(event.cluster, event.proc) and limits.total:
        _set(engine, node, event, TOTAL, limits.total)
    if not engine.timeouts.knows(event.cluster, event.proc):  # else it runs already
        _enter(engine, node, event, QUEUED, limits)


def on_idle(engine: Engine, node: int, event: LogEvent, idle: bool) -> None:
    """A proc has begun to wait, or to run."""
    limits = engine.dag.timeouts.get(node)
    if limits is not None and event.cluster > 0:
        _enter(engine, node, event, QUEUED if idle else RUNNING, limits)


def on_ended(engine: Engine, event: LogEvent) -> None:
    """A proc has ended."""
    engine.timeouts.forget(event.cluster, event.proc)


def _enter(engine: Engine, node: int, event: LogEvent, kind: str, limits: Timeout) -> None:
    seconds = limits.queued if kind == QUEUED else limits.running
    since = engine.happened(event.time)
    if engine.timeouts.enter(event.cluster, event.proc, kind, since) and seconds:
        _set(engine, node, event, kind, seconds)


def _set(engine: Engine, node: int, event: LogEvent, kind: str, seconds: int) -> None:
    since = engine.happened(event.time)
    engine.timeouts.set(_Clock(since + seconds, node, event.cluster, event.proc, kind, since))


def work_off(engine: Engine) -> None:
    """Note what has become too much."""
    while True:
        clock = engine.timeouts.pop(engine.now)
        if clock is None:
            return
        jobs = engine.book.by_node.get(clock.node)
        if jobs is not None and _counts(engine, jobs, clock):
            _note(engine, jobs, clock)


def _counts(engine: Engine, jobs: Jobs, clock: _Clock) -> bool:
    if engine.nodes.states[clock.node] != State.SUBMITTED or jobs.cluster != clock.cluster:
        return False
    return not (jobs.removing or _is_noted(engine, clock.node))


def _is_noted(engine: Engine, node: int) -> bool:
    """Whether a note of this kind is on its way to the log and back."""
    _, action = engine.noted.get(node, (0.0, None))
    return isinstance(action, do.AppendNote) and action.note is Note.TIMED_OUT


def _note(engine: Engine, jobs: Jobs, clock: _Clock) -> None:
    limits = engine.dag.timeouts[clock.node]
    limit = {QUEUED: limits.queued, RUNNING: limits.running, TOTAL: limits.total}[clock.kind]
    text = f"{_WORDS[clock.kind]} for {limit} s (TIMEOUT {clock.kind} {limit})"
    retry = engine.nodes.retries.get(clock.node, 0)
    engine.note(
        clock.node,
        do.AppendNote(
            Note.TIMED_OUT, clock.node, retry, RETURN_JOB_ABORTED, jobs.cluster, clock.proc, text
        ),
    )


def on_timed_out(engine: Engine, node: int, event: LogEvent) -> None:
    """The note has been read: the node has failed, its jobs are removed."""
    jobs = engine.book.by_node.get(node)
    if engine.nodes.states[node] != State.SUBMITTED or jobs is None:
        return
    if jobs.cluster != event.cluster:
        return
    job = f"{event.cluster}.{event.proc}.0"
    engine.say(f"Node {engine.dag.names[node]} job proc ({job}) {event.text}: removing its jobs")
    if not jobs.beyond:
        engine.book.give_up(jobs, event.proc, RETURN_JOB_ABORTED)
        jobs.error = f"Job proc ({job}) {event.text}"
    reason = f"Node Timeout: DAG node {engine.dag.names[node]} ({job}) {event.text}"
    removals.remove_rest(engine, jobs, reason)
