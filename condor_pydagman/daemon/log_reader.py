"""Reads the nodes log in the loop, and calls what waits for the end of the log.

The schedd's queue can be compared with the log only when the log has been read to its end after the
schedd's reply: events of jobs that have left the queue are in it by then.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from condor_pydagman.engine.inputs import Input
from condor_pydagman.records import run_statistics
from condor_pydagman.records.run_statistics import Statistics

if TYPE_CHECKING:
    from condor_pydagman.daemon.ports import Clock, LogWatch, NodesLog

LOG_CHECK_S = 60.0  # seconds between reads of the log even with inotify
TORN_CHECK_S = 0.2  # seconds before a half-written event is read again


class LogReader:
    """Reads the nodes log into the loop's inputs.

    Args:
        inputs: those that the engine has not handled yet; events are appended.
        scan_interval_s: seconds between reads without inotify.

    Attributes:
        next_check_at: when the log is to be read, monotonic seconds.
    """

    def __init__(
        self,
        log: NodesLog,
        watch: LogWatch,
        inputs: deque[Input],
        clock: Clock,
        statistics: Statistics,
        scan_interval_s: float,
    ) -> None:
        self._log = log
        self._watch = watch
        self._inputs = inputs
        self._clock = clock
        self._statistics = statistics
        self._check_interval_s = LOG_CHECK_S if watch.fileno() >= 0 else scan_interval_s
        self._at_end: list[Callable[[], None]] = []
        self.next_check_at = 0.0

    @property
    def has_waiting_calls(self) -> bool:
        """Whether a call waits for the end of the log."""
        return bool(self._at_end)

    def call_at_end(self, then: Callable[[], None]) -> None:
        """Call `then` once the log has been read to its end, from now on."""
        self._at_end.append(then)
        self.next_check_at = 0.0

    def gather(self, ready: bool, now: float) -> None:
        """Read if the watch is `ready`, if the last read left events, or if a read is due."""
        if ready:
            self._watch.clear()
            self._read()
        elif self._log.more or now >= self.next_check_at:
            self._read()

    def _read(self) -> None:
        log, clock = self._log, self._clock
        begun = clock.monotonic()
        self._inputs.extend(log.read())
        now = clock.monotonic()
        self._statistics.add(run_statistics.LOG, now - begun)
        torn = log.torn
        self.next_check_at = now + (TORN_CHECK_S if torn else self._check_interval_s)
        if self._at_end and not (torn or log.more):
            waiting, self._at_end = self._at_end, []
            for then in waiting:
                then()
