"""The records that make up what is known of a run: see `state.RunState`, which holds one of each.

Data and its bookkeeping, no rules.  An attribute is written only by the methods of its own class,
or, where the docstring of the class names a module, by that module alone; a test holds it.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.inputs import EndedJob, LogEvent, QueuedJob
from condor_pydagman.engine.queues import HoldScripts, RetryQueue, ScriptQueue
from condor_pydagman.engine.rules import Ending
from condor_pydagman.engine.throttles import RestartPace
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.timers import (
    CONFIRM_TIMEOUT_S,
    FIRST_QUERY_DELAY_S,
    LOG_SILENT_S,
    MAX_QUERY_DELAY_S,
)
from condor_pydagman.vocabulary import NodeKind, ScriptKind

MAX_UNMATCHED_EVENTS = 1000

Records = tuple[do.Action, ...]


class Halt:
    """What keeps the DAG halted.  `drained_at` is written by `operator` alone."""

    def __init__(self) -> None:
        self.by_file = False  # the halt file is there
        self.by_command = False  # a command said so
        self.by_rule = False  # something that the DAG itself asks for has happened
        self.paused = False  # a command said to start nothing at all
        self.on = False  # whether anything does
        # since when a halted DAG has had nothing to wait for, seconds since the epoch
        self.drained_at: float | None = None

    def set(
        self,
        *,
        by_file: bool | None = None,
        by_command: bool | None = None,
        by_rule: bool | None = None,
        paused: bool | None = None,
    ) -> None:
        """What keeps the DAG halted, or does no more; None: as before."""
        self.by_file = self.by_file if by_file is None else by_file
        self.by_command = self.by_command if by_command is None else by_command
        self.by_rule = self.by_rule if by_rule is None else by_rule
        self.paused = self.paused if paused is None else paused
        self.on = self.by_file or self.by_command or self.by_rule or self.paused


class End:
    """How the run ends before its time.  Written by `run_end` alone."""

    def __init__(self) -> None:
        self.wanted: Ending | None = None  # how the run is to end; None once that has begun
        self.begun: Ending | None = None  # how it has ended but for the FINAL node
        self.rescue_asked = False  # the rescue file is being written
        # when the FINAL node ended, seconds since the epoch
        self.final_ended_at: float | None = None


class Submission:
    """What is being submitted.  Written by `submission` alone."""

    def __init__(self, max_together: int) -> None:
        # nodes that have been handed to the schedd and have no answer yet, in order
        self.in_flight: list[int] = []
        self.together = False  # whether these nodes are procs of one cluster
        # whether nodes with a submit file (and its directory) can be submitted together, of those
        # of which that is known
        self.shareable: dict[tuple[str, str], bool] = {}
        self.most = max_together  # how many nodes may be tried together at present
        self.unlogged: set[int] = set()  # those in flight that `.dagman.out` does not show yet
        self.in_a_row = 0  # submits since the last time that nothing could be submitted
        self.blocked_by = ""  # why nothing could be submitted last time, '' if something could
        self.is_full = False  # whether the schedd's queue has no room
        self.taken = 0  # how many it took since it had none
        self.attempts: dict[int, int] = {}  # failed submits by node, never reset (stock rule)
        self.common_input = ""  # the DAG's list of common input files, see `inputs.CommonInput`


class Scripts:
    """Scripts that run, or are to run.  Written by `scripts` alone."""

    def __init__(self, restart_rate: int) -> None:
        # those that are to start
        self.pre = ScriptQueue()
        self.post = ScriptQueue()
        self.by_kind = {ScriptKind.PRE: self.pre, ScriptKind.POST: self.post}
        self.hold = HoldScripts()  # HOLD scripts
        self.restart_pace = RestartPace(restart_rate)  # how fast PRE scripts start after a recovery
        self.pre_values: dict[int, int] = {}  # exit values of PRE scripts by node, for POST scripts
        self.posts_without_job: set[int] = set()  # nodes with a POST script that ran without a job

    def use(self, pre: ScriptQueue, post: ScriptQueue) -> None:
        """Use these queues, which have all that was in those before."""
        self.pre, self.post = pre, post
        self.by_kind = {ScriptKind.PRE: pre, ScriptKind.POST: post}


class Retrying:
    """What goes beyond RETRY, and what earlier runs have left.  Written by `lifecycle` alone."""

    def __init__(self) -> None:
        self.queue = RetryQueue()  # nodes whose next run has a delay
        self.extra_retries: dict[int, int] = {}  # retries that a node got beyond its RETRY command
        # clusters of earlier runs of a retried node, as `jobs.run_key`
        self.previous_clusters: dict[int, set[int]] = {}
        self.on_hold: set[int] = set()  # nodes whose next run is submitted on hold


class JobTimes:
    """For how long jobs have waited, run and been held so far, by the log; in seconds, summed over
    procs.  Written by `job_events` alone."""

    def __init__(self) -> None:
        self.until = 0.0  # so far; seconds since the epoch
        self.idle = self.held = self.running = 0.0
        self.wasted = 0.0  # the last runs of procs that failed
        # procs that run (cluster, proc, subproc), and since when
        self.started: dict[tuple[int, int, int], float] = {}

    def pass_to(self, time: float, idle: int, held: int, running: int) -> None:
        """So many procs have waited, been held and run until then."""
        if self.until:
            passed = time - self.until
            self.idle += idle * passed
            self.held += held * passed
            self.running += running * passed
        self.until = time


class LogReading:
    """What has been read of the nodes log.  Written by `event_matching` alone."""

    def __init__(self) -> None:
        self.config = ""  # the knobs that decide states, see `Config.deciding`
        self.last_event_at = 0.0  # when an event was last read, seconds since the epoch
        self.ended = 0  # nodes that were done or had failed then
        self.last_end_at = 0.0  # when there were more of them than before, by the log
        self.job_times = JobTimes()
        self.last_report_at = 0.0  # when it was last told what the DAG waits for
        # what the log can't have of this DAG, if it is only followed: nodes that were submitted
        # though parents had not ended, and the jobs
        self.impossible: list[tuple[int, str]] = []
        # the last events of clusters that are not known (yet), oldest first
        self.unmatched_events: deque[LogEvent] = deque(maxlen=MAX_UNMATCHED_EVENTS)
        self._keys: OrderedDict[int, None] = OrderedDict()  # of the clusters of these

    def keep(self, event: LogEvent, key: int) -> None:
        """No cluster with that key (`jobs.run_key`) is known yet."""
        self.unmatched_events.append(event)
        self._keys[key] = None
        self._keys.move_to_end(key)
        if len(self._keys) > MAX_UNMATCHED_EVENTS:
            self._keys.popitem(last=False)

    def take_early(self, is_early: Callable[[LogEvent], bool], key: int) -> list[LogEvent]:
        """Those of a cluster with that key that are its: they are kept no longer."""
        if key not in self._keys:  # mostly; there may be many others
            return []
        kept = self.unmatched_events
        early = [event for event in kept if is_early(event)]
        others = [event for event in kept if not is_early(event)]
        self.unmatched_events = deque(others, maxlen=MAX_UNMATCHED_EVENTS)
        return early

    def can_not_be(self, node: int, job: str) -> None:
        """This DAG can't have that job of the node."""
        self.impossible.append((node, job))

    def configured(self, text: str) -> None:
        """From here on these knobs are in force."""
        self.config = text


class QueueQuery:
    """When the schedd is asked what it really has, and what it has said."""

    def __init__(self) -> None:
        # when it is to be asked, seconds since the epoch; None: not planned
        self.at: float | None = None
        self.by = 0.0  # the same, if the log does not fall silent before
        self.is_look = False  # whether nothing but time is the reason
        self.silent_s = LOG_SILENT_S  # for which the log must be silent to be asked sooner
        self.running = False  # whether it has been asked and has not answered
        # the nodes that were UNKNOWN when it was asked
        self.asked_about: frozenset[int] = frozenset()
        self.delay_s = FIRST_QUERY_DELAY_S  # before the next try, if it can't be asked
        # procs that were not in the queue, and since when
        self.missing: dict[tuple[int, int], float] = {}
        # jobs found in the queue for runs of nodes to come
        self.found: dict[int, list[QueuedJob]] = {}
        # what has left the queue, by the schedd's history, of nodes not done then
        self.history: dict[int, list[EndedJob]] = {}
        # jobs of nodes that the DAG has not got (yet), by name: in the queue, and ended
        self.orphans: dict[str, tuple[list[QueuedJob], list[EndedJob]]] = {}

    def plan(self, at: float) -> None:
        """Ask at that time."""
        self.at = self.by = at
        self.is_look = False

    def plan_look(self, now: float, every: int, ended: int) -> None:
        """If nothing is planned, look for lost jobs after `every` seconds, not if that is 0 or
        less; sooner, when the log has been silent for long, if so many have `ended` before."""
        if self.at is None and not self.running and every > 0:
            early = min(self.silent_s, every) if ended else every
            self.at, self.by = now + early, now + every
            self.is_look = True

    def is_due(self, now: float, last_event_at: float) -> bool:
        """Whether to ask at last, as the time has come; if the log shows that jobs end, a look is
        put off."""
        if self.at is None or self.running:
            return False
        self.at = max(self.at, min(last_event_at + self.silent_s, self.by))
        return self.at <= now

    def asked(self, unknown: Iterable[int]) -> None:
        """The question is on its way; `unknown`: nodes whose submission had no reply."""
        if self.at is not None and self.at < self.by:
            self.silent_s *= 2  # jobs of this DAG may take so long
        self.at = None
        self.running = True
        self.asked_about = frozenset(unknown)

    def failed(self, now: float) -> None:
        """The schedd could not be asked: again later, and each time after a longer delay."""
        self.running = False
        self.plan(now + self.delay_s)
        self.delay_s = min(2 * self.delay_s, MAX_QUERY_DELAY_S)

    def answered(self, history: dict[int, list[EndedJob]] | None) -> None:
        """The answer is there; `history` is None if that has nothing new."""
        self.running = False
        self.delay_s = FIRST_QUERY_DELAY_S
        self.found.clear()
        kept = {} if history is not None else self.orphans
        self.orphans = {name: ([], ended) for name, (_, ended) in kept.items() if ended}
        if history is not None:
            self.history = history

    def keep(self, node: int, jobs: list[QueuedJob]) -> None:
        """Jobs of a run of the node that is to come."""
        self.found[node] = jobs

    def note_stranger(self, job: QueuedJob | EndedJob) -> None:
        """A job of a node that the DAG has not got: the log may have lost that it has grown."""
        queued, ended = self.orphans.setdefault(job.node, ([], []))
        if isinstance(job, QueuedJob):
            queued.append(job)
        else:
            ended.append(job)

    def introduce(self, node: int, name: str) -> None:
        """The DAG has got a node of that name."""
        queued, ended = self.orphans.pop(name, ([], []))
        if queued:
            self.found[node] = queued
        if ended:
            self.history[node] = ended

    def set_missing(self, missing: dict[tuple[int, int], float]) -> None:
        """The procs that are not in the queue, and since when."""
        self.missing = missing


class Provisioner:
    """What is known of the PROVISIONER node."""

    def __init__(self, dag: Dag) -> None:
        nodes = dag.of_kind(NodeKind.PROVISIONER)
        self.node = nodes[0] if nodes else None  # the node, None if the DAG has none
        self.ready = self.node is None  # whether the other nodes may start
        # when its job is to be asked next, seconds since the epoch; None if not at all
        self.query_at: float | None = None
        self.asked = 0  # its cluster, while a query of that is not answered; else 0

    def plan(self, at: float | None) -> None:
        """When its job is to be asked next."""
        self.query_at = at

    def ask(self, cluster: int) -> None:
        """The query of its job is on its way."""
        self.asked = cluster

    def answered(self) -> int:
        """The answer is there; returns the cluster that was asked."""
        cluster, self.asked = self.asked, 0
        return cluster

    def go_ahead(self) -> None:
        """The other nodes may start."""
        self.ready = True
        self.query_at = None

    def holds_back(self, node: int) -> bool:
        """Whether `node` has to wait for the go-ahead."""
        return not self.ready and node != self.node

    def gave_up(self, node: int) -> bool:
        """Whether `node` is the PROVISIONER and gave no go-ahead."""
        return node == self.node and not self.ready


class NoopIds:
    """The third numbers in events of nodes that have no job (NOOP, or skipped by PRE_SKIP)."""

    def __init__(self) -> None:
        self.nodes: dict[int, int] = {}  # node by number
        self._last = 0

    def new(self, node: int) -> int:
        """A number that no other node has had."""
        self.seen(self._last + 1, node)
        return self._last

    def seen(self, number: int, node: int) -> None:
        """The log shows the node with that number."""
        self.nodes[number] = node
        self._last = max(self._last, number)

    def ended(self, number: int) -> None:
        """The log shows the end of what had that number."""
        self.nodes.pop(number, None)
        self._last = max(self._last, number)


class Kind(NamedTuple):
    """What records are about."""

    name: str  # of this kind only
    holds: bool = False  # whether nothing starts while one of them is awaited


class Journal:
    """Records of ours that have been written into the nodes log and not been read back from there:
    by kind and then by a key of that kind, the oldest first.

    What DAGMan decides is in force when it has been read from the log, so a replay comes to the
    same.  A record that does not come back is lost there, behind a torn event perhaps, and is
    written once more.  Of some kinds nothing new is started meanwhile, and the DAG does not end:
    what was checked before such a record was written must still hold when it is in force.
    """

    def __init__(self) -> None:
        # A plain dictionary takes the longer to find its first entry, the more it has lost there.
        # all of it; mostly nothing
        self.awaited: dict[Kind, OrderedDict[Hashable, tuple[float, Records]]] = {}
        self.holding = 0  # how many there are of kinds that hold the DAG up

    def add(self, kind: Kind, key: Hashable, records: Records, now: float) -> None:
        """Records are being written; those of the same key before count no more."""
        self.drop(kind, key)
        self.awaited.setdefault(kind, OrderedDict())[key] = now + CONFIRM_TIMEOUT_S, records
        self.holding += kind.holds

    def drop(self, kind: Kind, key: Hashable) -> bool:
        """They have been read back, or count no more; whether they were awaited."""
        awaited = self.awaited.get(kind)
        if awaited is None or awaited.pop(key, None) is None:
            return False
        self.holding -= kind.holds
        if not awaited:
            del self.awaited[kind]
        return True

    def clear(self, kind: Kind) -> None:
        """None of a kind counts any more."""
        awaited = self.awaited.pop(kind, None)
        if awaited is not None and kind.holds:
            self.holding -= len(awaited)

    def of(self, kind: Kind) -> Mapping[Any, tuple[float, Records]]:
        """What is awaited of a kind: when it is to be written once more, and the records."""
        return self.awaited.get(kind, _NONE)

    def record(self, kind: Kind, key: Hashable) -> do.Action | None:
        """The record that is awaited, where there is one of a key only."""
        found = self.of(kind).get(key)
        return None if found is None else found[1][0]

    def overdue(self, now: float) -> list[tuple[Kind, Any, Records]]:
        """Those that are to be written once more."""
        found: list[tuple[Kind, Any, Records]] = []
        for kind, awaited in self.awaited.items():
            for key, (when, records) in awaited.items():
                if when > now:
                    break
                found.append((kind, key, records))
        return found

    def next_time(self) -> float | None:
        """When the first of them is to be written once more, seconds since the epoch."""
        return min((next(iter(one.values()))[0] for one in self.awaited.values()), default=None)


_NONE: Mapping[Hashable, tuple[float, Records]] = {}


class JobstateLines:
    """What lines of jobstate.log need beside the event itself."""

    def __init__(self, first: int, *, keeps_times: bool) -> None:
        # of a node's last event, seconds since the epoch; kept if jobstate.log is wanted, and for
        # RETRY DELAY
        self.times: dict[int, float] = {}
        self.keeps_times = keeps_times  # whether they are kept of all nodes
        self._sequences: dict[int, int] = {}
        self._next = first

    def happened(self, node: int, time: float) -> None:
        """The time of an event of the node."""
        self.times[node] = time

    def forget_time(self, node: int) -> None:
        """What comes next has no event in the log."""
        self.times.pop(node, None)

    def forget(self, node: int) -> None:
        """The node's run has ended."""
        self._sequences.pop(node, None)
        self.times.pop(node, None)

    def sequence(self, node: int) -> int:
        """Number of the node's present run."""
        found = self._sequences.get(node)
        if found is None:
            found = self._sequences[node] = self._next
            self._next += 1
        return found


class DeferralCounts:
    """How often what had to wait for a throttle, or was put off by DEFER."""

    def __init__(self) -> None:
        # by what waited for: jobs, idle, category, pre, post, hold
        self.counts = dict.fromkeys(("jobs", "idle", "category", "pre", "post", "hold"), 0)

    def add(self, what: str, times: int = 1) -> None:
        """Something had to wait; what is not counted is no throttle."""
        if what in self.counts:
            self.counts[what] += times


class SavePoints:
    """Nodes whose save file is due."""

    def __init__(self) -> None:
        self.due: dict[int, None] = {}  # the nodes, in the order in which they started
        self._started: set[int] = set()

    def starts(self, node: int) -> None:
        """The node starts; its file is due if that is the first time."""
        if node not in self._started:
            self._started.add(node)
            self.due[node] = None

    def forget(self, node: int) -> None:
        """Nothing of the node has begun after all."""
        self.due.pop(node, None)
        self._started.discard(node)

    def discard(self, node: int) -> None:
        """An old log shows that the node had started: its file has been written."""
        self.due.pop(node, None)

    def clear(self) -> None:
        """All have been written, or none is to be."""
        self.due.clear()
