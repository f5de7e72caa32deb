"""Names and numbers that DAGMan shares with the rest of HTCondor.

All of them are published (job ads, the node status file, the nodes log), so a released number never
changes.  This module imports nothing of the package; every layer may import it.
"""

from __future__ import annotations

from enum import Enum, IntEnum

# An environment variable; the schedd gives its value only to DAGMan and to the job's owner.
SECRET = "CONDOR_SECURITY_SESSION"
# Variables that jobs and scripts must not get; daemons set the second for their children.
SECRETS = frozenset((SECRET, "CONDOR_PRIVATE_INHERIT"))

# Of a DAGMan that sleeps, see `daemon.sleep`: the descriptors behind which it has kept what it
# knows, how it waits, and what the waiter is to do; and why it has been woken.
MEMORY, WAITING, WORDS = "PYDAGMAN_MEMORY", "PYDAGMAN_WAITING", "PYDAGMAN_WAIT"
REASON = "PYDAGMAN_WOKEN"

# Why DAGMan leaves to be started again, by the number of the signal that tells it to.
LEAVES = {
    15: "Got SIGTERM. Performing graceful shutdown.",
    3: "Got SIGQUIT.  Performing fast shutdown.",
    2: "Got SIGINT.",
}
ORPHANED = "The schedd that started this DAGMan is gone."

EXIT_RESTART = 3  # DAGMan's exit code that makes the schedd restart its job
# With a greater exit code DAGMan is started again, by condor_submit_dag's OnExitRemove.
MAX_FINAL_EXIT_CODE = 2
HELD_BY_DAGMAN = 7001  # HoldReasonSubCode of DAGMan's job, if it has put itself on hold

# The error for a job whose list of common input files differs from the DAG's.
# Of a node whose submission is refused since its text has a `$`.
MAY_BE_MACRO = "has text that could become a macro"
UNREADABLE = "parse_up_to_q_line() failed"  # the bindings' whole error
COMMON_INPUT_DIFFERS = "Multiple differing common input transfer lists declared in DAG"


class NodeStatus(IntEnum):
    """The state of a node in the node status file and in `.dagman.out`."""

    NOT_READY = 0
    READY = 1
    PRERUN = 2
    SUBMITTED = 3
    POSTRUN = 4
    DONE = 5
    ERROR = 6
    FUTILE = 7


# Words for states, as watch shows them, and what they stand for.
STATE_WORDS = {
    "waiting": NodeStatus.NOT_READY,
    "ready": NodeStatus.READY,
    "pre": NodeStatus.PRERUN,
    "queued": NodeStatus.SUBMITTED,
    "post": NodeStatus.POSTRUN,
    "done": NodeStatus.DONE,
    "failed": NodeStatus.ERROR,
    "futile": NodeStatus.FUTILE,
}


class DagStatus(IntEnum):
    """The state of the whole DAG: `DAG_Status` in the job ad, `$DAG_STATUS` in script lines."""

    OK = 0
    ERROR = 1
    NODE_FAILED = 2
    ABORT = 3
    RM = 4
    CYCLE = 5
    HALTED = 6


class NodeKind(IntEnum):
    """Which command of the DAG language defined a node."""

    JOB = 0
    SUBDAG = 1
    FINAL = 2
    PROVISIONER = 3
    SERVICE = 4
    DATA = 5  # data placement, of the historical DATA command


# Kinds that PARENT, RETRY and ALL_NODES apply to (manual: "FINAL node", "SERVICE node").
ORDINARY_KINDS = frozenset((NodeKind.JOB, NodeKind.SUBDAG, NodeKind.DATA))


class ScriptKind(Enum):
    """When a script of a node runs: before its jobs, after them, or when one is held."""

    PRE = "PRE"
    POST = "POST"
    HOLD = "HOLD"


class EventKind(IntEnum):
    """Numbers of the job event log's events that DAGMan reads; messages call them `ULOG_` +
    name."""

    SUBMIT = 0
    EXECUTE = 1
    EXECUTABLE_ERROR = 2
    CHECKPOINTED = 3
    JOB_EVICTED = 4
    JOB_TERMINATED = 5
    IMAGE_SIZE = 6
    SHADOW_EXCEPTION = 7
    GENERIC = 8
    JOB_ABORTED = 9
    JOB_SUSPENDED = 10
    JOB_UNSUSPENDED = 11
    JOB_HELD = 12
    JOB_RELEASED = 13
    NODE_EXECUTE = 14
    NODE_TERMINATED = 15
    POST_SCRIPT_TERMINATED = 16
    REMOTE_ERROR = 21
    JOB_DISCONNECTED = 22
    JOB_RECONNECTED = 23
    JOB_RECONNECT_FAILED = 24
    GRID_RESOURCE_UP = 25
    GRID_RESOURCE_DOWN = 26
    GRID_SUBMIT = 27
    JOB_AD_INFORMATION = 28
    JOB_STATUS_UNKNOWN = 29
    JOB_STATUS_KNOWN = 30
    JOB_STAGE_IN = 31
    JOB_STAGE_OUT = 32
    ATTRIBUTE_UPDATE = 33
    PRESKIP = 34
    CLUSTER_SUBMIT = 35
    CLUSTER_REMOVE = 36
    FACTORY_PAUSED = 37
    FACTORY_RESUMED = 38
    FILE_TRANSFER = 40


# Events that end a proc.
JOB_ENDS = (EventKind.JOB_TERMINATED, EventKind.JOB_ABORTED)


class JournalRecord:
    """Decisions of DAGMan's, written to the nodes log as generic events, by their names; those of
    features stand in `feature_table.FEATURES`.

    Stock DAGMan ignores generic events, so such a log still replays there.
    """

    CONFIG = "CONFIG"  # text: knobs that decide states and are not at their defaults, from now on
    PRE_ENDED = "PRE_ENDED"  # value: exit code of the PRE script, negative for a signal
    # a script whose DEFER has an end, or grows; value: how often so far; text: PRE, POST or HOLD,
    # behind which stands number of the hold
    DEFERRED = "DEFERRED"
    HOLD_ENDED = "HOLD_ENDED"  # the HOLD script of a proc; value: of which of its holds
    SUBMIT_FAILED = "SUBMIT_FAILED"  # the node's job can't be submitted, a retry would not help
    ADOPTED = "ADOPTED"  # known, but not by the log; value: number of its procs
    JOB_LOST = "JOB_LOST"  # the schedd no longer knows a proc whose end was never logged
    JOB_ENDED = "JOB_ENDED"  # only the schedd's history shows a proc's end; value: as of an end
    SURPLUS = "SURPLUS"  # removed because -MaxJobs was lowered; gets an extra retry
    PROVISIONED = "PROVISIONED"  # the PROVISIONER's job is ready
    COMMON_INPUT = "COMMON_INPUT"  # text: token of the DAG's list of common input files
    FINAL_STARTED = "FINAL_STARTED"  # value: exit code without FINAL; text: DAG status, reason


CORE_RECORDS = frozenset(name for name in vars(JournalRecord) if name.isupper())

# The beginning of the reason why jobs of a node are removed that an ENOUGH does not need.
UNNEEDED_WORDS = "DAG Enough: the node is not needed"

# Return values of a node that no job can give (manual: "DAGMan return values" of $RETURN).
RETURN_SUBMIT_FAILED = -1001
RETURN_JOB_ABORTED = -1002
RETURN_PRE_FAILED = -1004
RETURN_NO_RESULT = -1005  # ours: what the node publishes could not be read
RETURN_GROWTH_FAILED = -1006  # ours: what the node adds to the DAG is refused

FEEDER_NO_MORE = 3  # exit code of a FEEDER's program that has no more to add

FEEDING, LAST = "FEEDING", "LAST"  # words of the text of GROWN

MB = 1_000_000  # bytes, as PYDAGMAN_MAX_PIECE_MB counts them
NO_NODE = -1  # in place of a node: a journal record of the whole DAG

# `ProvisionerState` of a PROVISIONER's job that is ready.
PROVISIONER_READY = 2

# The schedd gives this number and lower ones to procs of its own, which transfer files that many
# jobs have in common; their events are in the job's logs.
HELPER_PROC = -1000

# In place of a proc: all procs of a cluster.
ALL_PROCS = -1

# User note of a job that is the only one of its node, in a cluster with jobs of other nodes.
SHARED_CLUSTER = "one of several DAG nodes in its cluster"
# The variables of the queue statement of such a cluster begin with this.
SHARED_VARIABLE = "PYDAGMAN_"

# A NOOP node's events have these in place of a job id; the third number counts such nodes.
NOOP_CLUSTER = 0
NOOP_PROC = 2147483647

# Attributes of DAGMan's job: how many nodes run beyond DAG_JobsRunning, and are on hold beyond
# DAG_JobsHeld, since bundles have several.
MORE_RUNNING, MORE_HELD = "PYDAGMAN_MoreNodesRunning", "PYDAGMAN_MoreNodesHeld"

# Names of the events of a DAG (docs/watching.md); `feature_table` has those of features as well.
CORE_EVENTS = (
    *("dag.start", "dag.halt", "dag.resume", "dag.limits", "dag.status", "dag.rescue", "dag.end"),
    *("node.state", "node.retry", "node.submit_failed"),
    *("job.submit", "job.execute", "job.evict", "job.hold", "job.release", "job.terminate"),
    *("job.abort", "data.done", "data.retry", "data.fail", "script.start", "script.end"),
)

# What the C library calls the signals that end programs.
_SIGNALS = {
    1: "Hangup",
    2: "Interrupt",
    3: "Quit",
    4: "Illegal instruction",
    6: "Aborted",
    7: "Bus error",
    8: "Floating point exception",
    9: "Killed",
    11: "Segmentation fault",
    13: "Broken pipe",
    15: "Terminated",
}


def signal_name(status: int) -> str:
    """A signal as stock names it; it does so of PRE scripts only."""
    name = f" ({_SIGNALS[-status]})" if -status in _SIGNALS else ""
    return f"signal {-status}{name}"


# What the ClassAd language takes for something else than a name.
CLASSAD_WORDS = ("true", "false", "undefined", "error", "is", "isnt", "parent")
# What conditions can ask of every parent; nothing with such a name can be published.
PARENT_ATTRIBUTES = ("Outcome", "ExitCode", "Signal", "Retries")
