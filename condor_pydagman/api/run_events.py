"""The events of a run, as they happen."""

from __future__ import annotations

from functools import partial

from condor_pydagman.api.run_end import LOOK_S, RunEnd
from condor_pydagman.api.run_identity import RunIdentity
from condor_pydagman.errors import FileError
from condor_pydagman.follow.dag_events import DagEvent
from condor_pydagman.follow.follower import unknown_plan
from condor_pydagman.monitor.dag_monitor import DagMonitor
from condor_pydagman.monitor.plan import known_plan


class RunEvents:
    """Reads the events of a run, a part at a time; who calls it waits in between.

    Args:
        run: which run.
        since: `id` of the last event that is known already; '' for none.
        follow: whether what happens next is wanted, until the end of the run.

    Attributes:
        over: whether nothing more will come.

    Raises:
        FileError: its files are gone, or of a later run.
        PoolError: a cluster was given, and the schedd does not answer.
        UsageError: `since` is not the id of an event.
    """

    def __init__(self, run: RunIdentity, since: str = "", *, follow: bool = True) -> None:
        self._found = found = run.found()
        self._monitor = DagMonitor(found, since=since, read_plan=partial(known_plan, found))
        self._last, self._knows_dag = since, True
        self._run, self._follow = run, follow
        self._end = RunEnd(run)
        self._has_ended = self.over = False
        self.pause = 0.0  # how long to wait before the next part, seconds

    def read(self) -> list[DagEvent]:
        """The next part; it may be empty.

        Raises:
            FileError: the files of the DAG were removed meanwhile.
        """
        events = self._monitor.poll()
        if self._knows_dag and self._monitor.doubts:
            # The DAG file has changed since, and would have events of removed nodes passed over:
            # the same part as the logs alone tell it.
            self._knows_dag = False
            self._monitor = DagMonitor(self._found, since=self._last, read_plan=unknown_plan)
            events = self._monitor.poll()
        self._last = events[-1].id if events else self._last
        self.pause = 0.0 if self._monitor.more else LOOK_S
        if not self._monitor.more:
            self.over = not self._follow or self._monitor.over or self._has_ended
            self._has_ended = not self.over and self._is_at_end()
        return events

    def _is_at_end(self) -> bool:
        """Whether the run is over though its log does not say so: the job was removed, perhaps.
        What was written last is read after that."""
        if not self._run.is_there():
            raise FileError(
                f"the files of {self._run.path} were removed or moved while its events were read"
            )
        return self._end.look() is not None
