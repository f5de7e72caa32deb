"""Requests of DAGMan's loop to the schedd, and their results: plain data, no bindings.

A request is handed over and answered later (see `daemon.ports.Schedd`).  Its result is what the
docstring of the request names, or a PoolError that says why there is none; it is returned, not
raised, since the requester is no longer on the stack.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Union, get_args

from condor_pydagman.adapters.descriptions import Unreadable
from condor_pydagman.engine.actions import (
    HoldJobs,
    SetJobPriorities,
    SubmitJob,
    SubmitNode,
    SubmitTogether,
)
from condor_pydagman.engine.inputs import EndedJob, QueuedJob
from condor_pydagman.errors import PoolError
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import ALL_PROCS

# The error for a submission with more than one proc, in stock's words.
MULTIPLE_PROCS = (
    "Submit generated multiple job procs; disallowed by DAGMAN_PROHIBIT_MULTI_JOBS setting"
)


class LostReply(PoolError):
    """A submission without a reply: it is unknown whether the jobs are in the queue."""

    def __init__(self, reason: str, *, transient: bool = True) -> None:
        super().__init__(reason, transient=transient)


class QueueFull(PoolError):
    """The queue has as many jobs as a knob of the schedd allows: others must leave it first."""

    def __init__(self, reason: str, *, transient: bool = True) -> None:
        super().__init__(reason, transient=transient)


class Checks(NamedTuple):
    """How a submit description is checked before it is submitted."""

    by_condor_submit: bool = False  # check it as condor_submit does (-SubmitMethod 0)
    one_proc: bool = False  # refuse more than one proc (DAGMAN_PROHIBIT_MULTI_JOBS)
    # token of the DAG's list of common input files, '' if it has none so far
    common_input: str = ""
    name: str = ""  # of the submit file, for messages
    written: str = ""  # the description without DAGMan's additions; '' if no warning is possible


class Submit(NamedTuple):
    """Submit a description as one cluster.  Result: SubmitResult."""

    # the action of the engine; the process does not get it
    action: SubmitNode | SubmitTogether | SubmitJob | None
    text: str  # the submit description
    directory: str  # where it is submitted from, '' for DAGMan's own
    checks: Checks
    # variables that $ENV() in the description finds besides DAGMan's own
    environment: Mapping[str, str] = MappingProxyType({})


class Accepted(NamedTuple):
    """The schedd has the jobs.  `procs` is 0 with late materialization."""

    cluster: int
    procs: int


class FirstCommonInput(NamedTuple):
    """Nothing was submitted: the jobs are the DAG's first with a list of common input files, which
    must be in the nodes log before.  `token` stands for the list."""

    token: str


class SubmitResult(NamedTuple):
    """Result of Submit."""

    # the jobs, or why there are none; LostReply if it is unknown whether there are
    outcome: Accepted | FirstCommonInput | PoolError
    # warnings about the description for `.dagman.out`, whatever the outcome
    lines: Sequence[str] = ()


class ListRemovable(NamedTuple):
    """List the jobs that a removal would remove and that seem to run.  Result: a list of QueuedJob.

    A job stays in the queue for a while after its end has been logged, and seems to run; a removal
    must exclude it.  Fields as in RemoveJobs of the engine's actions.
    """

    cluster: int = 0
    spare_services: bool = False
    proc: int = ALL_PROCS


class Remove(NamedTuple):
    """Remove jobs, which as in RemoveJobs of the engine's actions.  Result: None."""

    reason: str
    cluster: int = 0
    spare_services: bool = False
    # cluster and proc of jobs in the queue that are excluded, since they have ended
    ended: Sequence[tuple[int, int]] = ()
    proc: int = ALL_PROCS
    force: bool = False


class ListQueue(NamedTuple):
    """List every proc of this DAG in the queue.  Result: Listing.

    `history`: also those that have left the queue.
    """

    history: bool = False


class Listing(NamedTuple):
    """Result of ListQueue: as in the engine's QueueListed, and the DAGMan_Max... attributes of
    DAGMan's own job ad."""

    jobs: Sequence[QueuedJob]
    ended: Sequence[EndedJob] = ()
    limits: Mapping[str, object] = MappingProxyType({})


class ReadAttribute(NamedTuple):
    """Read one attribute of the first proc of a cluster of this DAG.  Result: its value, a number,
    truth value or text; None if the proc has no such value."""

    cluster: int
    name: str


class ReadOwnAd(NamedTuple):
    """Read DAGMan's own job ad.  Result: a dict of the attributes that DAGMan uses."""


class EditOwnAd(NamedTuple):
    """Set attributes (texts of expressions) in DAGMan's own job ad.  Result: None.

    `durable`: the answer comes when they are on the schedd's disk.
    """

    attributes: Mapping[str, str]
    durable: bool = False


# Two are the engine's actions as they are.  Result: None.
Request = Union[
    Submit,
    ListRemovable,
    Remove,
    HoldJobs,
    SetJobPriorities,
    ListQueue,
    ReadAttribute,
    ReadOwnAd,
    EditOwnAd,
]

# All classes that are in messages between DAGMan and the process that asks.
MESSAGE_KINDS: tuple[type, ...] = (
    *get_args(Request),
    *(Checks, SubmitResult, Accepted, FirstCommonInput, Listing, QueuedJob, EndedJob),
    *(PoolError, LostReply, QueueFull, Unreadable),
)
