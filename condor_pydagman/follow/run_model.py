"""A run of a DAG as it is known from its files: nodes, their attempts, and the DAG as a whole.

A *run* begins when DAGMan empties the nodes log and ends with DAGMan; a DAGMan that is started
again after a crash, and recovers, goes on with the same run.  An *attempt* is one try of a node:
PRE script, jobs, POST script; RETRY makes further attempts.

Times are seconds since the epoch, 0.0 if it has not happened or is not known.
"""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, TypeVar

from condor_pydagman.engine.node_states import NOT_NEEDED, SKIPPED
from condor_pydagman.feature_table import home
from condor_pydagman.follow.node_placements import NodePlacements
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records.dagman_out import OutKind, OutLine
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, NodeStatus

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
    return {name: int(ad.get(attribute) or 0) for name, attribute in COUNTS.items()}


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
    """One run of a PRE or POST script."""

    # times
    started: float
    ended: float
    value: int | None  # exit code, negative for a signal; None while it runs

    __slots__ = tuple(__annotations__)

    def __init__(self, started: float = 0.0) -> None:
        self.started, self.ended, self.value = started, 0.0, None


class Hold(NamedTuple):
    """A job was held."""

    time: float  # when
    reason: str  # in words, as the log has it
    # HoldReasonCode and HoldReasonSubCode of the job ad
    code: int
    subcode: int
    job: str  # `CLUSTER.PROC`
    released: float = 0.0  # when it was released or removed; 0.0 while it is held


class Usage(NamedTuple):
    """A row of a terminate event's table of resources; None where the table has nothing."""

    used: float | None
    requested: float | None
    allocated: float | None


class Attempt:
    """One try of a node."""

    number: int  # 0 for the first
    is_retry: bool  # whether it follows from a failure, and not since the node was let run again
    cluster: int  # of its jobs, 0 if none has been submitted
    proc: int  # of the first of its jobs
    # number of a NOOP node's job, which has no cluster, or of a task in its bundle, which has the
    # cluster of the bundle's job; 0 for any other
    noop: int
    procs: int  # how many jobs it has in the log
    submitted: float  # when the first of its jobs came into the queue
    started: float  # when the first of its jobs began to run (first execute event)
    # from when to when none of its jobs ran, between the first start and the last
    pauses: tuple[tuple[float, float], ...]
    # when the last of the jobs that ran was held, evicted or ended; 0.0 while one runs
    stopped: float
    ended: float  # when the last of its jobs left the queue
    # of the first job that failed, or 0 if all have succeeded: exit code, or a negative signal;
    # None until a job has ended
    value: int | None
    # machine (slot name, else address) of each job that ran, in the order of their starts
    hosts: tuple[str, ...]
    # how many jobs run now, have left the queue, have failed, are held now
    running: int
    ended_procs: int
    failed_procs: int
    held: int
    holds: list[Hold]  # every hold, oldest first
    evictions: int  # how often a job was taken from its machine, but not to be removed
    reason: str  # why the jobs could not be submitted, or were removed; '' otherwise
    # resources by name (`Cpus`, `Memory (MB)`, `Disk (KB)`), of the job that used most
    usage: Mapping[str, Usage]
    cpu_s: float  # CPU time of all jobs, user and system, seconds
    # by all jobs, as the terminate events say
    bytes_sent: int
    bytes_received: int
    # its scripts
    pre: ScriptRun | None
    post: ScriptRun | None
    over: bool  # whether it has ended, scripts included
    carrier: Carrier | None  # the job that it is in with other nodes; None if its jobs are its own
    site: str  # where it runs, if the node is in a group that needs a site; '' otherwise
    skipped: bool  # whether its PRE script returned PRE_SKIP

    __slots__ = tuple(__annotations__)

    def __init__(self, number: int, *, anew: bool = False) -> None:
        self.number, self.is_retry = number, number > 0 and not anew
        self.cluster = self.proc = self.procs = self.noop = 0
        self.submitted = self.started = self.stopped = self.ended = 0.0
        self.pauses, self.value, self.hosts = (), None, ()
        self.running = self.ended_procs = self.failed_procs = self.held = 0
        self.holds, self.usage = [], {}
        self.reason = self.site = ""
        self.cpu_s = 0.0
        self.evictions = self.bytes_sent = self.bytes_received = 0
        self.carrier = self.pre = self.post = None
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

    name: str  # its full name
    status: NodeStatus  # its state, as the node status file would call it
    # the same as the stream of events has told it, which passes over states that follow from those
    # of other nodes
    told: NodeStatus
    since: float  # when it came into its state
    attempts: Sequence[Attempt]  # oldest first; empty if it has not been started
    cached: bool  # it is done without having run, since nothing of it has changed (CACHE)
    told_skipped: bool  # it is done since a person, or its PRE script, has had it skipped
    cancelled_by: str  # who has cancelled it; '' if nobody has, or it was let run again since
    is_service: bool  # whether it runs beside the others (SERVICE), and is in no count of nodes
    # why DAGMan or a person has brought it into its state; '' if its jobs or scripts have
    why: str
    # the marks of all nodes (`node_states`), and its number among them; no marks if it has left the
    # DAG
    all_marks: bytearray | bytes
    number: int

    __slots__ = tuple(__annotations__)

    def __init__(self, name: str, status: NodeStatus = NodeStatus.NOT_READY) -> None:
        self.name = name
        self.status = self.told = status
        self.since = 0.0
        self.attempts = ()  # of a big DAG most nodes have none for long
        self.cached = self.told_skipped = self.is_service = False
        self.cancelled_by = self.why = ""
        self.all_marks = b""
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
        is_removed = self.is_service and self.status is NodeStatus.ERROR
        return is_removed and self.failure()[0] == RETURN_JOB_ABORTED

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

    def failure(self) -> tuple[int | None, str]:
        """Exit code or negative signal of what has failed in its last attempt, None if it has none;
        and what that is, or why, in words."""
        attempt = self.attempts[-1] if self.attempts else None
        if attempt is None:
            return None, self.why
        if attempt.post is not None and attempt.post.value:
            return attempt.post.value, "POST script"
        if attempt.pre is not None and attempt.pre.value and not attempt.procs:
            return attempt.pre.value, "PRE script"
        return attempt.value, attempt.reason


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
    """All that is known of the last run of a DAG."""

    def __init__(self) -> None:
        # what is known of features, by their names; those of which nothing is known are not there
        self.of: dict[str, Seen] = {}
        # what people and features have done to it; halts are in `halts`
        self.interventions = Interventions()
        self.placements: dict[str, NodePlacements] = {}  # of DATA nodes, by node
        # by full name, in the order of the DAG if that is known, else of their first events
        self.nodes: dict[str, NodeRun] = {}
        # names of nodes that are told to be skipped, and have no mark that says so
        self.skipped: set[str] = set()
        self.in_queue: dict[str, NodeRun] = {}  # the nodes with jobs in the queue, by name
        # jobs that carry several nodes, also those that have ended, by their names
        self.carriers: dict[str, Carrier] = {}
        self.carried: dict[str, Carrier] = {}  # by name of a node, the one that it is in now
        # nodes that have failed for good, the newest last
        self.failures: deque[NodeRun] = deque(maxlen=MAX_FAILURES)
        # when nodes were done, oldest first, of a while before the newest
        self.ends: deque[float] = deque()
        # from when to when all that was left was on hold: the last ones, in order
        self.standstills: deque[tuple[float, float]] = deque(maxlen=MAX_FAILURES)
        # of DAGMan, oldest first; more than one if it was restarted
        self.starts: list[Start] = []
        # when the run began, or its first event; the newest event; when DAGMan ended, 0.0 while it
        # runs
        self.begun = self.last = self.ended = 0.0
        # condor_dagman's; None while it runs, or if nobody knows
        self.exit_code: int | None = None
        # how many nodes are in each state (COUNTS), as DAGMan last wrote it; {} if it has not
        self.counts: Mapping[str, int] = {}
        self.counts_time = 0.0  # when that was
        self._total = 0  # of the table that is about to be told
        # number of the DAG's state (`vocabulary.DagStatus`) as last written, None if not
        self.dag_status: int | None = None
        self.halts: list[Halted] = []  # when it was halted
        # throttles in force by their names in the job ad, 0 for none
        self.limits: dict[str, int] = {}
        # those that decide states, by fields of Config, as `.dagman.out` says
        self.knobs: dict[str, int] = {}
        # to what a knob with a throttle is set and where, if it is not the default
        self.knob_places: dict[str, tuple[int, str]] = {}
        self.rescued_from = 0  # number of the rescue file that it began with, 0 if none
        # name of the rescue or save file that it began with, and of the one that it wrote; '' if
        # none
        self.rescue_read = self.rescue_written = ""
        self.queue_full = ""  # why the schedd takes no more jobs, '' if it does
        # DAGMan's words for the ABORT-DAG-ON that ended it, '' if none did; and when
        self.aborted, self.aborted_at = "", 0.0
        self.removed = False  # whether DAGMan's job was removed (condor_rm)
        # who has ended the DAG by a command, as a removal does; '' if nobody has
        self.cancelled_by = ""
        self.removed_at = 0.0  # when the one or the other was
        self.errors: deque[str] = deque(maxlen=MAX_ERRORS)
        self.said_failed: dict[str, str] = {}
        self.is_list = False
        # why the last script of a node could not be started, by the node's name
        self.unstarted: dict[str, str] = {}
        self.complete = True  # whether the nodes log was read from its beginning
        self._asked_by = ""  # who asks for the halt, or its end, that is about to be told

    @property
    def halted(self) -> bool:
        """Whether the DAG is halted."""
        return bool(self.halts) and not self.halts[-1].ended

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
        script, since = last.post or last.pre, self.removed_at or self.aborted_at
        if script is None or script.value != -signal.SIGKILL or not 0 < since <= script.ended:
            return ""
        return "PRE" if last.post is None else "POST"

    def count(self, line: OutLine) -> None:
        """A line of the table of counts."""
        if line.what is OutKind.TOTAL:
            self._total = line.number
        else:
            self.counts = dict(zip(COUNTS, (self._total, *map(int, line.text.split()))))
            self.counts_time = line.time

    @property
    def failures_allowed(self) -> int:
        """Jobs of a node that may fail if it has no TOLERANCE
        (DAGMAN_NODE_JOB_FAILURE_TOLERANCE)."""
        return self.knobs.get("node_job_failure_tolerance", 0)

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
