"""What really happened, kept by simple means of its own, and what one DAGMan has heard of it.

Oracles compare the engine with these, so nothing here looks into the engine.
"""

from __future__ import annotations

from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.graph.model import Dag
from condor_pydagman.vocabulary import EventKind, ScriptKind
from tests.sim.fake_schedd import Cluster


class Truth:
    """Which nodes are done in this era, by what was durably written.

    Attributes:
        done: names of nodes.
        noted: (node, retry, kind) of scripts whose end is in the log.
    """

    def __init__(self, dag: Dag, done: set[str], tolerance: int) -> None:
        """`tolerance` is that of nodes without a TOLERANCE command."""
        self._dag = dag
        self._tolerance = tolerance
        self._lost: set[tuple[int, int]] = set()  # procs of which DAGMan noted that they are
        self.done = done
        self.noted: set[tuple[str, int, ScriptKind]] = set()

    def cluster_ended(self, cluster: Cluster) -> None:
        """Some proc of a cluster of this era ended."""
        lost = {proc for number, proc in self._lost if number == cluster.number}
        lost -= cluster.ends.keys()
        failed = len(lost) + sum(code != 0 for code in cluster.ends.values())
        all_ended = len(lost) + len(cluster.ends) == cluster.procs
        if all_ended and failed <= self._allowed(cluster) and not self._has_post(cluster.node):
            self.done.add(cluster.node)

    def lost(self, cluster: Cluster, proc: int) -> None:
        """DAGMan noted that a proc is lost."""
        self._lost.add((cluster.number, proc))
        self.cluster_ended(cluster)

    def own_event(self, event: LogEvent) -> None:
        """DAGMan wrote an event."""
        posted = event.kind == EventKind.POST_SCRIPT_TERMINATED and event.value == 0
        if posted or event.kind == EventKind.PRESKIP:
            self.done.add(event.node)
        if event.kind == EventKind.SUBMIT and not self._has_post(event.node):
            self.done.add(event.node)  # a NOOP node; its end is written in the same breath

    def _allowed(self, cluster: Cluster) -> float:
        tolerance = self._dag.tolerances.get(self._dag.ids[cluster.node])
        if tolerance is None:
            return self._tolerance
        return tolerance.limit / 100 * cluster.procs if tolerance.percent else tolerance.limit

    def _has_post(self, name: str) -> bool:
        return self._dag.script(self._dag.ids[name], ScriptKind.POST) is not None


class Heard:
    """What one process has been told about procs.

    Attributes:
        idle: procs that wait in the queue.
    """

    def __init__(self) -> None:
        self.idle: set[tuple[int, int]] = set()
        self._known: set[tuple[int, int]] = set()
        self._ended: set[tuple[int, int]] = set()

    def take(self, an_input: inputs.Input) -> None:
        """An input was given to the engine."""
        if isinstance(an_input, inputs.Submitted):
            for proc in range(an_input.procs):
                self._new((an_input.cluster, proc))
        elif isinstance(an_input, LogEvent) and an_input.cluster > 0:
            self._event(an_input.kind, (an_input.cluster, an_input.proc))

    def _event(self, kind: int, job: tuple[int, int]) -> None:
        if kind == EventKind.SUBMIT:
            self._new(job)
        elif kind == EventKind.EXECUTE:
            self.idle.discard(job)
        elif kind in (EventKind.JOB_EVICTED, EventKind.JOB_HELD):
            if job in self._known and job not in self._ended:
                self.idle.add(job)
        elif kind in (EventKind.JOB_TERMINATED, EventKind.JOB_ABORTED, EventKind.GENERIC):
            self._ended.add(job)
            self.idle.discard(job)

    def _new(self, job: tuple[int, int]) -> None:
        if job not in self._known:
            self._known.add(job)
            self.idle.add(job)
