"""Signals as inputs.

The handlers only set a flag and make a pipe readable, so a signal is never lost and never
interrupts anything.  They are installed before anything slow: a condor_rm may come at once.
"""

from __future__ import annotations

import contextlib
import os
import signal
from types import FrameType

from condor_pydagman.engine.inputs import Input, Leave, Stop

_TOLD = (signal.SIGUSR1, signal.SIGTERM, signal.SIGQUIT, signal.SIGINT, signal.SIGCHLD)
# A condor_reconfig, and what nobody should send: neither changes anything.
_UNHEARD = (signal.SIGHUP, signal.SIGUSR2)
# What HTCondor's daemons ignore: a script of theirs that writes to a closed pipe, or to a file that
# has become too large, gets an error and is not killed.
_IGNORED = (signal.SIGPIPE, signal.SIGXFSZ)


class Signals:
    """Catches what the schedd sends its DAGMan: SIGUSR1 (removed), SIGTERM (held), SIGQUIT.

    SIGINT, from the keyboard of somebody who runs it by hand, is as SIGTERM: the run can be gone
    on with.  (Stock DAGMan is killed by it, with the same effect.)
    """

    def __init__(self) -> None:
        self._reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        self._seen: list[int] = []
        for number in _TOLD:
            signal.signal(number, self._note)
        for number in _IGNORED:
            signal.signal(number, signal.SIG_IGN)
        for number in _UNHEARD:  # not SIG_IGN, which scripts would inherit
            signal.signal(number, lambda number, frame: None)
        for number in (*_TOLD, *_UNHEARD):
            # The bindings take an interrupted read for news: an `include` command that can't be
            # run would count as one that says nothing.
            signal.siginterrupt(number, False)

    def fileno(self) -> int:
        """Readable when a signal has come."""
        return self._reader

    def take(self) -> list[Input]:
        """What the signals since the last call mean; ends of children are not among it."""
        with contextlib.suppress(BlockingIOError):
            while os.read(self._reader, 4096):
                pass
        seen, self._seen = self._seen, []
        meanings: dict[int, Input] = {
            signal.SIGUSR1: Stop(),
            signal.SIGTERM: Leave("Received SIGTERM"),
            signal.SIGQUIT: Leave("Received SIGQUIT"),
            signal.SIGINT: Leave("Received SIGINT"),
        }
        return [meanings[number] for number in seen if number in meanings]

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._seen.append(number)
