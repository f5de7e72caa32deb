"""A run of a node failed: whether it runs once more, and when.

Rules: manual, "Retrying failed nodes", and our own DELAY, BACKOFF, MAX-DELAY and ONLY-IF
(man page dagman-language).  The delay counts from the event that ended the run, so a restart in
between changes nothing about when the next run starts.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from condor_pydagman.engine import final_node, outcome
from condor_pydagman.engine.node_states import Cause, State
from condor_pydagman.graph.model import Retry
from condor_pydagman.vocabulary import ScriptKind

if TYPE_CHECKING:
    from condor_pydagman.engine.engine import Engine


class RetryQueue:
    """Nodes that wait for their next run; when each is due, in seconds since the epoch."""

    def __init__(self) -> None:
        self._due: dict[int, float] = {}
        self._heap: list[tuple[float, int]] = []

    def __bool__(self) -> bool:
        """Whether any node waits."""
        return bool(self._due)

    def add(self, node: int, due: float) -> None:
        """The node's next run is to start at `due`."""
        self._due[node] = due
        heapq.heappush(self._heap, (due, node))

    def discard(self, node: int) -> None:
        """The node waits no longer."""
        self._due.pop(node, None)

    def due(self, node: int) -> float | None:
        """When the node's next run starts; None if it does not wait."""
        return self._due.get(node)

    def next_time(self) -> float | None:
        """When the first of them is due."""
        while self._heap and self._due.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def pop(self, now: float) -> int | None:
        """The first node whose time has come, or None."""
        when = self.next_time()
        if when is None or when > now:
            return None
        node = heapq.heappop(self._heap)[1]
        del self._due[node]
        return node


def fail_run(engine: Engine, node: int, value: int, error: str) -> None:
    """This run of the node failed with that return value: retry it, or let it fail."""
    engine.nodes.returned(node, value)
    taken = engine.nodes.retries.get(node, 0)
    retry = engine.dag.retries.get(node)
    verdict = _verdict(engine, node, retry, taken, value)
    if verdict is outcome.Again.ON_HOLD:
        engine.granted[node] = engine.granted.get(node, 0) + 1
        engine.on_hold.add(node)
    if verdict in (outcome.Again.RETRY, outcome.Again.ON_HOLD):
        engine.nodes.retries[node] = taken + 1
        _retry(engine, node, retry or Retry(0))
        return
    _say_no_more(engine, node, verdict, value)
    if retry is not None and verdict is not outcome.Again.UNLESS_EXIT:
        error += f" (after {taken} node retries)"
    engine.fail(node, error, doom=verdict is not outcome.Again.UNLESS_EXIT)


def _verdict(
    engine: Engine, node: int, retry: Retry | None, taken: int, value: int
) -> outcome.Again:
    if engine.ending is not None:
        return outcome.Again.NO_RETRIES_LEFT  # ABORT-DAG-ON beats retries
    granted = engine.granted.get(node, 0)
    verdict = outcome.again(retry, taken, value, granted)
    closed = final_node.closes_to(engine, node)
    if verdict is outcome.Again.RETRY and closed:
        return outcome.Again.FINAL_RUNS
    if verdict is outcome.Again.NO_RETRIES_LEFT and not closed and _goes_on_hold(engine, node):
        return outcome.Again.ON_HOLD
    return verdict


def _goes_on_hold(engine: Engine, node: int) -> bool:
    """DAGMAN_PUT_FAILED_JOBS_ON_HOLD: a person looks at it, instead of a POST script."""
    jobs = engine.book.by_node.get(node)
    if not engine.config.put_failed_jobs_on_hold or jobs is None or jobs.cluster <= 0:
        return False
    return engine.dag.script(node, ScriptKind.POST) is None


def _say_no_more(engine: Engine, node: int, verdict: outcome.Again, value: int) -> None:
    name = engine.dag.names[node]
    if verdict is outcome.Again.FINAL_RUNS:
        engine.say(
            f"Aborting further retries of node {name} because final node is running"
            f" (last attempt returned {value})"
        )
    elif verdict in (outcome.Again.UNLESS_EXIT, outcome.Again.NOT_THIS_VALUE):
        engine.say(f"Aborting further retries of node {name} (last attempt returned {value})")


def _retry(engine: Engine, node: int, retry: Retry) -> None:
    number, name = engine.nodes.retries[node], engine.dag.names[node]
    limit = retry.limit + engine.granted.get(node, 0)
    engine.say(f"Retrying node {name} (retry #{number} of {limit})...")
    by_hand = node in engine.on_hold  # a person decides when it runs
    _next_run(engine, node, 0.0 if by_hand else outcome.retry_delay(retry, number, name))


def _next_run(engine: Engine, node: int, delay: float) -> None:
    """Forget the run that failed; start the next one, or wait for it."""
    engine.former.setdefault(node, set()).add(_run_key(engine, node))
    ended = engine.happened(engine.event_times.get(node, engine.now))
    engine.forget_run(node)
    if delay > 0:
        engine.nodes.move(node, Cause.RETRY_LATER, engine.now)
        engine.retry_queue.add(node, ended + delay)
        engine.say(f"Node {engine.dag.names[node]} waits {delay:.0f} s before its next run")
    else:
        engine.start(node, first=engine.config.retry_node_first)


def _run_key(engine: Engine, node: int) -> int:
    """What tells the events of this run of a node from those of its others."""
    jobs = engine.book.by_node.get(node)
    return engine.nodes.clusters[node] if jobs is None else jobs.key


def start_due(engine: Engine) -> None:
    """Start the runs whose delay has passed."""
    while True:
        node = engine.retry_queue.pop(engine.now)
        if node is None:
            return
        engine.start(node, first=engine.config.retry_node_first)


def use_up(engine: Engine, node: int) -> None:
    """A failed submission leaves the node no retries (stock rule)."""
    retry = engine.dag.retries.get(node)
    limit = engine.granted.get(node, 0) + (retry.limit if retry is not None else 0)
    if limit:
        engine.nodes.retries[node] = limit


def start_now(engine: Engine, node: int) -> None:
    """Somebody (an old log, the schedd's queue) shows that the node's next run has begun."""
    if engine.nodes.states[node] == State.RETRY_WAIT:
        engine.retry_queue.discard(node)
        engine.start(node)
