"""What comes next for a node after its PRE script, its jobs and its POST script: pure truth tables.

Rules: manual, "DAGMan: DAG node success or failure" and "Retrying failed nodes".
"""

from __future__ import annotations

from enum import Enum

from condor_pydagman.graph.model import Abort, Retry


class Next(Enum):
    """What a node does next."""

    SUBMIT = "submit"
    SKIP = "skip"  # PRE_SKIP: done, without job and POST script
    POST = "post"
    SUCCEED = "succeed"
    FAIL = "fail"  # this run failed; a retry may follow


class Again(Enum):
    """Whether a failed node runs once more."""

    RETRY = "retry"
    NO_RETRIES_LEFT = "no retries left"
    UNLESS_EXIT = "unless-exit"


def after_pre(status: int, *, pre_skip: int | None, has_post: bool, always_post: bool) -> Next:
    """The PRE script ended with `status`.  0 is success; PRE_SKIP 0 therefore never applies."""
    if status == 0:
        return Next.SUBMIT
    if pre_skip is not None and status == pre_skip:
        return Next.SKIP
    return Next.POST if has_post and always_post else Next.FAIL


def after_jobs(failed: bool, *, has_post: bool) -> Next:
    """All procs ended.  A POST script runs whatever they did, and decides."""
    if has_post:
        return Next.POST
    return Next.FAIL if failed else Next.SUCCEED


def after_post(status: int) -> Next:
    """The POST script ended with `status`: it alone decides."""
    return Next.SUCCEED if status == 0 else Next.FAIL


def again(retry: Retry | None, taken: int, value: int) -> Again:
    """A run failed with return value `value`, after `taken` retries."""
    if retry is None or taken >= retry.limit:
        return Again.NO_RETRIES_LEFT
    if retry.unless_exit != 0 and value == retry.unless_exit:
        return Again.UNLESS_EXIT
    return Again.RETRY


def aborts(abort: Abort | None, value: int) -> bool:
    """Whether `value` is the one that ABORT-DAG-ON names; it beats retries and success."""
    return abort is not None and abort.status == value


def abort_exit_code(abort: Abort, value: int) -> int:
    """Exit code of DAGMan after an abort: RETURN, else the node's value (which wraps, as stock)."""
    return abort.exit_code if abort.exit_code is not None else value & 0xFF
