"""When a run has ended, found out at little cost.

While DAGMan lives, a look is one question about its lock.  Else the files tell that something may
have changed: the schedd writes what happens to DAGMan's job into `.dagman.log`.  If nothing
changes, it is asked less and less often.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from condor_pydagman.api.dag_state import DagStatus
from condor_pydagman.api.run_identity import RunIdentity, Standing
from condor_pydagman.errors import FileError, PoolError, PydagmanError
from condor_pydagman.follow.run_model import DagState
from condor_pydagman.monitor.file_facts import changed_at, size_of

LOOK_S = 0.5  # between looks
BUSY_S = 2.0  # between questions to the schedd, as long as something changes
ASK_S = 15.0  # between questions to the schedd, if nothing changes

Until = Callable[[DagStatus], object]


class DagTimeout(PydagmanError, TimeoutError):
    """The time for which a DAG was waited for is over; the DAG goes on.

    Attributes:
        status: how it stands; None if that can't be told now.
    """

    def __init__(self, text: str, status: DagStatus | None) -> None:
        super().__init__(text)
        self.status = status


class RunEnd:
    """The end of a run, or something before it, that somebody waits for.

    Args:
        run: which run.
        until: what else ends the waiting.
        timeout: how long is waited, seconds; None for no limit.
    """

    def __init__(
        self, run: RunIdentity, until: Until | None = None, timeout: float | None = None
    ) -> None:
        self._run, self._until, self._timeout = run, until, timeout
        self._begun = time.monotonic()
        self._marks: list[tuple[float, int]] = []
        self._pause = self._due = 0.0
        self._looked = float("-inf")

    def look(self) -> DagStatus | None:
        """How the run stands if it has ended, or if `until` says so; None otherwise.

        Raises:
            FileError: the DAG was not submitted, or its files are gone.
            PoolError: the schedd has no such job.
        """
        if not self._is_due():
            return None
        try:
            standing = self._run.standing()
        except PoolError as error:
            if self._is_patient or error.transient:
                return None
            raise
        return self._ended(standing)

    def pause(self) -> float:
        """How long to wait before the next look, seconds.

        Raises:
            DagTimeout: the time is over.
        """
        if self._timeout is None:
            return LOOK_S
        left = self._begun + self._timeout - time.monotonic()
        if left <= 0:
            raise self._time_is_over(self._timeout)
        return min(LOOK_S, left)

    def _time_is_over(self, seconds: float) -> DagTimeout:
        name = os.path.basename(self._run.path)
        try:
            status, goes_on = self._run.standing()
        except PydagmanError as error:
            text = f"{name} has not ended in {seconds:g} s, and how it stands is not known: {error}"
            return DagTimeout(text, None)
        if status.state is not DagState.HELD:
            text = f"{name} is {status.state.value} after {seconds:g} s of waiting"
            return DagTimeout(text + "; it goes on" * bool(goes_on), status)
        reason = self._run.hold_reason()
        text = f"{name} is held after {seconds:g} s of waiting" + f": {reason}" * bool(reason)
        text += "; it goes on when it is released, with release() or condor_release"
        return DagTimeout(text, status)

    @property
    def _is_patient(self) -> bool:
        """Whether something was new lately, so that the files and the schedd may not agree yet."""
        return self._pause < ASK_S

    def _is_due(self) -> bool:
        """Whether it is time to find out how the run stands."""
        marks = [(changed_at(path), size_of(path)) for path in self._run.files()]
        is_new, self._marks = marks != self._marks, marks
        if self._run.lives():
            self._pause = self._due = 0.0
            return is_new and self._until is not None
        if is_new:
            self._pause = min(self._pause, BUSY_S / 2)
            self._due = min(self._due, self._looked + BUSY_S)
        now = time.monotonic()
        if now < self._due:
            return False
        self._pause = min(2 * self._pause or LOOK_S, ASK_S)
        self._looked, self._due = now, now + self._pause
        return True

    def _ended(self, standing: Standing) -> DagStatus | None:
        status = standing.status
        if status.state is DagState.NOT_STARTED and standing.goes_on is None:
            raise FileError(
                f"{self._run.path} was not submitted; to submit it: submit_dag({self._run.path!r})"
            )
        if standing.goes_on is False or (standing.goes_on is None and not self._is_patient):
            return status
        return status if self._until is not None and self._until(status) else None
