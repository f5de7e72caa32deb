"""The words and numbers that DAGMan shares with the rest of HTCondor.

Everything here is published somewhere (job ads, the node status file, the nodes log), so a number
never changes once it is out.  This module imports nothing of ours; every layer may import it.
"""

from __future__ import annotations

from enum import Enum, IntEnum

# An environment variable, whose value the schedd tells DAGMan and the job's owner alone.
SECRET = "CONDOR_SECURITY_SESSION"
# All variables that nobody but DAGMan itself is to have; daemons tell their children the second.
SECRETS = frozenset((SECRET, "CONDOR_PRIVATE_INHERIT"))

EXIT_LEAVE = 3  # DAGMan's exit code with which the schedd starts its job again

# What DAGMan and the checker say of a job whose list of common input files is not the DAG's.
COMMON_INPUT_DIFFERS = "Multiple differing common input transfer lists declared in DAG"


class NodeStatus(IntEnum):
    """What the node status file and `.dagman.out` call the state of a node."""

    NOT_READY = 0
    READY = 1
    PRERUN = 2
    SUBMITTED = 3
    POSTRUN = 4
    DONE = 5
    ERROR = 6
    FUTILE = 7


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


# Kinds that PARENT, RETRY and ALL_NODES mean (manual: "FINAL node", "SERVICE node").
ORDINARY_KINDS = frozenset((NodeKind.JOB, NodeKind.SUBDAG, NodeKind.DATA))


class ScriptKind(Enum):
    """When a script of a node runs: before its jobs, after them, or when one is held."""

    PRE = "PRE"
    POST = "POST"
    HOLD = "HOLD"


class EventKind(IntEnum):
    """Numbers of the job-log events that DAGMan knows; `ULOG_` + name is the name in messages."""

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


class Note(Enum):
    """What DAGMan itself decided and writes into the nodes log as a generic event.

    Stock DAGMan ignores generic events, so such a log still replays there.
    """

    PRE_ENDED = "PRE_ENDED"  # value: exit code of the PRE script, negative for a signal
    SUBMIT_FAILED = "SUBMIT_FAILED"  # the node's job could not be submitted, for good
    ADOPTED = "ADOPTED"  # found in the queue, not in the log; value: number of its procs
    JOB_LOST = "JOB_LOST"  # the schedd no longer knows a proc whose end was never logged
    JOB_ENDED = "JOB_ENDED"  # only the schedd's history shows a proc's end; value: as of an end
    TIMED_OUT = "TIMED_OUT"  # a TIMEOUT of the node passed: its jobs are removed
    SURPLUS = "SURPLUS"  # removed since -MaxJobs was lowered; gets a retry for it
    PROVISIONED = "PROVISIONED"  # the PROVISIONER's job gave the go-ahead
    COMMON_INPUT = "COMMON_INPUT"  # text: what stands for the DAG's list of common input files
    FINAL_STARTED = "FINAL_STARTED"  # value: exit code without FINAL; text: DAG status, reason


# Return values of a node that no job can give (manual: "DAGMan return values" of $RETURN).
RETURN_SUBMIT_FAILED = -1001
RETURN_JOB_ABORTED = -1002
RETURN_PRE_FAILED = -1004

# `ProvisionerState` of a PROVISIONER's job that has everything ready.
PROVISIONER_READY = 2

# Procs with this number and lower ones are helpers of the schedd, which run under a job's ad to
# transfer files that many jobs have in common; their events stand in the job's logs.
HELPER_PROC = -1000

# A NOOP node's events carry these in place of a job id; the third number counts such nodes.
NOOP_CLUSTER = 0
NOOP_PROC = 2147483647
