"""The nodes log in the loop: reading it, and writing DAGMan's own events into it, in order, however
long the disk stays full.

An event that can't be written is retried, at most once a second; meanwhile DAGMan handles signals
and events.  Later events wait, so that the log has them in the order of the decisions.

Which actions may be performed before an earlier event is on the disk?  All that count only when
their event has been read back: scripts, ends of nodes, the start of the FINAL node, removals by a
TIMEOUT.  Messages, publishing, kills, other removals and writes to other files too: a crash before
the event would leave the same state.  A submission may not: the list of common input files must be
in the log before a job with that list is in the queue, and the engine asks for both at once.  So
submissions wait for pending events.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from condor_pydagman.adapters.joblog import IncompleteEvent
from condor_pydagman.engine.actions import Action
from condor_pydagman.engine.inputs import AppendFailed, Input, LogRepaired
from condor_pydagman.errors import FileError
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records import run_statistics
from condor_pydagman.records.run_statistics import Statistics
from condor_pydagman.timers import (
    APPEND_RETRY_S,
    FIRST_APPEND_RETRY_S,
    LOG_CHECK_S,
    TORN_CHECK_S,
    UNDER_WAY_RETRY_S,
)

if TYPE_CHECKING:
    from condor_pydagman.daemon.ports import Clock, LogWatch, NodesLog, Out

MAX_APPEND_TRIES = 60  # then the nodes log counts as unwritable
MAX_WRITE = 65536  # characters of events that are written at once


class _Step(NamedTuple):
    """An event; those of the same `batch` are written together, those of batch 0 alone."""

    action: Action
    text: str
    batch: int = 0


class NodesLogWriter:
    """Appends to the nodes log, and retries what fails.

    Args:
        inputs: those that the engine has not handled yet; AppendFailed is appended.
    """

    def __init__(self, log: NodesLog, inputs: deque[Input], clock: Clock, out: Out) -> None:
        self._log = log
        self._inputs = inputs
        self._clock = clock
        self._out = out
        self._steps: deque[_Step | Callable[[], None]] = deque()
        self._unwritten: set[Action] = set()
        self._tries = 0
        self._retry_at = 0.0
        self._gathers = False
        self._batch = 0

    def __bool__(self) -> bool:
        """Whether an event or a call is pending."""
        return bool(self._steps)

    def append(self, action: Action, text: str) -> None:
        """Write an event; `text` is its form in the log.

        The engine repeats the action for an event that it has not read back for long; while the
        event is still pending it is not written twice.
        """
        if action in self._unwritten:
            return
        self._unwritten.add(action)
        self._steps.append(_Step(action, text, self._batch if self._gathers else 0))
        if len(self._steps) == 1 and not self._gathers:
            self._work()

    @contextlib.contextmanager
    def gathered(self) -> Iterator[None]:
        """A block whose events are written together at its end: each write waits for the disk."""
        pending = bool(self._steps)
        self._gathers = True
        self._batch += 1
        try:
            yield
        finally:
            self._gathers = False
            if not pending:
                self._work()

    def call_when_written(self, do: Callable[[], None]) -> None:
        """Call `do` when all events so far are on the disk; never, if they can't be written, or
        after `drop_calls`."""
        if self._steps:
            self._steps.append(do)
        else:
            do()

    def drop_calls(self) -> bool:
        """Drop all pending calls; returns whether there were any."""
        events = [step for step in self._steps if isinstance(step, _Step)]
        dropped = len(events) < len(self._steps)
        if dropped:
            self._steps = deque(events)
        return dropped

    def next_deadline(self) -> float | None:
        """When to call `work`, monotonic seconds."""
        return self._retry_at if self._steps else None

    def work(self, now: float) -> None:
        """Retry if that is due."""
        if self._steps and now >= self._retry_at:
            self._work()

    def _work(self) -> None:
        while self._steps:
            step = self._steps[0]
            if isinstance(step, _Step):
                steps = self._next_steps()
                try:
                    self._log.append("".join(one.text for one in steps))
                except IncompleteEvent:
                    self._retry_at = self._clock.monotonic() + UNDER_WAY_RETRY_S
                    return
                except FileError as error:
                    self._retry_later(str(error))
                    return
                if self._tries:
                    self._tries = 0
                    self._inputs.append(LogRepaired())
                for one in steps:
                    self._unwritten.discard(one.action)
                    self._steps.popleft()
            else:
                step()
                self._steps.popleft()

    def _next_steps(self) -> list[_Step]:
        """The events to be written next, up to MAX_WRITE characters."""
        found: list[_Step] = []
        size = 0
        for step in self._steps:
            if not isinstance(step, _Step):
                break
            if found and (step.batch != found[0].batch or not step.batch):
                break
            if found and size + len(step.text) > MAX_WRITE:
                break
            found.append(step)
            size += len(step.text)
        return found

    def _retry_later(self, reason: str) -> None:
        self._out.say(f"ERROR: {reason}; trying again (free some space)", 0)
        self._out.flush()
        wait = min(APPEND_RETRY_S, FIRST_APPEND_RETRY_S * 2**self._tries)
        self._retry_at = self._clock.monotonic() + wait
        self._tries += 1
        if self._tries >= MAX_APPEND_TRIES:
            self._tries = 0
            self._steps.clear()
            self._unwritten.clear()
            self._inputs.append(AppendFailed(reason))


# Reads the nodes log in the loop, and calls what waits for the end of the log.
#
# The schedd's queue can be compared with the log only when the log has been read to its end after
# the schedd's reply: events of jobs that have left the queue are in it by then.


class LogReader:
    """Reads the nodes log into the loop's inputs.

    Args:
        inputs: those that the engine has not handled yet; events are appended.
        scan_interval_s: seconds between reads without inotify.
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
        self.next_check_at = 0.0  # when the log is to be read, monotonic seconds

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
