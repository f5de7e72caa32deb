"""All inputs that the engine can get.

`Engine.handle(input, now)` takes one of these and answers with actions.

An *event* is an entry of the nodes log; an *input* is anything the engine is told, events included.
Times are seconds since the epoch, as float; `now` is passed beside the input, never read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import ALL_PROCS, ScriptKind

if TYPE_CHECKING:  # DAGMan catches signals once this module is loaded, so it loads few others
    pass


class LogEvent(NamedTuple):
    """One event of the nodes log."""

    kind: int  # number of the event, see `EventKind` (an unknown number is allowed and ignored)
    cluster: int = -1
    proc: int = -1
    subproc: int = -1
    time: float = 0.0  # when it happened, seconds since the epoch
    stamp: str = ""  # the same as `MM/DD/YY HH:MM:SS`, local time, for messages
    node: str = ""  # DAG node name that the event carries, '' if none
    # exit code, negative for a signal, of ends of jobs and scripts; HoldReasonCode of a hold; of
    # our own generic events as `JournalRecord` says
    value: int = 0
    record: str | None = None  # for our own generic events, which
    retry: int = 0  # for our own generic events, the node's retry number at that time
    # hold reason, failure reason, ...; SHARED_CLUSTER of a submit event that has that note
    text: str = ""


class Begin(NamedTuple):
    """The first input.

    `recovering`: an earlier DAGMan left its lock file; its nodes log is replayed.
    """

    recovering: bool


class LogCaughtUp(NamedTuple):
    """The nodes log has been read to its end.  The first one ends recovery."""


class LogBroken(NamedTuple):
    """The nodes log can't be followed any more (deleted, shrunk, unreadable)."""

    reason: str


class Submitted(NamedTuple):
    """The schedd took the node's jobs.  A hint: the log's submit events are authoritative."""

    node: int
    cluster: int
    procs: int  # how many; 0 with late materialization: the log tells of them one by one
    # the node's only one in a cluster that it shares with other nodes; None if the cluster is its
    # own
    proc: int | None = None
    shareable: bool = False  # nodes with this submit description can be submitted together


class NotTogether(NamedTuple):
    """Nodes that were to be submitted together were not, and nothing of them is in the queue."""

    nodes: Sequence[int]  # the nodes, in the order of SubmitTogether
    most: int  # how many may be tried together next
    reason: str = ""  # in words; '' if the others of the same SubmitTogether were submitted


class SubmitFailed(NamedTuple):
    """The node's jobs were not submitted: for good, or perhaps only for now.

    `unknown` says that the schedd may have taken them all the same (the reply was lost); `full`,
    that other jobs must leave its queue first; `stamp` is when, as `MM/DD/YY HH:MM:SS`, for
    messages.
    """

    node: int
    reason: str
    permanent: bool
    unknown: bool = False
    stamp: str = ""
    full: bool = False


class JobSubmitted(NamedTuple):
    """The schedd has taken a job that is no node's, or has not (`cluster` 0)."""

    number: int  # by which the feature knows it that has asked for it
    cluster: int = 0
    reason: str = ""  # why it has not, in words
    permanent: bool = False  # it would be refused again
    unknown: bool = False  # the schedd may have taken it all the same
    full: bool = False  # the schedd's queue has no room for now


class CommonInput(NamedTuple):
    """The node is the first whose jobs have a list of common input files: it becomes the DAG's.

    Nothing has been submitted yet: that waits until the list is in the nodes log.  `files` stands
    for the list (`adapters.submit_checks`); all lists are equal for which it is equal.
    """

    node: int
    files: str


class HeldProc(NamedTuple):
    """A proc that went on hold, for the first time: `number` 1, or once more."""

    node: int
    cluster: int
    proc: int
    number: int


class ScriptEnded(NamedTuple):
    """A script ended with `status`: exit code, negative for a signal, 1 when it could not start.

    `error` says why it could not start, '' otherwise; `held` as in RunScript.
    """

    node: int
    kind: ScriptKind
    status: int
    error: str = ""
    held: HeldProc | None = None


class RemoveFailed(NamedTuple):
    """Jobs could not be removed: the schedd could not be told.  `proc` as in RemoveJobs."""

    cluster: int
    reason: str
    proc: int = ALL_PROCS


class QueuedJob(NamedTuple):
    """A proc of this DAG that the schedd has in its queue.

    Proc -1 stands for the cluster itself where that goes on making procs (late materialization).
    `retry` is the node's at submission; `leaving` says that it is being removed or has ended.
    """

    cluster: int
    proc: int
    node: str
    retry: int
    leaving: bool = False
    shared: bool = False  # whether its cluster has jobs of other nodes as well
    hold: str = ""  # why HTCondor has it on hold; '' if it has not, or a person has


class EndedJob(NamedTuple):
    """A proc of this DAG that has left the queue, by the schedd's history.

    `retry` and `shared` as in QueuedJob; `value` is its exit code, a negative signal, or
    RETURN_JOB_ABORTED.  Proc -1 stands for a cluster with late materialization that had made all
    its procs.
    """

    cluster: int
    proc: int
    node: str
    retry: int
    value: int
    shared: bool = False


class QueueListed(NamedTuple):
    """Answer to QueryQueue: every proc of this DAG that the schedd knows.

    The nodes log has been read to its end after the schedd was asked, so a proc that the log has
    not ended and that is not listed is lost, unless it is among those that have `ended`.
    """

    jobs: Sequence[QueuedJob]
    ended: Sequence[EndedJob] = ()


class QueueUnknown(NamedTuple):
    """Answer to QueryQueue: the schedd could not be asked."""

    reason: str


class Answered(NamedTuple):
    """Answer to Ask, or a part of it; or what a helper has to say without being asked."""

    helper: str  # that answers
    reply: Any  # of a class of the module that has asked


class ProvisionerAnswer(NamedTuple):
    """Answer to QueryProvisioner: `ProvisionerState` of its job; None if that is not known
    (yet)."""

    state: int | None


class RescueWritten(NamedTuple):
    """Answer to WriteRescue; `error` says why it could not be written, '' if it was."""

    error: str = ""


class LogRepaired(NamedTuple):
    """Events may be lost: DAGMan could not write its own for a while, or one is half written."""


class AppendFailed(NamedTuple):
    """An event of DAGMan's own could not be written to the nodes log."""

    reason: str


class Halt(NamedTuple):
    """Start nothing more; what runs goes on.

    `pause`: start no POST scripts either.  `file`: the halt file has appeared, and is what must
    vanish again; else a command says so, and a command must take it back.  `restored`: a command
    had said so to the DAGMan before this one.
    """

    reason: str = ""
    pause: bool = False
    file: bool = False
    restored: bool = False


class Resume(NamedTuple):
    """Take a halt back: that of the halt file, or what commands have said, a pause too."""

    reason: str = ""
    file: bool = False


class LimitsWanted(NamedTuple):
    """A request for other throttles; None leaves one as it is, 0 asks for no limit.

    The administrator's limits cap them all the same.
    """

    jobs: int | None = None
    idle: int | None = None
    pre: int | None = None
    post: int | None = None
    hold: int | None = None
    submits: int | None = None


class DagRemoved(NamedTuple):
    """SIGUSR1: the DAGMan job was removed (condor_rm); or a person, `by`, wants the DAG to end so,
    and DAGMan's job stays in the queue until then."""

    by: str = ""


class Shutdown(NamedTuple):
    """SIGTERM or SIGQUIT: DAGMan exits now with code 3, jobs stay; its next start recovers."""

    reason: str


class Wake(NamedTuple):
    """A deadline passed (see `Engine.next_deadline`)."""


Input = tuple[Any, ...]  # one of these, or one that a feature takes
