"""When to try again to start a process that the machine does not have: too many processes, too many
open files, no memory.

What the process was to do is not refused for that: it would count as a failure of a node, or as a
history without the jobs that it has.
"""

from __future__ import annotations

from collections.abc import Callable

from condor_pydagman.adapters.child import Child

FIRST_RETRY_S = 1.0
MAX_RETRY_S = 30.0


class ProcessShortage:
    """Starts a child, or says when to try again.

    Args:
        purpose: of the child, for messages.
        clock: monotonic seconds.
        warn: told of each try that fails.

    Attributes:
        retry_at: before that no child is started, monotonic seconds; None if the last one was.
    """

    def __init__(
        self, purpose: str, clock: Callable[[], float], warn: Callable[[str], None]
    ) -> None:
        self.retry_at: float | None = None
        self._purpose = purpose
        self._clock = clock
        self._warn = warn
        self._pause_s = FIRST_RETRY_S

    def started(self, start: Callable[[], Child]) -> Child | None:
        """What `start` returns; None if it raises an OSError, or if it is too early for it."""
        now = self._clock()
        if self.retry_at is not None and now < self.retry_at:
            return None
        try:
            child = start()
        except OSError as error:
            pause_s = self._pause_s
            self.retry_at, self._pause_s = now + pause_s, min(2 * pause_s, MAX_RETRY_S)
            what = f"can't start a process to {self._purpose}: {error.strerror}"
            self._warn(f"{what}; next try in {pause_s:.0f} s")
            return None
        self.retry_at, self._pause_s = None, FIRST_RETRY_S
        return child
