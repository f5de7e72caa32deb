"""What comes next for a node after its PRE script, its jobs and its POST script: pure truth tables.

Rules: manual, "DAGMan: DAG node success or failure" and "Retrying failed nodes".
"""

from __future__ import annotations

import zlib
from enum import Enum

from condor_pydagman.graph.model import Abort, Retry

MOST_DELAY = 30 * 24 * 3600  # seconds before a retry without MAX-DELAY


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
    ON_HOLD = "submit once more, on hold"
    NO_RETRIES_LEFT = "no retries left"
    UNLESS_EXIT = "unless-exit"
    NOT_THIS_VALUE = "only-if has other values"
    FINAL_RUNS = "the FINAL node runs"


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


def again(retry: Retry | None, taken: int, value: int, granted: int = 0) -> Again:
    """A run failed with return value `value`, after `taken` retries.

    `granted` is how many retries the node has got beyond those of its RETRY command.
    """
    if taken >= granted + (retry.limit if retry is not None else 0):
        return Again.NO_RETRIES_LEFT
    if retry is None:
        return Again.RETRY
    if value in retry.unless_exit:
        return Again.UNLESS_EXIT
    if retry.only_if and value not in retry.only_if:
        return Again.NOT_THIS_VALUE
    return Again.RETRY


def retry_delay(retry: Retry, number: int, name: str) -> float:
    """Seconds between the end of a run of node `name` and its retry `number` (1 is the first).

    DELAY times BACKOFF for each retry before, at most MAX-DELAY; then spread by up to a tenth, so
    that nodes that failed together do not come back together.  The spread depends on node and
    number only: a restart changes nothing.
    """
    if not retry.delay:
        return 0.0
    limit = float(retry.max_delay or MOST_DELAY)
    try:
        seconds = min(retry.delay * retry.backoff ** (number - 1), limit)
    except OverflowError:
        seconds = limit
    text = f"{name} {number}".encode("utf-8", "surrogateescape")
    # Knuth's multiplicative hashing: a CRC alone is nearly the same for nearly the same names.
    spread = zlib.crc32(text) * 2654435761 % 2**32 / 2**32
    return seconds * (0.9 + 0.2 * spread)


def aborts(abort: Abort | None, value: int) -> bool:
    """Whether `value` is the one that ABORT-DAG-ON names; it beats retries and success."""
    return abort is not None and abort.status == value


def abort_exit_code(abort: Abort, value: int) -> int:
    """Exit code of DAGMan after an abort: RETURN, else the node's value (which wraps, as stock)."""
    return abort.exit_code if abort.exit_code is not None else value & 0xFF
