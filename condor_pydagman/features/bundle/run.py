"""Nodes that run many to a job: `Bundles`.

A node whose turn to be submitted has come waits here until it is known which others it can go
together with (`tasks`), and how many are best (`plan`).  Then a record says who is in the bundle;
when it has been read back the bundle's job is submitted.  When that job has left the queue, what
its nodes have come to is brought home, and written into the nodes log as the events of jobs of
their own, with the bundle's cluster and a third number for each node; the record behind these says
that the bundle has ended.  Nodes without a result are ready again: that is no failure of theirs.

So a node in a bundle that is queued or runs is SUBMITTED without jobs of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import lifecycle, submission
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.feature import Feature
from condor_pydagman.engine.inputs import (
    EndedJob,
    JobSubmitted,
    LogEvent,
    QueuedJob,
    QueueListed,
)
from condor_pydagman.engine.jobs import Change, Jobs
from condor_pydagman.engine.node_states import Cause, State
from condor_pydagman.engine.run_records import Kind
from condor_pydagman.engine.state import Mode, RunState
from condor_pydagman.features.bundle.commands import (
    BundleLine,
    bundle_lines_of,
    line_of_nodes,
)
from condor_pydagman.features.bundle.learned import Learned, Running
from condor_pydagman.features.bundle.messages import (
    HELPER,
    Collect,
    Collected,
    Forget,
    Forgotten,
    LookAt,
    LookedAt,
    Prepare,
    Prepared,
    SlotsSeen,
    SlotsWanted,
)
from condor_pydagman.features.bundle.plan import Limits
from condor_pydagman.graph.grow import Growth
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.node_sets import NodeSet
from condor_pydagman.names import logged_name
from condor_pydagman.timers import CONFIRM_LOST_S
from condor_pydagman.vocabulary import (
    JOB_ENDS,
    NO_NODE,
    RETURN_JOB_ABORTED,
    EventKind,
    JournalRecord,
)

BUNDLE = Kind("who is in a bundle")  # by its number
RESULTS = Kind("what the nodes of a bundle have come to")  # by its number
NAME = "bundle "  # before the number, where HTCondor has the name of a node
MAX_LOOKED_AT = 500  # nodes that one request has
MAX_NAMES = 700  # bytes of names that one record has; more would be cut
MIN_SIZE = 2  # nodes of a bundle
MAX_RETURNS = 2  # times that a node comes back without a result, before it runs alone
MAX_REFUSALS = 3  # bundles of a kind that the schedd refuses, before its nodes run alone
AGAIN_S = 10.0  # seconds before what could not be done is tried again
Key = tuple[BundleLine, str, str]

_INSIDE = (State.SUBMITTING, State.SUBMITTED)  # states of nodes in bundles
_BY_USER = 1  # HoldReasonCode of a job that a person has put on hold
_WAITS = (
    EventKind.JOB_EVICTED,
    EventKind.SHADOW_EXCEPTION,
    EventKind.JOB_RECONNECT_FAILED,
    EventKind.JOB_SUSPENDED,
)
_RUNS = (EventKind.EXECUTE, EventKind.JOB_UNSUSPENDED)


class Bundle:
    """One bundle.

    Attributes:
        number: of the bundle, from 1.
        kind: of its nodes; '' if it was made by an earlier DAGMan.
        members: its nodes, in order.
        inside: how many of them have not come to anything.
        parallel: how many of them run side by side, and have places in their category; if it was
            made by an earlier DAGMan, the most that may do so.
        cluster: of its job, 0 while there is none as far as is known.
        runs: whether its job runs.
        begun, ended_at: when it has begun to, and has ended, seconds since the epoch.
        asked: whether its job is being submitted, or what it has done is being brought home.
        unknown: whether the reply to its submission was lost.
        ended: how its job has left the queue, '' if it has not.
        removed: whether somebody else than DAGMan has removed its job.
        given_up: whether DAGMan has its job removed.
        missing: since when the schedd has not had its job, seconds since the epoch.
        again_at: when its results are to be brought home again, which failed.
    """

    __slots__ = (
        *("again_at", "asked", "begun", "cluster", "ended", "ended_at", "given_up", "inside"),
        *("kind", "members", "missing", "number", "parallel", "removed", "runs", "unknown"),
    )

    def __init__(self, number: int, kind: str = "") -> None:
        self.number = number
        self.kind = kind
        self.members: list[int] = []
        self.inside = 0
        self.parallel = 1
        self.cluster = 0
        self.runs = False
        self.begun = self.ended_at = 0.0
        self.asked = False
        self.unknown = False
        self.ended = ""
        self.removed = False
        self.given_up = False
        self.missing: float | None = None
        self.again_at = 0.0


class Bundles(Feature):
    """The bundles of a run, and the nodes that wait for one.

    Attributes:
        line_of: by node, the BUNDLE line that it is bundled by.
        waiting: nodes that wait for others, and since when: by which BUNDLE line they are bundled,
            their kind, and their category.
        unseen: nodes whose turn has come and of which the kind is not known.
        looked_at: nodes of which that is being found out.
        kinds: by node, its kind, as it was found last.
        alone: nodes that run alone.
        bundles: those that have not ended, by number.
        learned: how long nodes take, and how many jobs the pool can run.
    """

    name = "bundle"
    records = (
        (JournalRecord.BUNDLED, "on_bundled"),
        (JournalRecord.UNBUNDLED, "on_unbundled"),
    )
    replies = (
        (LookedAt, "on_looked_at"),
        (Prepared, "on_prepared"),
        (JobSubmitted, "on_submitted"),
        (Collected, "on_collected"),
        (Forgotten, "on_forgotten"),
        (SlotsSeen, "on_slots"),
    )

    def __init__(self, run: RunState) -> None:
        super().__init__(run)
        self.line_of = _lines(run.dag, range(len(run.dag)))
        self.waiting: dict[Key, dict[int, float]] = {}
        self._key: dict[int, Key] = {}  # of nodes that wait
        self.unseen: dict[int, None] = {}
        self.looked_at: set[int] = set()
        self.kinds: dict[int, str] = {}
        self.alone: set[int] = set()
        self.bundles: dict[int, Bundle] = {}
        self.learned = Learned()
        self._by_cluster: dict[int, Bundle] = {}
        self._bundle_of: dict[int, Bundle] = {}  # by node
        self._strays: set[int] = set()  # clusters that are to leave the queue
        self._removals: dict[int, float] = {}  # clusters, and when that is asked for again
        self._over: set[int] = set()  # clusters that have ended, and may be in the queue yet
        # Nodes of which the log has the task's begin: by cluster and third number, and back.
        self._by_task: dict[tuple[int, int], int] = {}
        self._task_of: dict[int, tuple[int, int]] = {}
        self._returns: dict[int, int] = {}
        self._refusals: dict[str, int] = {}
        self._said: set[str] = set()
        self._last = 0
        self._shared = 0  # nodes in the places of others

    # The turn of a node.

    def submits(self, node: int) -> bool:
        """It waits for others that it can go together with, unless it runs alone."""
        run = self.run
        if node not in self.line_of or node in self.alone or run.is_rehearsal:
            return False
        if run.config.max_bundle_size < MIN_SIZE:
            return False
        if not self._may_be_bundled(node):
            return False
        self.unseen[node] = None
        return True

    def _may_be_bundled(self, node: int) -> bool:
        run, limits = self.run, self.run.features.get("shared_limits")
        return (
            submission.is_plain(run, node)
            and node not in run.retrying.on_hold
            and node not in run.submission.attempts
            and run.dag.group_of(node) is None
            and _fits(run.dag.names[node])
            and not (limits is not None and limits.has_limit(node))
        )

    def _set_free(self, node: int) -> None:
        """The node, which is READY, runs alone."""
        self.alone.add(node)
        self.run.ready.add(node, self.run.priority(node), first=True)

    def node_moved(self, node: int, old: int, new: int) -> None:
        """One that waits for others may be started no more, or has been."""
        if old == State.READY and node in self.line_of:
            self._drop(node)
        if old == State.SUBMITTED != new and node in self._task_of:
            del self._by_task[self._task_of.pop(node)]
        if node in self._bundle_of and new not in _INSIDE:
            self._leave(node)

    def _drop(self, node: int) -> None:
        self.unseen.pop(node, None)
        self.looked_at.discard(node)
        if node in self._key:
            self._wait_no_more(node)

    def _wait_no_more(self, node: int) -> float:
        """Since when it has waited, seconds since the epoch."""
        key = self._key.pop(node)
        since = self.waiting[key].pop(node)
        if not self.waiting[key]:
            del self.waiting[key]
        return since

    def is_waiting(self, node: int) -> bool:
        """Whether the node waits for others."""
        return node in self._key or node in self.unseen or node in self.looked_at

    # Which go together.

    def before_starts(self) -> None:
        """Make bundles of nodes that wait; those that are to run alone are submitted next."""
        run = self.run
        if run.mode is not Mode.RUN or run.is_over or run.phase is not Phase.RUNNING:
            return
        if self.waiting and not run.starts_nothing:
            self._make_bundles()

    def after_starts(self) -> None:
        """Find out which of the nodes can go together whose turn has come: of many at a time, that
        is not while results are being read."""
        busy = self.looked_at or self.run.written.of(RESULTS)
        if self.unseen and not busy and not self.run.is_over:
            self._look()

    def _look(self) -> None:
        run, some = self.run, list(self.unseen)[:MAX_LOOKED_AT]
        for node in some:
            del self.unseen[node]
            self.looked_at.add(node)
        nodes = tuple(submission.submit_action(run, node) for node in some)
        run.emit(do.Ask(HELPER, LookAt(nodes)))

    def on_looked_at(self, answer: LookedAt) -> None:
        """It is known which nodes can go together."""
        alone: list[int] = []
        for node, kind, why in answer.found:
            if node not in self.looked_at:
                continue
            self.looked_at.discard(node)
            if why or self._refusals.get(kind, 0) >= MAX_REFUSALS:
                self._say_alone(node, why or "the schedd has refused bundles of its kind")
                alone.append(node)
                continue
            self.kinds[node] = kind
            self._wait(node, kind, self.run.now)
        for node in reversed(alone):
            self._set_free(node)

    def _wait(self, node: int, kind: str, since: float) -> None:
        key = self._key[node] = (self.line_of[node], kind, self.run.category(node))
        self.waiting.setdefault(key, {})[node] = since

    def _say_alone(self, node: int, why: str) -> None:
        """Say why a node is not bundled, once for a reason."""
        if why not in self._said and len(self._said) < MAX_LOOKED_AT:
            self._said.add(why)
            name = self.run.dag.names[node]
            self.run.say(f"Node {name} and others like it are not bundled: {why}")

    # Bundles are made.

    def _make_bundles(self) -> None:
        if self.learned.wants_slots(self.run.now):
            self.run.emit(do.Ask(HELPER, SlotsWanted()))
        if self.learned.slots is None:
            return
        if self.run.settings:
            self._sort_anew()
        for (line, kind, _), waiting in list(self.waiting.items()):
            while waiting and not self._throttled():
                number = self._size(line, kind, waiting)
                if not number:
                    break
                nodes = list(waiting)[:number]
                room = self.run.categories.free(nodes[0])
                if not room:
                    break
                self._make(line, kind, nodes, room)

    def _sort_anew(self) -> None:
        """A person may have given nodes that wait another category."""
        for node, key in list(self._key.items()):
            if self.run.category(node) != key[2]:
                self._wait(node, key[1], self._wait_no_more(node))

    def _throttled(self) -> bool:
        return bool(submission.throttled(self.run))

    def blocks_submits(self) -> str:
        """Jobs of bundles count as others do."""
        run, limits, in_flight = self.run, self.run.limits, len(self.run.submission.in_flight)
        if not self.bundles:
            return ""
        states = ((one.cluster, one.ended, one.unknown) for one in self.bundles.values())
        on_way = sum(not any(state) for state in states)
        if run.pace.blocked_until(run.now, limits, in_flight + on_way) > run.now:
            return "pace"
        if limits.idle:
            idle = sum(not (one.runs or one.ended) for one in self.bundles.values())
            if run.job_table.idle + in_flight + idle >= limits.idle:
                return "idle"
        return ""

    def _size(self, line: BundleLine, kind: str, waiting: dict[int, float]) -> int:
        """How many of those that wait make the next bundle; 0: none yet."""
        run, most = self.run, self.run.config.max_bundle_size
        size = min(line.size, most)
        if line.wait and len(waiting) < (size or most) and run.now < self._until(line, waiting):
            return 0
        limits = Limits(size, line.max_seconds, line.parallel)
        table, live = run.job_table, [one for one in self.bundles.values() if not one.ended]
        idle = sum(not one.runs for one in live)
        jobs = (
            table.submitted - table.completed - table.idle + len(live) - idle,
            table.idle + len(run.submission.in_flight) + idle,
        )
        running = (
            Running(run.now - one.begun, len(one.members), one.parallel)
            for one in live
            if one.runs and one.kind == kind
        )
        found = self.learned.size(kind, limits, len(waiting), jobs, running, run.now)
        return min(found, most)

    def _until(self, line: BundleLine, waiting: dict[int, float]) -> float:
        """Until when the first of those that wait does so, seconds since the epoch."""
        return next(iter(waiting.values())) + line.wait

    def _make(self, line: BundleLine, kind: str, nodes: Sequence[int], room: float) -> None:
        """Make a bundle; `room` is how many its category has room for."""
        if len(nodes) == 1:
            self._drop(nodes[0])
            self._set_free(nodes[0])
            return
        self._last += 1
        bundle = self.bundles[self._last] = Bundle(self._last, kind)
        bundle.parallel = int(min(line.parallel, room, len(nodes)))
        for node in nodes:
            self._put_in(bundle, node)
        names = (logged_name(self.run.dag.names[node]) for node in nodes)
        parts = list(_parts(names, MAX_NAMES))
        records = [
            do.AppendJournalRecord(
                JournalRecord.BUNDLED, NO_NODE, len(parts) - 1 - place, bundle.number, text=text
            )
            for place, text in enumerate(parts)
        ]
        self.run.write(BUNDLE, bundle.number, *records)

    def _put_in(self, bundle: Bundle, node: int) -> None:
        """The node leaves the queues, and is in the bundle."""
        run = self.run
        self._drop(node)
        run.ready.discard(node)
        run.save_points.discard(node)
        run.nodes.move(node, Cause.SUBMIT_STARTED, run.now)
        if len(bundle.members) < bundle.parallel:
            run.categories.enter(node)
        bundle.members.append(node)
        bundle.inside += 1
        self._shared += bundle.inside > 1
        self._bundle_of[node] = bundle

    def _leave(self, node: int) -> None:
        """The node is in its bundle no more."""
        bundle = self._bundle_of.pop(node)
        self._shared -= bundle.inside > 1
        bundle.inside -= 1

    def on_bundled(self, _: int, event: LogEvent) -> None:
        """Who is in a bundle, or some of them, has been read; its record says how many parts
        follow."""
        run, number = self.run, event.value
        if number <= self._last and number not in self.bundles:
            return  # it has ended: a double
        self._last = max(self._last, number)
        bundle = self.bundles.get(number)
        if bundle is None:
            bundle = self.bundles[number] = Bundle(number)
            bundle.parallel = self._most_parallel(event.text)
        for name in event.text.split(" "):
            node = run.dag.find(name)
            if node is None or node in self._bundle_of:
                continue
            lifecycle.start_retry_now(run, node)
            lifecycle.restore_dropped(run, node, Cause.NEEDS_SUBMIT)
            if run.nodes.states[node] == State.READY:
                self._put_in(bundle, node)
        if run.written.of(BUNDLE) and event.retry == 0 and run.written.drop(BUNDLE, number):
            self._prepare(bundle)

    def _most_parallel(self, names: str) -> int:
        line = self.line_of.get(self.run.dag.ids.get(names.partition(" ")[0], NO_NODE))
        return 1 if line is None else line.parallel

    def _prepare(self, bundle: Bundle) -> None:
        bundle.asked = True
        nodes = tuple(submission.submit_action(self.run, node) for node in bundle.members)
        limits = tuple(map(self._time_limit, bundle.members))
        prepare = Prepare(bundle.number, nodes, bundle.parallel, limits)
        self.run.emit(do.Ask(HELPER, prepare))

    def _time_limit(self, node: int) -> int:
        timeouts = self.run.features.get("timeout")
        limits = timeouts.of_node(node) if timeouts is not None else None
        return limits.running if limits is not None else 0

    def on_prepared(self, answer: Prepared) -> None:
        """Its job can be submitted."""
        run, bundle = self.run, self.bundles.get(answer.number)
        if bundle is None:
            return
        if answer.why:
            self._refuse(bundle, answer.why, permanent=True)
        elif run.is_over or run.starts_nothing:
            self._write_end(bundle, "nothing is to be started")
        elif any(map(run.is_closed_to, bundle.members)):
            self._write_end(bundle, "not all of its nodes are to be started")
        else:
            names, number = _named(run, bundle), len(bundle.members)
            run.say(f"Submitting bundle {bundle.number} of {number} nodes: {names}")
            run.emit(do.SubmitJob(HELPER, bundle.number, answer.text))

    def on_submitted(self, answer: JobSubmitted) -> None:
        """The schedd has its job, has not, or that is not known."""
        run, bundle = self.run, self.bundles.get(answer.number)
        if answer.cluster:
            run.pace.submitted(run.now, run.limits)
            run.say(f"\tassigned HTCondor ID ({answer.cluster}.0.0)")
        if bundle is None:
            return
        bundle.asked = False
        if answer.cluster:
            self._refusals.pop(bundle.kind, None)
        if bundle.cluster:
            return  # the log was quicker
        if answer.cluster:
            self._in_queue(bundle, answer.cluster)
        elif answer.unknown:
            bundle.unknown = True
            run.query.plan(run.now + run.pace.failed(run.now))
        else:
            run.pace.failed(run.now)
            self._refuse(bundle, answer.reason, permanent=answer.permanent)

    def _refuse(self, bundle: Bundle, why: str, *, permanent: bool) -> None:
        self.run.say(f"ERROR: bundle {bundle.number} can't be submitted: {why}")
        refusals = self._refusals.get(bundle.kind, 0) + 1
        self._refusals[bundle.kind] = MAX_REFUSALS if permanent else refusals
        self._write_end(bundle, why)

    def _write_end(self, bundle: Bundle, why: str) -> None:
        """The bundle has no results: its nodes are to be ready again."""
        record = do.AppendJournalRecord(
            JournalRecord.UNBUNDLED, NO_NODE, 0, bundle.number, text=why
        )
        bundle.asked = True
        self.run.write(RESULTS, bundle.number, record)

    # Its job.

    def _in_queue(self, bundle: Bundle, cluster: int) -> None:
        run = self.run
        if bundle.cluster == cluster:
            return
        self._by_cluster[cluster] = bundle
        bundle.cluster, bundle.unknown = cluster, False
        for node in bundle.members:
            if run.nodes.states[node] == State.SUBMITTING:
                run.nodes.move(node, Cause.JOBS_SEEN, run.now)
        if run.query.at is None and run.config.check_queue_interval > 0:
            run.query.plan(run.now + run.config.check_queue_interval)

    def takes_event(self, event: LogEvent) -> bool:
        """Whether it is of the job of a bundle; events of its nodes have a third number."""
        if event.kind in (EventKind.SUBMIT, EventKind.CLUSTER_SUBMIT):
            number = number_of(event.node)
            if number:
                self._submit_event(number, event.cluster)
            return number > 0
        if event.subproc > 0 or event.record is not None:
            return False
        bundle = self._by_cluster.get(event.cluster)
        if bundle is None:
            return False
        if event.proc == 0:  # else it is of a helper of the schedd's
            self._job_event(bundle, event)
        return True

    def _submit_event(self, number: int, cluster: int) -> None:
        run, bundle = self.run, self.bundles.get(number)
        if bundle is not None and bundle.cluster in (0, cluster):
            self._in_queue(bundle, cluster)
        elif run.mode is Mode.RUN and not run.recovering and cluster not in self._over:
            run.query.plan(run.now)  # it may be one that is not to run

    def _job_event(self, bundle: Bundle, event: LogEvent) -> None:
        kind = event.kind
        if bundle.ended:
            return
        if kind in JOB_ENDS:
            bundle.ended_at = self.run.happened(event.time)
        if kind in _RUNS:
            bundle.runs, bundle.begun = True, self.run.happened(event.time)
        elif kind in _WAITS:
            bundle.runs = False
        elif kind == EventKind.JOB_HELD:
            bundle.runs = False
            if event.value != _BY_USER:
                self._give_up(bundle, event.text)
        elif kind == EventKind.JOB_TERMINATED:
            how = "status" if event.value >= 0 else "signal"
            bundle.ended = f"its job has ended with {how} {abs(event.value)}"
        elif kind == EventKind.JOB_ABORTED:
            bundle.removed = not bundle.given_up
            bundle.ended = f"its job was removed: {event.text}"

    def _give_up(self, bundle: Bundle, why: str) -> None:
        """The job is on hold: its nodes run again, and those that may be why it is, alone."""
        run = self.run
        bundle.given_up = True
        if run.mode is Mode.RUN and not run.recovering:
            run.say(f"Bundle {bundle.number} is on hold: {why}; its nodes are taken back")
            self._remove(bundle.cluster)

    def replayed(self) -> None:
        """A bundle that is on hold is removed now, if that was not done before."""
        for bundle in self.bundles.values():
            if bundle.given_up and not bundle.ended:
                self._remove(bundle.cluster)

    def _remove(self, cluster: int) -> None:
        """Have a job removed that is not to run."""
        self._removals.pop(cluster, None)
        if self._is_unwanted(cluster):
            self.run.emit(do.RemoveJobs("DAG bundle: it is not to run", cluster))

    def remove_failed(self, cluster: int) -> None:
        """It is tried again while it makes sense."""
        if self._is_unwanted(cluster):
            self._removals[cluster] = self.run.now + AGAIN_S

    def _is_unwanted(self, cluster: int) -> bool:
        bundle = self._by_cluster.get(cluster)
        given_up = bundle is not None and bundle.given_up and not bundle.ended
        return given_up or cluster in self._strays

    def wants_history(self) -> bool:
        """The job of a bundle may have come and gone."""
        return any(one.unknown or one.missing is not None for one in self.bundles.values())

    def listed(self, answer: QueueListed) -> bool:
        """The schedd has told what it has: bundles that it has not got are over."""
        queued = {job.cluster: job for job in answer.jobs if number_of(job.node)}
        ended = {number_of(job.node): job for job in answer.ended}
        self._over.intersection_update(queued)
        self._remove_strays(queued)
        missing = False
        clusters = {number_of(job.node): cluster for cluster, job in queued.items()}
        for bundle in list(self.bundles.values()):
            if bundle.number in clusters and bundle.cluster in (0, clusters[bundle.number]):
                bundle.missing = None
                self._in_queue(bundle, clusters[bundle.number])
            elif not bundle.ended:
                missing |= self._miss(bundle, ended.get(bundle.number))
        return missing or bool(self._strays)

    def _remove_strays(self, queued: Mapping[int, QueuedJob]) -> None:
        """Remove jobs of bundles of which the log has lost all, or that have been given up; no
        bundle gets the number of one that there was."""
        self._strays.clear()
        for cluster, job in queued.items():
            number = number_of(job.node)
            self._last = max(self._last, number)
            bundle = self.bundles.get(number)
            mine = bundle is not None and bundle.cluster in (0, cluster)
            if not (mine or job.leaving or cluster in self._over):
                self.run.say(
                    f"Warning: removing bundle {number} (job {cluster}.0), which is not known"
                )
                self._strays.add(cluster)
                self._remove(cluster)

    def has_left(self, job: QueuedJob) -> bool:
        """Whether the end of a bundle's job has been read, which is in the queue yet."""
        bundle = self._by_cluster.get(job.cluster)
        return job.cluster in self._over or (bundle is not None and bool(bundle.ended))

    def _miss(self, bundle: Bundle, left: EndedJob | None) -> bool:
        """The schedd has not got its job in the queue; `left` is what the history has of it.
        Returns whether it is to be asked again soon."""
        run = self.run
        if left is not None and bundle.cluster in (0, left.cluster):
            self._in_queue(bundle, left.cluster)
            bundle.removed = left.value == RETURN_JOB_ABORTED and not bundle.given_up
            bundle.ended = "its job has left the queue, as the schedd's history says"
            return False
        if not bundle.cluster and not bundle.unknown:
            if not (bundle.asked or run.written.of(BUNDLE)):
                self._write_end(bundle, "its job is not in the queue")
            return False
        if bundle.missing is None:
            bundle.missing = run.now
        if run.now - bundle.missing < CONFIRM_LOST_S:
            return True
        if bundle.cluster:
            bundle.ended = "its job has left the queue, as the nodes log does not show"
        else:
            self._write_end(bundle, "the schedd does not have its job")
        return False

    # Its end.

    def enforce(self) -> None:
        """Bring home what bundles have come to whose job has left the queue."""
        for cluster in [one for one, at in self._removals.items() if at <= self.run.now]:
            self._remove(cluster)
        for bundle in self.bundles.values():
            if bundle.ended and not bundle.asked and bundle.again_at <= self.run.now:
                self._collect(bundle)

    def enforce_deadline(self) -> float | None:
        """When that is tried again which could not be done."""
        waiting = [one.again_at for one in self.bundles.values() if one.ended and not one.asked]
        return min((*waiting, *self._removals.values()), default=None)

    def _collect(self, bundle: Bundle) -> None:
        bundle.asked = True
        retries = tuple(self.run.nodes.retries.get(node, 0) for node in bundle.members)
        members = tuple(bundle.members), retries
        collect = Collect(bundle.number, bundle.cluster, *members, bundle.removed, bundle.ended)
        self.run.emit(do.Ask(HELPER, collect))

    def on_collected(self, answer: Collected) -> None:
        """What its nodes have come to is at home, and is written into the log."""
        run, bundle = self.run, self.bundles.get(answer.number)
        if bundle is None:
            return
        if answer.why:
            run.say(f"Bundle {bundle.number}: {answer.why}; trying again", 0)
            bundle.asked, bundle.again_at = False, run.now + AGAIN_S
            return
        run.write(RESULTS, answer.number, do.AppendEvents(answer.events))
        if bundle.begun and bundle.ended_at:
            ran = bundle.ended_at - bundle.begun
            job = Running(ran, len(bundle.members), bundle.parallel)
            self.learned.took(bundle.kind, answer.took, job)

    def node_of(self, event: LogEvent) -> int | None:
        """Whose event it is, by its third number, from the event on that has the name."""
        return self._by_task.get((event.cluster, event.subproc)) if event.subproc > 0 else None

    def jobs_seen(self, node: int, jobs: Jobs) -> None:
        """Its task has events of its own, the first of which has its name."""
        if jobs.subproc > 0 and jobs.cluster > 0:
            self._by_task[jobs.cluster, jobs.subproc] = node
            self._task_of[node] = jobs.cluster, jobs.subproc

    def on_unbundled(self, _: int, event: LogEvent) -> None:
        """The bundle has ended: its nodes without a result are ready again."""
        run, bundle = self.run, self.bundles.pop(event.value, None)
        run.written.drop(RESULTS, event.value)
        if bundle is None:
            return
        if self._by_cluster.pop(bundle.cluster, None) is not None and bundle.ended:
            self._over.add(bundle.cluster)
        why, _sep, names = event.text.partition("\n")
        suspects = set(map(run.dag.find, names.split(" ")))
        inside = [node for node in bundle.members if self._bundle_of.get(node) is bundle]
        for node in inside:
            self._leave(node)
        left = [node for node in reversed(inside) if self._is_without_result(node)]
        for node in left:
            if bundle.cluster:
                self._returns[node] = self._returns.get(node, 0) + 1
            self._take_back(node, node in suspects)
        if left:
            run.say(f"Bundle {bundle.number}: {len(left)} nodes have no result ({why})")
        if run.mode is Mode.RUN and not run.recovering:
            run.emit(do.Ask(HELPER, Forget(bundle.number)))

    def on_forgotten(self, answer: Forgotten) -> None:
        """Its files are gone."""

    def _is_without_result(self, node: int) -> bool:
        run = self.run
        state = run.nodes.states[node]
        return state == State.SUBMITTING or (
            state == State.SUBMITTED and node not in run.job_table.by_node
        )

    def _take_back(self, node: int, suspect: bool) -> None:
        run = self.run
        if suspect or self._returns.get(node, 0) > MAX_RETURNS:
            self.alone.add(node)
        lifecycle.leave_queue(run, node)
        lifecycle.make_ready(run, node, first=True)

    # How long nodes take.

    def job_event(self, node: int, event: LogEvent, change: Change) -> None:
        """Of nodes that run alone; events have whole seconds, and those of bundles tell more."""
        kind = self.kinds.get(node)
        if kind is None or node in self._bundle_of:
            return
        now = self.run.happened(event.time)
        if change is Change.RUNS:
            self.learned.began(node, kind, now)
        elif change is Change.ENDED:
            self.learned.ended(node, now)

    def on_slots(self, answer: SlotsSeen) -> None:
        """How many jobs the pool can run at once, as far as is known."""
        self.learned.saw_slots(answer.slots)

    def deadline(self) -> float | None:
        """When a node has waited long enough for others."""
        times = [
            until
            for (line, _, _), waiting in self.waiting.items()
            for until in [self._until(line, waiting)]
            if until > self.run.now
        ]
        if self.waiting:
            times.append(self.run.pace.blocked_until(self.run.now, self.run.limits))
        return min(filter(None, times), default=None)

    # What becomes of nodes.

    def places_shared(self) -> int:
        """All nodes of a bundle but one."""
        return self._shared

    def begins_anew(self, node: int) -> None:
        """It may go together with others again."""
        self.alone.discard(node)
        self._returns.pop(node, None)

    def retried(self, node: int) -> None:
        """Its next run may have another description."""
        self.kinds.pop(node, None)

    def grown(self, growth: Growth, children: Sequence[int]) -> None:
        """New nodes may be bundled."""
        self.line_of.update(_lines(self.run.dag, growth.nodes))

    def node_left(self, node: int) -> None:
        """Nothing is known of the node any more."""
        self.begins_anew(node)
        self.kinds.pop(node, None)
        self.line_of.pop(node, None)

    def obstacle_to_steer(self, node: int) -> str:
        """It can't be told apart from the others of its bundle while that is in the queue."""
        bundle = self._bundle_of.get(node)
        if bundle is None:
            return ""
        return f"it is in bundle {bundle.number} with {_others(bundle)} others: ask when that ends"

    def details(self, node: int) -> str:
        """Which bundle it is in, or that it waits for others."""
        bundle = self._bundle_of.get(node)
        if bundle is not None:
            does = "runs" if bundle.runs else "is queued"
            job = f" (job {bundle.cluster}.0)" if bundle.cluster else ""
            return f"{does} in bundle {bundle.number}{job} with {_others(bundle)} others"
        if node in self.line_of and self.is_waiting(node):
            return "waits for others to be bundled with"
        return ""

    def validate(self) -> None:
        """Nodes of bundles are in the queue; those that wait for others are ready."""
        states = self.run.nodes.states
        shared = 0
        for bundle in self.bundles.values():
            inside = sum(self._bundle_of.get(node) is bundle for node in bundle.members)
            assert inside == bundle.inside, bundle.number
            shared += max(0, inside - 1)
        assert shared == self._shared, (shared, self._shared)
        for node in self._bundle_of:
            assert states[node] in _INSIDE, node
        for waiting in self.waiting.values():
            assert waiting
            for node in waiting:
                assert states[node] == State.READY, node
        for node in self.run.nodes.in_state(State.READY):
            queued = node in self.run.ready or node in set(self.run.categories.waiting())
            assert queued != self.is_waiting(node), node


def _lines(dag: Dag, nodes: Sequence[int]) -> dict[int, BundleLine]:
    """By node, of these, the BUNDLE line that it is bundled by, without the nodes that this means:
    their numbers may change."""
    lines = [line._replace(of=NodeSet()) for line in bundle_lines_of(dag)]
    return {node: lines[number] for node, number in line_of_nodes(dag, nodes).items()}


def number_of(node: str) -> int:
    """The number of the bundle whose job has that name of a node; 0 if it is none's."""
    digits = node[len(NAME) :] if node.startswith(NAME) else ""
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else 0


def _parts(names: Iterator[str], most: int) -> Iterator[str]:
    """Names with blanks between them, in texts that have at most so many bytes in a record."""
    part, size = "", 0
    for name in names:
        more = _bytes(name) + 1
        if part and size + more > most:
            yield part
            part, size = "", 0
        part, size = f"{part} {name}" if part else name, size + more
    yield part


def _bytes(name: str) -> int:
    """How many a name, as the log has it, takes in a record, where some are escaped."""
    return len(name.encode()) + name.count('"') + name.count("\\")


def _fits(name: str) -> bool:
    """Whether records can tell that a node is in a bundle: they have blanks between names."""
    return " " not in name and _bytes(logged_name(name)) < MAX_NAMES


def _others(bundle: Bundle) -> int:
    return len(bundle.members) - 1


def _named(run: RunState, bundle: Bundle) -> str:
    names = [run.dag.names[node] for node in bundle.members[:3]]
    return ", ".join(names) + (", ..." if len(bundle.members) > len(names) else "")
