"""All actions that the engine can request.  Adapters carry them out in order and reply with inputs.

An action that can fail is answered by an input that tells the result; the engine never assumes
success.
"""

from __future__ import annotations

from typing import Any, Union

from condor_pydagman.engine.inputs import HeldProc
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import ALL_PROCS, DagStatus, ScriptKind


class SubmitNode(NamedTuple):
    """Submit the node's jobs as one cluster.  Answered by Submitted, SubmitFailed or CommonInput.

    `on_hold`: they are to wait on hold for a person (DAGMAN_PUT_FAILED_JOBS_ON_HOLD).
    `common_input`: the DAG's list of common input files (see `inputs.CommonInput`), '' so far none.
    `variables`: keys and values that a person has set, beside the node's VARS or instead of them.
    `site`, `site_ad`: the site that its group is matched to, and the digest of the site's ad.
    """

    node: int
    retry: int
    dag_status: DagStatus
    failed_count: int
    on_hold: bool = False
    common_input: str = ""
    priority: int = 0
    variables: tuple[tuple[str, str], ...] = ()
    site: str = ""
    site_ad: str = ""


class SubmitTogether(NamedTuple):
    """Submit nodes with the same submit file as procs of one cluster, in this order.

    Answered by Submitted or SubmitFailed for each, or by NotTogether for all of them or the last.
    """

    nodes: tuple[SubmitNode, ...]


class SubmitJob(NamedTuple):
    """Submit a job that is no node's, for a feature.  Answered by Answered, with JobSubmitted."""

    asker: str  # the helper of the feature
    number: int  # by which the feature knows it
    text: str  # its description


class RemoveJobs(NamedTuple):
    """Remove one cluster or one proc of it, or (cluster 0) every job of this DAG.

    `reason` is shown to the user.

    Jobs in the queue whose end has been read are left out: see `Engine.has_ended`.  Answered by
    RemoveFailed if a cluster could not be removed.  `spare_services`: those of SERVICE
    nodes stay, since a FINAL node is still to run.  `force`: jobs that are being removed leave the
    queue at once, though nobody has confirmed that they do not run any more.
    """

    reason: str
    cluster: int = 0
    spare_services: bool = False
    proc: int = ALL_PROCS
    force: bool = False


class HoldJobs(NamedTuple):
    """Put the jobs of a node on hold, or release them.  `cluster` and `proc` as in RemoveJobs, a
    cluster of 0: DAGMan's own job; the log tells whether it was done."""

    cluster: int
    proc: int
    reason: str
    release: bool = False


class Steered(NamedTuple):
    """The answer to a request of NodesSteered."""

    request: int
    done: int  # nodes for which it is in force
    refused: tuple[tuple[int, str], ...] = ()  # the others, each with the reason
    descendants: int = 0  # how many nodes run again with those, since they depend on them


class RunScript(NamedTuple):
    """Run a script in the node's directory, no shell.  Answered by ScriptEnded.

    `site` and `site_ad` as in SubmitNode; `held`: of which hold, if it is a HOLD script.
    """

    node: int
    kind: ScriptKind
    words: tuple[str, ...]
    site: str = ""
    site_ad: str = ""
    held: HeldProc | None = None


class KillScripts(NamedTuple):
    """Kill all running PRE and POST scripts with their process groups.

    `answered`: their ends are to be told as ScriptEnded, since the run goes on with its FINAL node.
    """

    answered: bool = False


class AppendPostEnded(NamedTuple):
    """Write event 016 into the nodes log; it comes back as a LogEvent.

    `status` as in ScriptEnded.
    """

    node: int
    cluster: int
    proc: int
    subproc: int
    status: int


class AppendPreSkip(NamedTuple):
    """Write event 034 into the nodes log: the PRE script's exit code says to skip the node."""

    node: int
    subproc: int


class AppendNoop(NamedTuple):
    """Write submit and terminate events of a NOOP node into the nodes log."""

    node: int
    subproc: int


class AppendJournalRecord(NamedTuple):
    """Write a decision of DAGMan's into the nodes log as a generic event."""

    record: str
    node: int
    retry: int
    value: int = 0
    cluster: int = -1
    proc: int = -1
    text: str = ""


class AppendEvents(NamedTuple):
    """Write events into the nodes log that a helper has found out, all by one write."""

    text: str


class QueryQueue(NamedTuple):
    """Ask the schedd for all jobs of this DAG.  Answered by QueueListed or QueueUnknown.

    `history`: ask for those that have left the queue, too.  The schedd must read files for that, so
    it is asked only after a restart, and when procs are missing.
    """

    history: bool = False


class Ask(NamedTuple):
    """Have something done outside of the engine that only some DAGs want.  Answered by Answered."""

    helper: str  # that does it
    request: Any  # what is to be done; of a class of the module that asks for it


class ForgetPlacements(NamedTuple):
    """What these DATA nodes have noted as done counts no more: their group leaves its site."""

    nodes: tuple[int, ...]
    are_gone: bool = False  # whether nothing of it cleans up there any more


class QueryProvisioner(NamedTuple):
    """Query the `ProvisionerState` of the PROVISIONER's job.  Answered by ProvisionerAnswer."""

    cluster: int


class WriteRescue(NamedTuple):
    """Write the rescue file from the engine's present state.  Answered by RescueWritten."""


class Grown(NamedTuple):
    """Answer to a person's piece: how many nodes the DAG has got, or why it is refused."""

    request: int
    nodes: int
    error: str


class WriteSavePoint(NamedTuple):
    """Write the node's save file from the engine's present state."""

    node: int


class Publish(NamedTuple):
    """The state changed: job ad and node status file are due (the daemon limits the rate).

    `final` means now, for the last time; `outcome` is the node status file's word for the end.
    `at_once`: a person waits for the job ad.
    """

    final: bool = False
    outcome: str = ""
    at_once: bool = False


class SetJobPriorities(NamedTuple):
    """Give jobs in the queue, by cluster and proc as in RemoveJobs, another JobPrio."""

    priority: int
    jobs: tuple[tuple[int, int], ...]


class PublishLimits(NamedTuple):
    """The throttles are set: tell the log and the job ad."""


class JobState(NamedTuple):
    """A line for jobstate.log: what happened to a node, when, in which run of it."""

    time: float
    node: int
    event: str
    job: str
    sequence: int


class Say(NamedTuple):
    """A line for `.dagman.out`.  Level as DAGMAN_VERBOSITY: 0 always ... 3 normal ... 7 debug.
    `test`: only where lines of the kind D_TEST are wanted."""

    text: str
    level: int = 3
    test: bool = False


class SayStatus(NamedTuple):
    """The status table, for `.dagman.out`."""


class SayDeferrals(NamedTuple):
    """How often what had to wait for a throttle, for `.dagman.out`."""


class SayFailed(NamedTuple):
    """A dump of the nodes that failed, for `.dagman.out`.

    `node`: of that one alone, which has not been started, and of which the log has `job`.
    """

    node: int | None = None
    job: str = ""


class Exit(NamedTuple):
    """End the process.  `keep_lock` leaves the lock file, so that the next start recovers.

    `concluded`: jobstate.log tells that the run has ended.
    """

    code: int
    keep_lock: bool = False
    concluded: bool = True


Action = Union[
    SubmitNode,
    SubmitTogether,
    SubmitJob,
    RemoveJobs,
    HoldJobs,
    Steered,
    RunScript,
    KillScripts,
    AppendPostEnded,
    AppendPreSkip,
    AppendNoop,
    AppendJournalRecord,
    AppendEvents,
    QueryQueue,
    QueryProvisioner,
    Ask,
    ForgetPlacements,
    Grown,
    WriteRescue,
    WriteSavePoint,
    Publish,
    PublishLimits,
    SetJobPriorities,
    JobState,
    Say,
    SayStatus,
    SayDeferrals,
    SayFailed,
    Exit,
]
