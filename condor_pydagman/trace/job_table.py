"""The jobs of a run that are in the queue: which attempt each belongs to, which run or are held."""

from __future__ import annotations

from condor_pydagman.trace.nodes_log_text import NodesLogEvent
from condor_pydagman.trace.run_history import Attempt, NodeRun
from condor_pydagman.vocabulary import NOOP_CLUSTER

_Key = tuple[int, int]


class JobTable:
    """Which node and attempt a job is of.

    A cluster is of one node, unless DAGMan submits nodes together: then its procs are looked up.
    """

    def __init__(self) -> None:
        self._clusters: dict[int, tuple[NodeRun, Attempt]] = {}
        self._procs: dict[_Key, tuple[NodeRun, Attempt]] = {}
        self._running: set[_Key] = set()
        self._held: dict[_Key, int] = {}  # index of the hold in its attempt
        self._ended: set[_Key] = set()  # procs of clusters that have others in the queue

    def add(self, event: NodesLogEvent, node: NodeRun, attempt: Attempt, *, shared: bool) -> None:
        """A submit event names the node of a job."""
        if shared or event.cluster == NOOP_CLUSTER:
            self._procs[_key(event)] = node, attempt
        else:
            self._clusters[event.cluster] = node, attempt

    def find(self, event: NodesLogEvent) -> tuple[NodeRun, Attempt] | None:
        """Whose job an event is about; None if it is of no node."""
        return self._clusters.get(event.cluster) or self._procs.get(_key(event))

    def set_running(self, event: NodesLogEvent, attempt: Attempt) -> None:
        """It runs."""
        if _key(event) not in self._running:
            self._running.add(_key(event))
            attempt.running += 1
            if attempt.stopped:
                attempt.pauses += ((attempt.stopped, event.time),)
                attempt.stopped = 0.0

    def set_idle(self, event: NodesLogEvent, attempt: Attempt) -> bool:
        """It runs no more; whether it did."""
        key = _key(event)
        if key not in self._running:
            return False
        self._running.discard(key)
        attempt.running -= 1
        if not attempt.running:
            attempt.stopped = event.time
        return True

    def set_held(self, event: NodesLogEvent, attempt: Attempt) -> None:
        """It is held; the attempt's newest hold is this."""
        self.set_idle(event, attempt)
        if _key(event) not in self._held:
            attempt.held += 1
        self._held[_key(event)] = len(attempt.holds) - 1

    def set_released(self, event: NodesLogEvent, attempt: Attempt) -> bool:
        """It is held no more; whether it was."""
        number = self._held.pop(_key(event), None)
        if number is None:
            return False
        attempt.held -= 1
        attempt.holds[number] = attempt.holds[number]._replace(released=event.time)
        return True

    def end(self, event: NodesLogEvent, attempt: Attempt) -> bool:
        """It has left the queue; False if it had before (an event may be there twice)."""
        key = _key(event)
        if key in self._ended:
            return False
        self.set_idle(event, attempt)
        self.set_released(event, attempt)
        if attempt.procs > 1 or attempt.factory:
            self._ended.add(key)
        elif attempt.ended_procs >= attempt.procs:
            return False
        return True


def _key(event: NodesLogEvent) -> _Key:
    return event.cluster, event.subproc if event.cluster == NOOP_CLUSTER else event.proc
