"""Requests of DAGMan's loop to the schedd, and their results: plain data, no bindings.

A request is handed over and answered later (see `daemon.ports.Schedd`).  Its result is what the
docstring of the request names, or a PoolError that says why there is none; it is returned, not
raised, since the requester is no longer on the stack.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Union, get_args

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

    def __init__(self, reason: str) -> None:
        super().__init__(reason, transient=True)


class QueueFull(PoolError):
    """The queue has as many jobs as a knob of the schedd allows: others must leave it first."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, transient=True)


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

    action: SubmitNode | SubmitTogether | SubmitJob  # the action of the engine
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


_KINDS: dict[str, Any] = {kind.__name__: kind for kind in get_args(Request)}


def request_message(request: Request) -> list[Any]:
    """Encode a request; of a Submit without the engine's action, which the process does not
    need."""
    fields: tuple[Any, ...] = request
    if isinstance(request, Submit):
        fields = (None, *request[1:-1], dict(request.environment))
    return [type(request).__name__, *fields]


def request_of(message: list[Any]) -> Request:
    """Decode a request."""
    name, *fields = message
    if name == Submit.__name__:
        fields[3] = Checks(*fields[3])
    request: Request = _KINDS[name](*fields)
    return request


def result_message(result: Any) -> dict[str, Any]:
    """Encode a result."""
    if isinstance(result, SubmitResult):
        return {**result_message(result.outcome), "lines": list(result.lines)}
    if isinstance(result, PoolError):
        return {"error": [_kind(result), result.reason]}
    if isinstance(result, FirstCommonInput):
        return {"first": result.token}
    return {"value": result}


def result_of(request: Request, message: dict[str, Any]) -> Any:
    """Decode the result of a request."""
    result = _result(request, message)
    return SubmitResult(result, message.get("lines", ())) if isinstance(request, Submit) else result


def _result(request: Request, message: dict[str, Any]) -> Any:
    if "error" in message:
        kind, reason = message["error"]
        return _ERRORS[kind](reason)
    if "first" in message:
        return FirstCommonInput(message["first"])
    read_value = _VALUE_READERS.get(type(request))
    return read_value(message["value"]) if read_value is not None else message["value"]


def _kind(error: PoolError) -> str:
    if isinstance(error, LostReply):
        return "lost"
    if isinstance(error, Unreadable):
        return "unreadable"
    if isinstance(error, QueueFull):
        return "full"
    return "transient" if error.transient else "permanent"


_ERRORS: dict[str, Callable[[str], PoolError]] = {
    "lost": LostReply,
    "full": QueueFull,
    "unreadable": lambda _: Unreadable(),
    "transient": lambda reason: PoolError(reason, transient=True),
    "permanent": lambda reason: PoolError(reason, transient=False),
}


def _listing(value: Any) -> Listing:
    jobs, ended, limits = value
    return Listing([QueuedJob(*job) for job in jobs], [EndedJob(*job) for job in ended], limits)


_VALUE_READERS: dict[type, Callable[[Any], Any]] = {
    Submit: lambda value: Accepted(*value),
    ListRemovable: lambda value: [QueuedJob(*job) for job in value],
    ListQueue: _listing,
}
