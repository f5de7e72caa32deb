"""A run of a DAG as it is known from its files: nodes, their attempts, and the DAG as a whole.

A *run* begins when DAGMan empties the nodes log and ends with DAGMan; a DAGMan that is started
again after a crash, and recovers, goes on with the same run.  An *attempt* is one try of a node:
PRE script, jobs, POST script; RETRY makes further attempts.

Times are seconds since the epoch, 0.0 if it has not happened or is not known.
"""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, TypeVar

from condor_pydagman.engine.node_states import NOT_NEEDED, SKIPPED
from condor_pydagman.feature_table import home
from condor_pydagman.follow.node_placements import NodePlacements
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records.dagman_out import OutKind, OutLine
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, NodeStatus, ScriptKind

MAX_FAILURES = 50  # that are kept
REMOVAL_S = 10.0  # after its eviction a job that was removed has gone
MAX_ERRORS = 5
_HAD_FAILED = "; it had failed: "
# Numbers of nodes by state, in the order of the table in `.dagman.out`: the names that a Report of
# the engine has for them, and attributes of DAGMan's job ad.
COUNTS: Mapping[str, str] = {
    "total": "DAG_NodesTotal",
    "done": "DAG_NodesDone",
    "pre": "DAG_NodesPrerun",
    "queued": "DAG_NodesQueued",
    "post": "DAG_NodesPostrun",
    "ready": "DAG_NodesReady",
    "unready": "DAG_NodesUnready",
    "failed": "DAG_NodesFailed",
    "futile": "DAG_NodesFutile",
}


def counts_in(ad: Mapping[str, Any]) -> dict[str, int]:
    """How many nodes are in each state by the ad of DAGMan's job; {} if it does not say so."""
    if not isinstance(ad.get(COUNTS["total"]), int):
        return {}
    values = {name: ad.get(attribute) for name, attribute in COUNTS.items()}
    return {name: value if isinstance(value, int) else 0 for name, value in values.items()}


def newer_counts(
    ad: Mapping[str, Any], table: Mapping[str, int], when: float
) -> tuple[Mapping[str, int], float]:
    """What DAGMan has counted last: by the ad of its job, or by the table in `.dagman.out`, which
    it wrote at `when`; and when that was, 0.0 if it is not known."""
    counts, updated = counts_in(ad), ad.get("DAG_AdUpdateTime")
    updated = float(updated) if isinstance(updated, (int, float)) else 0.0
    return (counts, updated) if counts and (updated >= when or not table) else (table, when)


class DagState(Enum):
    """What a DAG is about."""

    NOT_STARTED = "not started"
    IDLE = "idle"  # DAGMan's job waits in the queue to be started
    RUNNING = "running"
    HALTED = "halted"  # it runs, but submits nothing (manual: "Suspending a Running DAG")
    HELD = "held"  # DAGMan's job is on hold
    INTERRUPTED = "interrupted"  # DAGMan is gone; its next start recovers the run
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    REMOVED = "removed"
    UNKNOWN = "unknown"


LIVE = (DagState.RUNNING, DagState.HALTED)  # DAGMan works on it
# Its run has ended, and nothing will go on with it by itself.
OVER = (DagState.SUCCEEDED, DagState.FAILED, DagState.REMOVED)


class ScriptRun:
    """One run of a PRE or POST script.

    Attributes:
        started, ended: times.
        value: exit code, negative for a signal; None while it runs.
    """

    __slots__ = ("ended", "started", "value")

    def __init__(self, started: float = 0.0) -> None:
        self.started = started
        self.ended = 0.0
        self.value: int | None = None


# The status of a node while its script is put off.
_WHILE_OFF = {
    ScriptKind.PRE: NodeStatus.PRERUN,
    ScriptKind.POST: NodeStatus.POSTRUN,
    ScriptKind.HOLD: NodeStatus.SUBMITTED,
}


class PutOff(NamedTuple):
    """A script has asked to be run again later (SCRIPT DEFER)."""

    kind: ScriptKind
    value: int  # its exit code
    time: float  # when it ended
    until: float  # when it runs again


class Hold(NamedTuple):
    """A job was held.

    Attributes:
        time: when.
        reason: in words, as the log has it.
        code, subcode: HoldReasonCode and HoldReasonSubCode of the job ad.
        job: `CLUSTER.PROC`.
        released: when it was released or removed; 0.0 while it is held.
    """

    time: float
    reason: str
    code: int
    subcode: int
    job: str
    released: float = 0.0


class Usage(NamedTuple):
    """A row of a terminate event's table of resources; None where the table has nothing."""

    used: float | None
    requested: float | None
    allocated: float | None


class Attempt:
    """One try of a node."""

    __slots__ = {  # noqa: RUF023  # help() shows what is said of each
        "number": "0 for the first.",
        "is_retry": "whether it follows from a failure, and not since the node was let run again.",
        "cluster": "of its jobs, 0 if none has been submitted.",
        "proc": "of the first of its jobs.",
        "noop": (
            "number of a NOOP node's job, which has no cluster, or of a task in its bundle, which "
            "has the cluster of the bundle's job; 0 for any other."
        ),
        "procs": "how many jobs it has in the log.",
        "submitted": "when the first of its jobs came into the queue.",
        "started": "when the first of its jobs began to run (first execute event).",
        "pauses": "from when to when none of its jobs ran, between the first start and the last.",
        "stopped": (
            "when the last of the jobs that ran was held, evicted or ended; 0.0 while one runs."
        ),
        "ended": "when the last of its jobs left the queue.",
        "value": (
            "of the first job that failed, or 0 if all have succeeded: exit code, or a negative "
            "signal; None until a job has ended."
        ),
        "hosts": (
            "machine (slot name, else address) of each job that ran, in the order of their starts."
        ),
        "running": "how many jobs run now.",
        "ended_procs": "how many have left the queue.",
        "failed_procs": "how many have failed.",
        "held": "how many are held now.",
        "holds": "every hold, oldest first.",
        "evictions": "how often a job was taken from its machine, but not to be removed.",
        "outgrown": "in how many of these it had used more memory than it had requested.",
        "reason": "why the jobs could not be submitted, or were removed; '' otherwise.",
        "usage": (
            "resources by name (`Cpus`, `Memory (MB)`, `Disk (KB)`), of the job that used most."
        ),
        "cpu_s": "CPU time of all jobs, user and system, seconds.",
        "bytes_sent": "by all jobs, as the terminate events say.",
        "bytes_received": "by all jobs, as the terminate events say.",
        "pre": "its scripts.",
        "post": "its scripts.",
        "over": "whether it has ended, scripts included.",
        "carrier": "the job that it is in with other nodes; None if its jobs are its own.",
        "site": "where it runs, if the node is in a group that needs a site; '' otherwise.",
        "skipped": "whether its PRE script returned PRE_SKIP.",
    }

    def __init__(self, number: int, *, anew: bool = False) -> None:
        self.number, self.is_retry = number, number > 0 and not anew
        self.cluster = self.proc = self.procs = self.noop = 0
        self.submitted = self.started = self.stopped = self.ended = 0.0
        self.pauses: tuple[tuple[float, float], ...] = ()
        self.value: int | None = None
        self.hosts: tuple[str, ...] = ()
        self.running = self.ended_procs = self.failed_procs = self.held = 0
        self.holds: list[Hold] = []
        self.evictions = self.outgrown = 0
        self.reason = self.site = ""
        self.usage: Mapping[str, Usage] = {}
        self.cpu_s = 0.0
        self.bytes_sent = self.bytes_received = 0
        self.carrier: Carrier | None = None
        self.pre: ScriptRun | None = None
        self.post: ScriptRun | None = None
        self.over = self.skipped = False

    def end_with(self, value: int) -> None:
        """One of its jobs has ended with that."""
        if self.value is None or (value and not self.value):
            self.value = value

    def note_pause(self, running: int, time: float) -> None:
        """So many of its jobs run from now on; before, either none or now none does."""
        if not running:
            self.stopped = time
        elif self.stopped:
            self.pauses += ((self.stopped, time),)
            self.stopped = 0.0

    @property
    def is_part(self) -> bool:
        """Whether what the log has of it is of a part of a job that carries several nodes."""
        return bool(self.noop and self.cluster)

    @property
    def queued_as(self) -> Attempt:
        """What tells how it stands in the queue: itself, or the job that carries it."""
        return self if self.procs or self.carrier is None else self.carrier.job

    @property
    def in_queue(self) -> bool:
        """Whether some of its jobs are in the queue."""
        return self.ended_procs < self.procs

    @property
    def idle(self) -> int:
        """How many of its jobs are in the queue and neither run nor are held."""
        return max(self.procs - self.ended_procs - self.running - self.held, 0)

    @property
    def job(self) -> str:
        """Its first job, `CLUSTER.PROC`; '' if none has been submitted."""
        return f"{self.cluster}.{self.proc}" if self.procs and self.cluster else ""


class NodeRun:
    """A node in a run."""

    __slots__ = {  # noqa: RUF023  # help() shows what is said of each
        "name": "its full name.",
        "status": "its state, as the node status file would call it.",
        "told": (
            "the same as the stream of events has told it, which passes over states that follow "
            "from those of other nodes."
        ),
        "since": "when it came into its state.",
        "attempts": "oldest first; empty if it has not been started.",
        "ran_before": "its attempts are all of earlier runs, its state is of the last.",
        "cached": "it is done without having run, since nothing of it has changed (CACHE).",
        "told_skipped": "it is done since a person, or its PRE script, has had it skipped.",
        "cancelled_by": "who has cancelled it; '' if nobody has, or it was let run again since.",
        "is_left_out": "whether CHOOSE leaves it out; a person may have let it run all the same.",
        "is_service": "whether it runs beside the others (SERVICE), and is in no count of nodes.",
        "why": (
            "why DAGMan or a person has brought it into its state; '' if its jobs or scripts have."
        ),
        "all_marks": ("the marks of all nodes (`node_states`); none if it has left the DAG."),
        "number": "its number among them.",
    }

    def __init__(self, name: str, status: NodeStatus = NodeStatus.NOT_READY) -> None:
        self.name = name
        self.status = self.told = status
        self.since = 0.0
        self.attempts: Sequence[Attempt] = ()  # of a big DAG most nodes have none for long
        self.cached = self.told_skipped = self.is_service = self.ran_before = False
        self.is_left_out = False
        self.cancelled_by = self.why = ""
        self.all_marks: bytearray | bytes = b""
        self.number = 0

    def marks(self) -> int:
        """What features have decided of it (`node_states`)."""
        return self.all_marks[self.number] if self.all_marks else 0

    @property
    def skipped(self) -> bool:
        """Whether it counts as done without having run to its end: its PRE script returned
        PRE_SKIP, its RUN_IF is false, an ENOUGH does not need it, or a person wants it so."""
        if self.status is not NodeStatus.DONE:
            return False
        is_marked = bool(self.marks() & (SKIPPED | NOT_NEEDED))
        return is_marked or self.told_skipped or self.is_pre_skipped

    @property
    def has_served(self) -> bool:
        """Whether it is a SERVICE node whose jobs were removed, as they are at the end."""
        if not (self.is_service and self.status is NodeStatus.ERROR and self.attempts):
            return False
        last = self.attempts[-1]
        return last.value == RETURN_JOB_ABORTED and not (last.post and last.post.value)

    @property
    def counted(self) -> NodeStatus:
        """Its state as DAGMan counts it: it has not failed if it has served."""
        return NodeStatus.DONE if self.has_served else self.status

    @property
    def has_failed(self) -> bool:
        """Whether it counts as failed."""
        return self.status is NodeStatus.ERROR and not self.has_served

    @property
    def is_pre_skipped(self) -> bool:
        """Whether its PRE script has returned PRE_SKIP."""
        return bool(self.attempts) and self.attempts[-1].skipped

    @property
    def is_unneeded(self) -> bool:
        """Whether it counts as done since an ENOUGH does not need it."""
        return self.status is NodeStatus.DONE and bool(self.marks() & NOT_NEEDED)

    @property
    def unneeded_by(self) -> str:
        """The ENOUGH line that does not need it, or what else is said of it."""
        return self.why.partition(_HAD_FAILED)[0]

    def script_since(self, kind: ScriptKind) -> float:
        """When the script of its last attempt started, if it runs; 0.0 otherwise."""
        attempt = self.attempts[-1] if self.attempts else None
        script = attempt and (attempt.pre if kind is ScriptKind.PRE else attempt.post)
        return script.started if script and script.value is None else 0.0


class Carrier(NodeRun):
    """A job of HTCondor's that is no node's own, and carries several (BUNDLE): like a node of the
    name that it has in the queue, but in no count of nodes.
    """

    __slots__ = ("nodes",)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.attempts = (Attempt(0),)
        self.nodes: list[str] = []  # names of those that it has been given

    @property
    def job(self) -> Attempt:
        """What its job does."""
        return self.attempts[0]


class Start(NamedTuple):
    """DAGMan was started."""

    time: float  # when
    recovering: bool = False  # whether it took up an interrupted run
    version: str = ""  # of the program, as the log has it


class Halted(NamedTuple):
    """The DAG was halted from one time to another (0.0: it still is, or DAGMan has ended).

    `reason`: what was said about it, last; '' if nothing was.  `resumed`: the same of its end.
    `by`, `resumed_by`: who has asked for that (condor_pydagman steer); '' if something else has.
    `paused`: nothing at all is started, and DAGMan does not end for want of jobs.
    """

    begun: float
    ended: float = 0.0
    reason: str = ""
    resumed: str = ""
    paused: bool = False
    by: str = ""
    resumed_by: str = ""


_Seen = TypeVar("_Seen", bound="Seen")


class Seen:
    """What is known of a feature in a run: a class of the feature's `shown`."""

    @classmethod
    def of(cls: type[_Seen], run: Run) -> _Seen:
        """What is known in a run; it is empty, and the run's no more, if nothing is."""
        found = run.of.get(home(cls))
        return found if isinstance(found, cls) else cls()

    @classmethod
    def put(cls: type[_Seen], run: Run) -> _Seen:
        """What is known in a run, to be added to."""
        found = run.of.setdefault(home(cls), cls())
        assert isinstance(found, cls)
        return found


class Run:
    """All that is known of the last run of a DAG.

    Attributes:
        nodes: by full name, in the order of the DAG if that is known, else of their first events.
        starts: of DAGMan, oldest first; more than one if it was restarted.
        begun: when the run began, or its first event.
        last: time of the newest event.
        ended: when DAGMan ended, 0.0 while it runs.
        exit_code: condor_dagman's; None while it runs, or if nobody knows.
        counts: how many nodes are in each state (COUNTS), as DAGMan last wrote it; {} if it has
            not.
        counts_time: when that was.
        dag_status: number of the DAG's state (`vocabulary.DagStatus`) as last written, None if not.
        halts: when it was halted.
        limits: throttles in force by their names in the job ad, 0 for none.
        queue_full: why the schedd takes no more jobs, '' if it does.
        rescued_from: number of the rescue file that it began with, 0 if none.
        rescue_read: name of the rescue or save file that it began with, '' if none.
        rescue_written: name of the rescue file that it wrote, '' if none.
        aborted: DAGMan's words for the ABORT-DAG-ON that ended it, '' if none did; at `aborted_at`.
        removed: whether DAGMan's job was removed (condor_rm).
        cancelled_by: who has ended the DAG by a command, as a removal does; '' if nobody has.
        removed_at: when the one or the other was; infinite if neither was, as `aborted_at` is.
        knobs: those that decide states, by fields of Config, as `.dagman.out` says.
        knob_places: to what a knob with a throttle is set and where, if it is not the default.
        put_offs: scripts that were put off and not run since, by their nodes' names; several of a
            node are HOLD scripts of its jobs, the next to run first; see `put_off`.
        unstarted: why the last script of a node could not be started, by the node's name.
        complete: whether the nodes log was read from its beginning.
        awaited: whether the logs tell nothing of it yet; they may be of a run before.
        placements: of DATA nodes, by node.
        in_queue: the nodes with jobs in the queue, by name, but for those in `services`.
        services: the SERVICE nodes.
        carriers: jobs that carry several nodes, also those that have ended, by their names.
        carried: by name of a node, the one that it is in now.
        skipped: names of nodes that are told to be skipped, and have no mark that says so.
        failures: nodes that have failed for good, the newest last.
        ends: when nodes were done, oldest first, of a while before the newest.
        standstills: from when to when all that was left was on hold: the last ones, in order.
        interventions: what people and features have done to it; halts are in `halts`.
        of: what is known of features, by their names; those of which nothing is known are not
            there.
    """

    def __init__(self) -> None:
        self.of: dict[str, Seen] = {}
        self.interventions = Interventions()
        self.placements: dict[str, NodePlacements] = {}
        self.nodes: dict[str, NodeRun] = {}
        self.skipped: set[str] = set()
        self.in_queue: dict[str, NodeRun] = {}
        self.services: list[NodeRun] = []
        self.carriers: dict[str, Carrier] = {}
        self.carried: dict[str, Carrier] = {}
        self.failures: deque[NodeRun] = deque(maxlen=MAX_FAILURES)
        self.ends: deque[float] = deque()
        self.standstills: deque[tuple[float, float]] = deque(maxlen=MAX_FAILURES)
        self.starts: list[Start] = []
        self.begun = self.last = self.ended = 0.0
        self.exit_code: int | None = None
        self.counts: Mapping[str, int] = {}
        self.counts_time = 0.0
        self._total = 0  # of the table that is about to be told
        self.dag_status: int | None = None
        self.halts: list[Halted] = []
        self.limits: dict[str, int] = {}
        self.knobs: dict[str, int] = {}
        self.knob_places: dict[str, tuple[int, str]] = {}
        self.rescued_from = 0
        self.rescue_read = self.rescue_written = self.aborted = self.cancelled_by = ""
        self.queue_full = ""
        self.removed_at = self.aborted_at = float("inf")
        self.errors: deque[str] = deque(maxlen=MAX_ERRORS)
        self.said_failed: dict[str, str] = {}
        self.put_offs: dict[str, list[PutOff]] = {}
        self.unstarted: dict[str, str] = {}
        self.is_list = self.removed = self.awaited = False
        self.complete = True
        self._asked_by = ""  # who asks for the halt, or its end, that is about to be told

    @property
    def halted(self) -> bool:
        """Whether the DAG is halted."""
        return bool(self.halts) and not self.halts[-1].ended

    def put_off(self, node: NodeRun) -> PutOff | None:
        """The script of a node that is the next to run again; None if none is."""
        found = self.put_offs.get(node.name, [None])[0]
        if found is None or node.attempts[-1].over:
            return None
        return found if node.status is _WHILE_OFF[found.kind] else None

    def scripts_off(self) -> dict[str, PutOff]:
        """All scripts that wait for their next run, by the names of their nodes."""
        return {name: off for name in self.put_offs if (off := self.put_off(self.nodes[name]))}

    def stood(self, since: float, until: float) -> None:
        """Nothing could go on from the one time, or the last end of a node, to the other."""
        begun = max(since, self.ends[-1]) if self.ends else since
        self.standstills.append((begun, until))

    def ask(self, time: float, by: str, what: str) -> None:
        """Somebody asks something of the whole DAG: halt, resume, cancel-all."""
        if what == "cancel-all":
            self.remove(time, by)
        else:
            self._asked_by = by if self.halted == (what == "resume") else ""

    def _pop_asked_by(self) -> str:
        by, self._asked_by = self._asked_by, ""
        return by

    def remove(self, time: float, by: str = "") -> None:
        """DAGMan is told to end: its job was removed, or by a command of somebody's."""
        if not (self.removed or self.cancelled_by):
            self.removed, self.cancelled_by, self.removed_at = not by, by, time
            if by:
                self.interventions.add(time, by, "cancel-all")

    def abort(self, time: float, why: str) -> None:
        """DAGMan ends the DAG before its end."""
        self.aborted, self.aborted_at = why, time

    def killed_script(self, node: NodeRun) -> str:
        """The script of its last attempt, `PRE` or `POST`, that DAGMan has killed because the DAG
        was to end; '' if none was."""
        last = node.attempts[-1] if node.attempts else Attempt(0)
        script, since = last.post or last.pre, min(self.removed_at, self.aborted_at)
        if script is None or script.value != -signal.SIGKILL or script.ended < since:
            return ""
        return "PRE" if last.post is None else "POST"

    def count(self, line: OutLine) -> None:
        """A line of the table of counts."""
        if line.what is OutKind.TOTAL:
            self._total = line.number
        else:
            self.counts = dict(zip(COUNTS, (self._total, *map(int, line.text.split()))))
            self.counts_time = line.time

    def halt(self, time: float, *, paused: bool = False) -> bool:
        """The DAG is halted; whether that is news."""
        is_news, by = not self.halted, self._pop_asked_by()
        if is_news:
            self.halts.append(Halted(time, by=by))
        if paused:
            self.halts[-1] = self.halts[-1]._replace(paused=True)
        return is_news

    def halted_because(self, reason: str) -> None:
        """What was said about the halt."""
        if self.halted:
            self.halts[-1] = self.halts[-1]._replace(reason=reason)

    def resume(self, time: float) -> bool:
        """The DAG is halted no more; whether that is news."""
        is_news = self.halted
        if is_news:
            self.halts[-1] = self.halts[-1]._replace(ended=time, resumed_by=self._pop_asked_by())
        return is_news

    def resumed_because(self, reason: str) -> None:
        """What was said about the end of the last halt."""
        if self.halts and not self.halted:
            self.halts[-1] = self.halts[-1]._replace(resumed=reason)


# What lines of `.dagman.out` tell of the DAG as a whole, whichever run it is.
OF_RUN: Mapping[OutKind, Callable[[Run, OutLine], object]] = {
    OutKind.ABORT: lambda run, line: run.abort(line.time, line.text),
    OutKind.REMOVED: lambda run, line: run.remove(line.time),
    OutKind.ASKED: lambda run, line: run.ask(line.time, line.node, line.text),
    OutKind.TOTAL: Run.count,
    OutKind.COUNTS: Run.count,
    OutKind.HALT_REASON: lambda run, line: run.halted_because(line.text),
    OutKind.RESUME_REASON: lambda run, line: run.resumed_because(line.text),
}


MAX_KEPT = 1000
MAX_NODES_NAMED = 3
TOGETHER_S = 60.0  # what is done alike within that is one


class Intervention(NamedTuple):
    """Something was done, perhaps to several nodes one after the other."""

    # when first, and when last
    time: float
    last: float
    by: str  # who or what has done it; '' if nobody knows
    what: str  # the command, or what was done, in words
    why: str = ""  # what was said about it; '' if nothing was
    nodes: tuple[str, ...] = ()  # names of the first that it was done to
    times: int = 1  # how often it was done: of what is done to nodes, to how many


class Interventions:
    """Those of a run, in the order of the log; what is done alike soon after each other is one."""

    def __init__(self) -> None:
        self.kept: list[Intervention] = []  # the first MAX_KEPT
        self.more = 0  # how many there are beside those

    def add(self, time: float, by: str, what: str, why: str = "", node: str = "") -> None:
        """Something was done, to a node if there is one."""
        last = self.kept[-1] if self.kept else None
        is_like = last is not None and last[2:5] == (by, what, why)
        is_soon = last is not None and abs(time - last.last) <= TOGETHER_S
        if last is not None and is_like and is_soon and bool(node) == bool(last.nodes):
            nodes = last.nodes
            if node and len(nodes) < MAX_NODES_NAMED and node not in nodes:
                nodes += (node,)
            self.kept[-1] = last._replace(last=time, nodes=nodes, times=last.times + 1)
        elif len(self.kept) < MAX_KEPT:
            self.kept.append(Intervention(time, time, by, what, why, (node,) if node else ()))
        else:
            self.more += 1


def interventions(run: Run) -> list[Intervention]:
    """Commands to nodes, brakes, growth, halts and resumes."""
    return sorted([*run.interventions.kept, *_halts(run)], key=lambda one: one.time)


def _halts(run: Run) -> Iterator[Intervention]:
    brakes = {f"{one.by}: {one.why}" for one in run.interventions.kept}
    for halt in run.halts:
        if halt.reason not in brakes:  # what a brake does is there already
            yield Intervention(halt.begun, halt.begun, halt.by, "halted", halt.reason)
        if halt.ended:
            yield Intervention(halt.ended, halt.ended, halt.resumed_by, "resumed", halt.resumed)
