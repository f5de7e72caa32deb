"""The true state of all jobs, kept independently of the engine, and what one DAGMan has read.

Oracles compare the engine with these, so nothing here looks into the engine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping

from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.queues import Target
from condor_pydagman.features.enough.graph import enoughs_of
from condor_pydagman.features.growth.graph import add_piece, growth_of
from condor_pydagman.features.growth.piece import PieceText
from condor_pydagman.features.publish.graph import published_of
from condor_pydagman.features.run_if.graph import conditions_of
from condor_pydagman.features.steering.rules import BEGUN, DESCENDANTS, read_text
from condor_pydagman.graph.joins import joins
from condor_pydagman.graph.model import DONE, Dag
from condor_pydagman.graph.problems import DagFileErrors
from condor_pydagman.vocabulary import (
    HELPER_PROC,
    NOOP_CLUSTER,
    EventKind,
    JournalRecord,
    NodeCommand,
    ScriptKind,
)
from tests.pieces import piece_of
from tests.sim.fake_jobs import Cluster
from tests.sim.truth_conditions import Decisions

NO_LIMIT = 10**6  # retries of a node that runs anew with an ancestor
_ENDS = (EventKind.JOB_TERMINATED, EventKind.JOB_ABORTED)
_WAITS_AGAIN = (
    EventKind.JOB_EVICTED,
    EventKind.JOB_HELD,
    EventKind.JOB_SUSPENDED,
    EventKind.JOB_RECONNECT_FAILED,
    EventKind.SHADOW_EXCEPTION,
)


class Truth:
    """Which nodes are done in this era, by what can be read in the nodes log, now or soon.

    Attributes:
        done: names of nodes.
        recorded: (node, retry, kind) of scripts whose end is in the log.
        timed_out: clusters of which DAGMan recorded, in time, that a TIMEOUT passed.
        extra: retries that nodes were given beyond their RETRY command.
        steered: nodes that people's commands may have changed.
        final_begun, provisioned: whether the log says so.
    """

    def __init__(self, dag: Dag, done: set[str], tolerance: int) -> None:
        """`tolerance` is that of nodes without a TOLERANCE command."""
        self._dag = dag
        self.texts: Mapping[str, PieceText] = {}
        self.begin_anew: set[str] = (
            set()
        )  # nodes that have got a parent, which may have begun to start
        self._tolerance = tolerance
        self._ends: dict[Target, dict[int, bool]] = {}  # whether each ended proc failed
        self._over: set[Target] = set()  # clusters with late materialization that are over
        self._seen: dict[Target, set[int]] = {}  # procs whose submission the log shows
        self._failed: set[Target] = set()  # clusters that ended before all procs were made
        self._surplus: set[Target] = set()
        self.done = done
        self.decisions = Decisions(dag, done)
        self.steered: set[str] = set()
        self._anew: Counter[str] = Counter()  # number of the run that a person has asked for
        self._cancelled: set[str] = set()
        self._clusters: dict[str, set[Target]] = {}
        self._old: set[Target] = set()  # of nodes that have run anew since
        self._any_failed: set[str] = set()  # nodes of whose last jobs one has
        self.recorded: set[tuple[str, int, ScriptKind]] = set()
        self.timed_out: set[Target] = set()
        self.extra: Counter[str] = Counter()
        self.final_begun = self.provisioned = False
        self.garbled = False  # whether the log has lost anything

    def _ended_well(self, name: str) -> None:
        """A node is done, unless what it publishes, or adds to the DAG, is still to be read."""
        if name not in self.done and self.decisions.publishes(name):
            self.decisions.ended_well.add(name)
            return
        self._done_unless_it_adds(name)

    @property
    def names(self) -> Container[str]:
        """All nodes that there are, or were."""
        return self._dag.ids.keys()

    def _done_unless_it_adds(self, name: str) -> None:
        added = any(piece.node == name for piece in growth_of(self._dag).pieces)
        if self._dag.ids[name] not in growth_of(self._dag).extensions or added:
            self.done.add(name)

    def _grow(self, event: LogEvent) -> None:
        """A piece is in force."""
        digest = event.text.partition(" ")[0]
        if any(piece.digest == digest for piece in growth_of(self._dag).pieces):
            return
        try:
            piece = piece_of(self._dag, self.texts[digest], digest)
        except DagFileErrors:
            if self.garbled:  # a record of the same piece had been forgotten
                return
            raise
        children = [self._dag.names[child] for child in piece.children]
        self.extra.update(children)  # PRE runs anew
        self.begin_anew.update(children)
        for child in self._behind_joins(piece.children):
            self.decisions.decide_anew(self._dag.names[child])
        growth = add_piece(self._dag, piece, event.value)
        new = (self._dag.names[node] for node in growth.nodes if self._dag.flags[node] & DONE)
        self.done.update(new)
        if piece.node:
            self.done.add(piece.node)

    def _behind_joins(self, nodes: Iterable[int]) -> list[int]:
        """These, and children of those among them that only join PARENT lines."""
        found = list(nodes)
        for node in found:  # which grows meanwhile
            if joins(self._dag, node):
                found += self._dag.children(node)
        return found

    def event(self, event: LogEvent, cluster: Cluster | None) -> None:
        """An event is in the log; `cluster` is the one of this era that it is of, if any."""
        if event.record is JournalRecord.GROWN:
            self._grow(event)
        if event.proc <= HELPER_PROC:
            return
        if cluster is not None:
            self._of_cluster(event, cluster)
        posted = event.kind == EventKind.POST_SCRIPT_TERMINATED and event.value == 0
        spoiled = event.node in self._cancelled & self._any_failed
        if event.kind == EventKind.PRESKIP:
            self._done_unless_it_adds(event.node)
        elif posted and not spoiled:
            self._ended_well(event.node)
        if event.record is JournalRecord.CACHED and event.value == 1:
            self.done.add(event.node)
        if event.record is JournalRecord.STEERED:
            self._steer(event)
        if event.record is JournalRecord.SITE_LEFT:
            self._start_over(event.node)
        elif event.record in (JournalRecord.NO_SITE, JournalRecord.SITE_CLEANED):
            self._note_group(event.node)
        noop = event.kind == EventKind.SUBMIT and event.cluster == NOOP_CLUSTER
        if noop and not self._has_post(event.node):
            self._ended_well(event.node)  # its end is written in the same breath
        self.final_begun |= event.record is JournalRecord.FINAL_STARTED
        if conditions_of(self._dag) or published_of(self._dag):
            checked = not (self.steered or self.garbled or enoughs_of(self._dag))
            self.decisions.event(event, final_begun=self.final_begun, checked=checked)
        self.provisioned |= event.record is JournalRecord.PROVISIONED

    def _steer(self, event: LogEvent) -> None:
        """A person's command; DAGMan has checked that it fits."""
        self.steered |= {event.node, *self._descendants(event.node)}
        words = read_text(event.text)
        assert words is not None
        name = event.node
        if words.command in (NodeCommand.DONE, NodeCommand.SKIP):
            self.done.add(name)
        elif words.command is NodeCommand.CANCEL and words.options == BEGUN:
            self._cancelled.add(name)
        elif words.command is NodeCommand.RERUN and event.retry >= self._anew[name]:
            ended = self._ended_by(name)
            self._run_anew(name, event.retry)
            for other in self._descendants(name):
                if words.options == DESCENDANTS and other in ended:
                    self._run_anew(other, NO_LIMIT)
                else:  # one that was ready waits again
                    self.extra[other] += 1

    def _start_over(self, first: str) -> None:
        """Nothing of a group of nodes runs at its old site, and what they have done counts no
        more; `first` is one of them."""
        for name in self._note_group(first):
            self._run_anew(name, NO_LIMIT)

    def _note_group(self, first: str) -> list[str]:
        number = self._dag.group_of(self._dag.ids[first])
        assert number is not None, first
        group = self._dag.groups[number]
        names = [self._dag.names[node] for node in group.nodes]
        for name in names:
            self.steered |= {name, *self._descendants(name)}
        return names

    def _run_anew(self, name: str, retry: int) -> None:
        self.done.discard(name)
        self.decisions.run_anew(name)
        self._cancelled.discard(name)
        self._old |= self._clusters.pop(name, set())
        self.extra[name] = max(self.extra[name], retry + 1)
        if retry != NO_LIMIT:
            self._anew[name] = retry + 1

    def _descendants(self, name: str) -> list[str]:
        found, todo = {}, [self._dag.ids[name]]
        while todo:
            for child in self._dag.children(todo.pop()):
                if child not in found:
                    found[child] = self._dag.names[child]
                    todo.append(child)
        return list(found.values())

    def _ended_by(self, name: str) -> set[str]:
        """The node's descendants, without those that are done by a person's word alone: a parent of
        them has failed."""
        names, found, todo = self._dag.names, set(), [self._dag.ids[name]]
        while todo:
            parent = todo.pop()
            for child in self._dag.children(parent):
                if names[child] in found or self._is_done_all_the_same(parent, child):
                    continue
                found.add(names[child])
                todo.append(child)
        return found

    def _is_done_all_the_same(self, parent: int, child: int) -> bool:
        if self._dag.names[parent] in self.done or self._dag.waits_for_end_only(parent, child):
            return False
        return self._dag.names[child] in self.done

    def _of_cluster(self, event: LogEvent, cluster: Cluster) -> None:
        number = cluster.target
        self._clusters.setdefault(cluster.node, set()).add(number)
        ends = self._ends.setdefault(number, {})
        if event.kind in (EventKind.JOB_TERMINATED, EventKind.JOB_ABORTED):
            ends.setdefault(event.proc, event.kind == EventKind.JOB_ABORTED or event.value != 0)
        elif event.kind == EventKind.SUBMIT:
            self._seen.setdefault(number, set()).add(event.proc)
        elif event.kind == EventKind.CLUSTER_REMOVE:
            self._end_factory(number, failed=event.value != 0)
        elif event.record is JournalRecord.JOB_LOST and event.proc == -1:
            self._end_factory(number, failed=True)
        elif event.record is JournalRecord.JOB_ENDED and event.proc == -1:
            self._end_factory(number, failed=event.value != 0)
        elif event.record is JournalRecord.JOB_LOST:
            ends.setdefault(event.proc, True)
        elif event.record is JournalRecord.JOB_ENDED:
            ends.setdefault(event.proc, event.value != 0)
        elif event.record is JournalRecord.TIMED_OUT and not self._all_ended(cluster):
            self.timed_out.add(number)
        elif event.record is JournalRecord.SURPLUS and number not in self._surplus:
            self._surplus.add(number)
            self.extra[cluster.node] += 1
        if not self._all_ended(cluster) or number in self._old:
            return
        given_up = number in self.timed_out or number in self._failed
        spoiled = cluster.node in self._cancelled and any(ends.values())
        failed = given_up or spoiled or sum(ends.values()) > self._allowed(cluster)
        bad = any(ends.values())
        (self._any_failed.add if bad else self._any_failed.discard)(cluster.node)
        if not failed and not self._has_post(cluster.node):
            self._ended_well(cluster.node)

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
        return self._all_ended(cluster)

    def _all_ended(self, cluster: Cluster) -> bool:
        if cluster.factory:
            return cluster.target in self._over
        return len(self._ends.get(cluster.target, ())) == cluster.procs

    def _allowed(self, cluster: Cluster) -> float:
        tolerance = self._dag.tolerances.get(self._dag.ids[cluster.node])
        if tolerance is None:
            return self._tolerance
        return tolerance.limit / 100 * cluster.procs if tolerance.percent else tolerance.limit

    def _has_post(self, name: str) -> bool:
        return self._dag.script(self._dag.ids[name], ScriptKind.POST) is not None


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
            event.record is JournalRecord.JOB_LOST and event.proc == -1
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
