"""The end of a run: wait for pending removals, notify the schedd, then delete the lock file.

If DAGMan were killed after deleting the lock file and before the schedd knows of the end, its next
start would run the DAG anew: nothing else says that there is nothing left to do.  So the notice is
sent again until the schedd accepts it, until the schedd is gone (the DAGMan that its successor
starts finds the lock file, and in the nodes log how the DAG ended), or until DAGMan is told to
leave.

All this is done in the loop, with deadlines and replies; nothing here blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum

from condor_pydagman.adapters.schedd_requests import ReadOwnAd
from condor_pydagman.daemon.run import DagRun
from condor_pydagman.engine.inputs import DagRemoved, Input, Shutdown
from condor_pydagman.errors import PoolError
from condor_pydagman.timers import (
    FIRST_NOTICE_RETRY_S,
    LEAVE_TIMEOUT_S,
    MAX_NOTICE_RETRY_S,
    REMOVAL_TIMEOUT_S,
)

MAX_REFUSALS = 10  # by a schedd that returns DAGMan's job ad and refuses to edit it

_NO_ANSWER = (
    "Warning: the schedd does not answer; the DAGMan job is removed, and so the schedd removes the"
    " jobs of this DAG when DAGMan has left the queue"
)


class Outcome(Enum):
    """What came of the notice."""

    DELIVERED = "the schedd knows of the end"
    SCHEDD_GONE = "the schedd that started DAGMan is gone"
    REFUSED = "the schedd answers and refuses the edit: the exit code tells it"
    LEAVE = "DAGMan has to leave and will be started again (held, vacated)"
    REMOVED = "the DAGMan job is being removed and is not started again"


class Leaving:
    """Waits briefly for pending requests before DAGMan leaves and is started again later.

    Args:
        done: called once, when DAGMan can exit.
    """

    def __init__(self, run: DagRun, done: Callable[[], None]) -> None:
        self._run = run
        self._done: Callable[[], None] | None = done
        self._deadline = run.clock.monotonic() + LEAVE_TIMEOUT_S
        self.work(run.clock.monotonic())

    def next_deadline(self) -> float | None:
        """When to call `work`, monotonic seconds."""
        return self._deadline

    def work(self, now: float) -> None:
        """Leave if no request is pending, or after the timeout."""
        if now >= self._deadline or not self._run.schedd.busy:
            self._leave()

    def handle_input(self, an_input: Input) -> None:
        """Leave at once if DAGMan is told again to stop or to leave."""
        if isinstance(an_input, (Shutdown, DagRemoved)):
            self._leave()

    def _leave(self) -> None:
        done, self._done = self._done, None
        if done is not None:
            done()


class EndNotice:
    """Notifies the schedd of the end by setting attributes in DAGMan's own job ad.

    Args:
        end: the attributes; empty for an exit code with which the job is started again.
        removal_pending: whether the schedd has yet to accept a removal.
        done: called once, with the outcome.
        removed: whether DAGMan's job is being removed: then it is not started again, and DAGMan
            exits after a timeout even if the schedd has not accepted the notice.
    """

    def __init__(
        self,
        run: DagRun,
        end: Mapping[str, str],
        removal_pending: Callable[[], bool],
        done: Callable[[Outcome], None],
        *,
        removed: bool,
    ) -> None:
        self._run = run
        self._end = end
        self._removal_pending = removal_pending
        self._done = done
        self._finished = False
        self._refusals = 0
        self._retry_s = FIRST_NOTICE_RETRY_S
        self._retry_at: float | None = run.clock.monotonic() + REMOVAL_TIMEOUT_S
        self._deadline = self._retry_at if removed else None
        self._started = False  # whether the notice has been sent once
        self.work(run.clock.monotonic())

    def next_deadline(self) -> float | None:
        """When to call `work`, monotonic seconds."""
        if self._retry_at is None or self._deadline is None:
            return self._retry_at or self._deadline
        return min(self._retry_at, self._deadline)

    def work(self, now: float) -> None:
        """Continue: a deadline may have passed, or a removal may have been accepted."""
        if self._finished:
            return
        if self._deadline is not None and now >= self._deadline:
            self._finish(Outcome.REMOVED, _NO_ANSWER)
        elif self._retry_at is not None:
            waits = self._started or self._removal_pending()
            if now >= self._retry_at or not waits:
                self._started = True
                self._send()

    def handle_input(self, an_input: Input) -> None:
        """Give up if DAGMan is told to leave, or once more to stop; while a removal is pending, a
        stop only limits the time."""
        if self._finished:
            return
        if isinstance(an_input, Shutdown):
            text = "DAGMan leaves before the schedd knows that the DAG has ended"
            self._finish(Outcome.LEAVE, f"{an_input.reason} {text}; started again, it ends as now")
        elif isinstance(an_input, DagRemoved) and self._started:
            self._finish(Outcome.REMOVED, "The DAGMan job is removed, and the DAG has ended")
        elif isinstance(an_input, DagRemoved):
            self._deadline = self._retry_at

    def _send(self) -> None:
        self._retry_at = None
        if self._run.is_orphaned():
            self._finish(Outcome.SCHEDD_GONE)
        elif self._end:
            self._run.job_ad.edit(self._end, self._answered, durable=True)
        else:
            self._finish(Outcome.DELIVERED)

    def _answered(self, error: PoolError | None) -> None:
        if self._finished:
            return
        if error is None:
            self._finish(Outcome.DELIVERED)
        else:
            # Does the schedd answer at all?
            self._run.schedd.ask(ReadOwnAd(), lambda ad: self._failed(error, ad))

    def _failed(self, error: PoolError, own_ad: object) -> None:
        if self._finished:
            return
        self._refusals += not isinstance(own_ad, PoolError)
        if self._refusals >= MAX_REFUSALS:
            text = f"can't tell the schedd that the DAG has ended: {error.reason}"
            self._finish(Outcome.REFUSED, f"Warning: {text}")
            return
        run = self._run
        run.out.say(
            f"Warning: can't tell the schedd that the DAG has ended ({error.reason});"
            f" next try in {self._retry_s:.0f} s",
            0,
        )
        run.out.flush()
        self._retry_at = run.clock.monotonic() + self._retry_s
        self._retry_s = min(2 * self._retry_s, MAX_NOTICE_RETRY_S)

    def _finish(self, outcome: Outcome, text: str = "") -> None:
        self._finished, self._retry_at, self._deadline = True, None, None
        if text:
            self._run.out.say(text, 0)
        self._done(outcome)
