"""Rules that need no state: what follows a script or a job, when a node is retried, how a run ends.

Sources: manual, "DAGMan: DAG node success or failure", "Retrying failed nodes", "TOLERANCE",
"Aborting the entire DAG" and DAGMAN_ALLOW_EVENTS.
"""

from __future__ import annotations

import zlib
from enum import Enum, IntFlag
from math import inf

from condor_pydagman.config import Config
from condor_pydagman.engine.queues import Deferral
from condor_pydagman.graph.model import Abort, Defer, Retry, Tolerance
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.timers import MAX_RETRY_DELAY_S
from condor_pydagman.vocabulary import DagStatus

ALL_EVENTS = -1  # value of DAGMAN_ALLOW_EVENTS that allows everything


class NextStep(Enum):
    """What a node does next."""

    SUBMIT = "submit"
    SKIP = "skip"  # PRE_SKIP: done, without job and POST script
    POST = "post"
    SUCCEED = "succeed"
    FAIL = "fail"  # this run failed; a retry may follow


class RetryVerdict(Enum):
    """Whether a failed node is retried, and if not, why."""

    RETRY = "retry"
    ON_HOLD = "submit once more, on hold"
    NO_RETRIES_LEFT = "no retries left"
    UNLESS_EXIT = "unless-exit"
    NOT_THIS_VALUE = "only-if has other values"
    FINAL_RUNS = "the FINAL node runs"


def after_pre(status: int, *, pre_skip: int | None, has_post: bool, always_post: bool) -> NextStep:
    """The PRE script ended with `status`.  0 is success; PRE_SKIP 0 therefore never applies."""
    if status == 0:
        return NextStep.SUBMIT
    if pre_skip is not None and status == pre_skip:
        return NextStep.SKIP
    return NextStep.POST if has_post and always_post else NextStep.FAIL


def after_jobs(failed: bool, *, has_post: bool) -> NextStep:
    """All procs ended.  A POST script runs whatever they did, and decides."""
    if has_post:
        return NextStep.POST
    return NextStep.FAIL if failed else NextStep.SUCCEED


def after_post(status: int) -> NextStep:
    """The POST script ended with `status`: it alone decides."""
    return NextStep.SUCCEED if status == 0 else NextStep.FAIL


def retry_verdict(
    retry: Retry | None, taken: int, value: int, extra_retries: int = 0
) -> RetryVerdict:
    """A run failed with return value `value`, after `taken` retries.

    `extra_retries` is how many retries the node has got beyond those of its RETRY command.
    """
    if taken >= extra_retries + (retry.limit if retry is not None else 0):
        return RetryVerdict.NO_RETRIES_LEFT
    if retry is None:
        return RetryVerdict.RETRY
    if value in retry.unless_exit:
        return RetryVerdict.UNLESS_EXIT
    if retry.only_if and value not in retry.only_if:
        return RetryVerdict.NOT_THIS_VALUE
    return RetryVerdict.RETRY


def retry_delay_s(retry: Retry, number: int, name: str) -> float:
    """Seconds between the end of a run of node `name` and its retry `number` (1 is the first).

    DELAY times BACKOFF for each retry before, at most MAX-DELAY; then spread by up to a tenth, so
    that nodes that failed together do not come back together.  The spread depends on node and
    number only: a restart changes nothing.
    """
    if not retry.delay:
        return 0.0
    seconds = _grown(retry.delay, retry.backoff, retry.max_delay, number)
    text = f"{name} {number}".encode("utf-8", "surrogateescape")
    # Knuth's multiplicative hashing: a CRC alone is nearly the same for nearly the same names.
    spread = zlib.crc32(text) * 2654435761 % 2**32 / 2**32
    return seconds * (0.9 + 0.2 * spread)


def _grown(delay: int, backoff: float, max_delay: int, number: int) -> float:
    """The `number`-th delay (1 is the first), in seconds."""
    limit = float(max_delay or MAX_RETRY_DELAY_S)
    try:
        return min(delay * backoff ** (number - 1), limit)
    except OverflowError:
        return limit


def defer_delay_s(defer: Defer, before: Deferral, now: float) -> float | None:
    """For how long a script is put off that has ended now; None if DEFER has come to its end.  The
    last time is when the seconds of its `total` are over."""
    left = before.since + defer.total - now if defer.total else inf
    if left <= 0 or 0 < defer.times <= before.number:
        return None
    return min(_grown(defer.seconds, defer.backoff, defer.max_delay, before.number + 1), left)


def aborts(abort: Abort | None, value: int) -> bool:
    """Whether `value` is the one that ABORT-DAG-ON names; it beats retries and success."""
    return abort is not None and abort.status == value


def abort_exit_code(abort: Abort, value: int) -> int:
    """Exit code of DAGMan after an abort: RETURN, else the node's value (which wraps, as stock)."""
    return abort.exit_code if abort.exit_code is not None else value & 0xFF


def failures_allowed(tolerance: Tolerance | None, procs: int, default: int) -> int:
    """How many of `procs` procs may fail; `default` without a TOLERANCE command."""
    if tolerance is None:
        return default
    return procs * tolerance.limit // 100 if tolerance.percent else tolerance.limit


def removes_the_rest(tolerance: Tolerance | None, config: Config) -> bool:
    """Whether the procs that are left are removed when the node has failed."""
    if tolerance is None or tolerance.fail_fast is None:
        return config.remove_job_list_on_failure
    return tolerance.fail_fast


class BadEvent(IntFlag):
    """What is wrong with an event: the bits of DAGMAN_ALLOW_EVENTS."""

    ALMOST_ANYTHING = 1  # but RUN_AFTER_END
    TERMINATED_AND_ABORTED = 2
    RUN_AFTER_END = 4
    GARBAGE = 8
    BEFORE_SUBMIT = 16
    TERMINATED_TWICE = 32
    DOUBLED = 64


def is_allowed(bad: BadEvent, knob: int) -> bool:
    """Whether DAGMAN_ALLOW_EVENTS = `knob` allows such an event."""
    almost_anything = BadEvent(0) if bad is BadEvent.RUN_AFTER_END else BadEvent.ALMOST_ANYTHING
    return knob == ALL_EVENTS or bool(knob & (bad | almost_anything))


class Ending(NamedTuple):
    """How a run ends early."""

    code: int  # exit code, unless a FINAL node makes it a success
    status: DagStatus
    outcome: str  # what the node status file calls it: success, failed, aborted, cycle, removed
    reason: str  # shown to the user with removed jobs
    rescue: bool = True  # whether a rescue file is written
    final: bool = True  # whether a FINAL node still runs


ABORT_REASON = "DAG Abort: DAG is exiting and writing rescue file."
_REMOVED_REASON = "DAG Removed: User removed scheduler job from queue."

# condor_rm of the DAGMan job; a second one does not wait for a FINAL node that runs.
REMOVED = Ending(2, DagStatus.RM, "removed", _REMOVED_REASON)
REMOVED_AGAIN = REMOVED._replace(final=False)
# A halted DAG has nothing left to wait for.
DRAINED = Ending(1, DagStatus.HALTED, "failed", ABORT_REASON)
# A warning that DAGMAN_USE_STRICT makes fatal; in the FINAL node's own scripts, the end of all.
STRICT = Ending(1, DagStatus.ERROR, "failed", ABORT_REASON)
STRICT_IN_FINAL = STRICT._replace(final=False)
# A BRAKE with ABORT acts.
BRAKED = Ending(1, DagStatus.ABORT, "aborted", ABORT_REASON)
# The PROVISIONER is more than one job.  Stock writes no rescue file then; we lose nothing.
UNPROVISIONED = STRICT
# An event that DAGMAN_ALLOW_EVENTS does not allow.
BAD_EVENT = STRICT
# The nodes log can't be written, or not be followed: then stock writes no rescue file.
APPEND_FAILED = STRICT._replace(final=False)
LOG_BROKEN = Ending(2, DagStatus.ERROR, "failed", ABORT_REASON, final=False)


def ending_of_abort(abort: Abort, value: int) -> Ending:
    """ABORT-DAG-ON by a return value.

    Exit code 0 writes no rescue file; RETURN 0 counts as a success (stock rules).
    """
    code = abort_exit_code(abort, value)
    if abort.exit_code == 0:
        return Ending(code, DagStatus.OK, "success", ABORT_REASON, rescue=False)
    return Ending(code, DagStatus.ABORT, "aborted", ABORT_REASON, rescue=code != 0)
