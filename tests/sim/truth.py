"""The true state of all jobs, kept independently of the engine, and what one DAGMan has read.

Oracles compare the engine with these, so nothing here looks into the engine.

Features meet here, as they do in the engine, by what becomes of nodes: a part (`parts.Part`) says
what its journal records mean in words that hold for any (a node is done, it runs anew, who asked
for it may have come too late), and all parts are asked before a node counts as done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.queues import Target
from condor_pydagman.graph.model import Dag
from condor_pydagman.vocabulary import (
    HELPER_PROC,
    NOOP_CLUSTER,
    EventKind,
    JournalRecord,
    ScriptKind,
)
from tests.oracles import Record
from tests.sim.fake_jobs import Cluster
from tests.sim.parts import Having

NO_LIMIT = 10**6  # retries of a node that runs anew with an ancestor, or with others
_ENDS = (EventKind.JOB_TERMINATED, EventKind.JOB_ABORTED)
_WAITS_AGAIN = (
    EventKind.JOB_EVICTED,
    EventKind.JOB_HELD,
    EventKind.JOB_SUSPENDED,
    EventKind.JOB_RECONNECT_FAILED,
    EventKind.SHADOW_EXCEPTION,
)


class Truth(Record):
    """Which nodes are done in this era, by what can be read in the nodes log, now or soon.

    Attributes:
        given_up: clusters that have failed, however their jobs end.
        extra: retries that nodes were given beyond their RETRY command.
        skipped: nodes that are done since they were skipped.
        cancelled: nodes that fail if any of their jobs does.
        begin_anew: nodes that have got a parent, which may have begun to start.
        final_begun, provisioned: whether the log says so.
    """

    def __init__(self, dag: Dag, done: set[str], tolerance: int, having: Having) -> None:
        """`tolerance` is that of nodes without a TOLERANCE command, `having` is the world's."""
        super().__init__(done)
        self.dag = dag
        self._having = having
        self.begin_anew: set[str] = set()
        self._tolerance = tolerance
        self._ends: dict[Target, dict[int, bool]] = {}  # whether each ended proc failed
        self._over: set[Target] = set()  # clusters with late materialization that are over
        self._seen: dict[Target, set[int]] = {}  # procs whose submission the log shows
        self._failed: set[Target] = set()  # clusters that ended before all procs were made
        self._surplus: set[Target] = set()
        self.skipped: set[str] = set()
        self.cancelled: set[str] = set()
        self._clusters: dict[str, set[Target]] = {}
        self._old: set[Target] = set()  # of nodes that have run anew since
        self._any_failed: set[str] = set()  # nodes of whose last jobs one has
        self._have_run: set[str] = set()
        self.given_up: set[Target] = set()
        self.extra: Counter[str] = Counter()
        self.final_begun = self.provisioned = False

    def done_if_complete(self, name: str, *, ran: bool) -> None:
        """A node has ended well: it is done, unless something of it is still to be read; `ran`: by
        its jobs and scripts."""
        if not any(one.is_incomplete(self, name, ran=ran) for one in self._having["is_incomplete"]):
            self.done.add(name)

    def has_run(self, name: str) -> bool:
        """Whether the log shows a job of the node's last run, or a script with which that may have
        ended; after a PRE script that went well it has yet to begin."""
        return name in self._have_run

    def skip(self, name: str) -> None:
        """A node is skipped, unless it is done."""
        if name not in self.done:
            self.skipped.add(name)
            self.done.add(name)

    @property
    def names(self) -> Collection[str]:
        """All nodes that there are, or were."""
        return self.dag.ids.keys()

    def event(self, event: LogEvent, cluster: Cluster | None) -> None:
        """An event is in the log; `cluster` is the one of this era that it is of, if any."""
        if event.proc > HELPER_PROC:
            if cluster is not None and cluster.asker:
                self._note_end(event, cluster)
            elif cluster is not None:
                self.of_jobs(event, cluster)
            self._of_node(event)
        for part in self._having["learn"]:
            part.learn(self, event, cluster)
        for part in self._having["conclude"]:
            part.conclude(self, event)

    def _of_node(self, event: LogEvent) -> None:
        posted = event.kind == EventKind.POST_SCRIPT_TERMINATED and event.value == 0
        spoiled = event.node in self.cancelled & self._any_failed
        if event.kind == EventKind.PRESKIP:
            self.done_if_complete(event.node, ran=False)
        elif posted and not spoiled:
            self.done_if_complete(event.node, ran=True)
        noop = event.kind == EventKind.SUBMIT and event.cluster == NOOP_CLUSTER
        if noop and not self._has_post(event.node):
            self.done_if_complete(event.node, ran=True)  # its end is written in the same breath
        pre_ended = event.record == JournalRecord.PRE_ENDED
        if pre_ended and event.value == 0:
            self._have_run.discard(event.node)
        elif pre_ended or event.kind == EventKind.POST_SCRIPT_TERMINATED:
            self._have_run.add(event.node)
        self.final_begun |= event.record == JournalRecord.FINAL_STARTED
        self.provisioned |= event.record == JournalRecord.PROVISIONED

    def run_anew(self, name: str, retry: int) -> None:
        """What a node has done counts no more; it has this number of retries from the start."""
        self.done.discard(name)
        self.skipped.discard(name)
        for part in self._having["runs_anew"]:
            part.runs_anew(name)
        self.cancelled.discard(name)
        self._old |= self._clusters.pop(name, set())
        self._have_run.discard(name)
        self.extra[name] = max(self.extra[name], retry + 1)

    def descendants(self, name: str) -> list[str]:
        """The node's children, and theirs."""
        found, todo = {}, [self.dag.ids[name]]
        while todo:
            for child in self.dag.children(todo.pop()):
                if child not in found:
                    found[child] = self.dag.names[child]
                    todo.append(child)
        return list(found.values())

    def _note_end(self, event: LogEvent, cluster: Cluster) -> None:
        """Of a job that is no node's."""
        if event.kind in _ENDS and not event.subproc:
            self._ends.setdefault(cluster.target, {})[event.proc] = False

    def of_jobs(self, event: LogEvent, cluster: Cluster) -> None:
        """An event of a node's jobs."""
        number = cluster.target
        self._clusters.setdefault(cluster.node, set()).add(number)
        self._have_run.add(cluster.node)
        ends = self._ends.setdefault(number, {})
        if event.kind in (EventKind.JOB_TERMINATED, EventKind.JOB_ABORTED):
            ends.setdefault(event.proc, event.kind == EventKind.JOB_ABORTED or event.value != 0)
        elif event.kind == EventKind.SUBMIT:
            self._seen.setdefault(number, set()).add(event.proc)
        elif event.kind == EventKind.CLUSTER_REMOVE:
            self._end_factory(number, failed=event.value != 0)
        elif event.record == JournalRecord.JOB_LOST and event.proc == -1:
            self._end_factory(number, failed=True)
        elif event.record == JournalRecord.JOB_ENDED and event.proc == -1:
            self._end_factory(number, failed=event.value != 0)
        elif event.record == JournalRecord.JOB_LOST:
            ends.setdefault(event.proc, True)
        elif event.record == JournalRecord.JOB_ENDED:
            ends.setdefault(event.proc, event.value != 0)
        elif event.record == JournalRecord.SURPLUS and number not in self._surplus:
            self._surplus.add(number)
            self.extra[cluster.node] += 1
        if not self.all_ended(cluster) or number in self._old:
            return
        given_up = number in self.given_up or number in self._failed
        spoiled = cluster.node in self.cancelled and any(ends.values())
        failed = given_up or spoiled or sum(ends.values()) > self._allowed(cluster)
        bad = any(ends.values())
        (self._any_failed.add if bad else self._any_failed.discard)(cluster.node)
        if not failed and not self._has_post(cluster.node):
            self.done_if_complete(cluster.node, ran=True)

    def _end_factory(self, number: Target, *, failed: bool) -> None:
        if number in self._over:
            return
        self._over.add(number)
        for proc in self._seen.get(number, ()):
            self._ends[number].setdefault(proc, True)  # whose end the log does not show
        if failed:
            self._failed.add(number)

    def all_ended(self, cluster: Cluster) -> bool:
        """Whether the log shows that nothing of a cluster is left."""
        if cluster.factory:
            return cluster.target in self._over
        return len(self._ends.get(cluster.target, ())) == cluster.procs

    def _allowed(self, cluster: Cluster) -> float:
        tolerance = self.dag.tolerances.get(self.dag.ids[cluster.node])
        if tolerance is None:
            return self._tolerance
        return tolerance.limit / 100 * cluster.procs if tolerance.percent else tolerance.limit

    def _has_post(self, name: str) -> bool:
        return self.dag.script(self.dag.ids[name], ScriptKind.POST) is not None


class SeenInputs:
    """What one process has been told about procs.

    Attributes:
        idle: procs that wait in the queue.
        ended: procs that have ended.
    """

    def __init__(self) -> None:
        self.idle: set[tuple[int, int]] = set()
        self._known: set[tuple[int, int]] = set()
        self.ended: set[tuple[int, int]] = set()

    def add(self, an_input: inputs.Input) -> None:
        """An input was given to the engine."""
        if isinstance(an_input, inputs.Submitted):
            procs = range(an_input.procs) if an_input.proc is None else (an_input.proc,)
            for proc in procs:
                self._new((an_input.cluster, proc))
        elif isinstance(an_input, LogEvent) and an_input.proc <= HELPER_PROC:
            return
        elif isinstance(an_input, LogEvent) and an_input.cluster > 0:
            self._event(an_input, (an_input.cluster, an_input.proc))

    def _event(self, event: LogEvent, job: tuple[int, int]) -> None:
        kind = event.kind
        if kind == EventKind.SUBMIT:
            self._new(job)
        elif kind in (EventKind.EXECUTE, EventKind.JOB_UNSUSPENDED):
            self.idle.discard(job)
        elif kind in _WAITS_AGAIN:
            if job in self._known and job not in self.ended:
                self.idle.add(job)
        elif kind == EventKind.CLUSTER_REMOVE or (
            event.record == JournalRecord.JOB_LOST and event.proc == -1
        ):
            for other in [other for other in self._known if other[0] == event.cluster]:
                self._end(other)
        elif kind in _ENDS or event.record in (JournalRecord.JOB_LOST, JournalRecord.JOB_ENDED):
            self._end(job)

    def _end(self, job: tuple[int, int]) -> None:
        self.ended.add(job)
        self.idle.discard(job)

    def _new(self, job: tuple[int, int]) -> None:
        if job not in self._known:
            self._known.add(job)
            self.idle.add(job)
