"""Signals as inputs.

The handlers only record the signal and make a pipe readable, so a signal is never lost and never
interrupts anything.  They are installed before anything slow: a condor_rm may come at once.
"""

from __future__ import annotations

import contextlib
import os
import signal
from types import FrameType

from condor_pydagman.engine.inputs import DagRemoved, Input, Shutdown

_HANDLED = (signal.SIGUSR1, signal.SIGTERM, signal.SIGQUIT, signal.SIGINT, signal.SIGCHLD)
# A condor_reconfig, and a signal without a meaning: neither changes anything.
_WITHOUT_EFFECT = (signal.SIGHUP, signal.SIGUSR2)
# What HTCondor's daemons ignore: a script of theirs that writes to a closed pipe, or to a file that
# has become too large, gets an error and is not killed.
_IGNORED = (signal.SIGPIPE, signal.SIGXFSZ)


class Signals:
    """Catches what the schedd sends its DAGMan: SIGUSR1 (removed), SIGTERM (held), SIGQUIT.

    SIGINT (Ctrl-C in a DAGMan that runs by hand) is handled as SIGTERM: the run can be resumed.
    (Stock DAGMan is killed by it, with the same effect.)
    """

    def __init__(self) -> None:
        self._reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        self._seen: list[int] = []
        for number in _HANDLED:
            signal.signal(number, self._record_signal)
        for number in _IGNORED:
            signal.signal(number, signal.SIG_IGN)
        for number in _WITHOUT_EFFECT:  # not SIG_IGN, which scripts would inherit
            signal.signal(number, lambda number, frame: None)
        for number in (*_HANDLED, *_WITHOUT_EFFECT):
            # The bindings do not retry an interrupted read: the output of an `include` command
            # would count as empty.
            signal.siginterrupt(number, False)

    def fileno(self) -> int:
        """Readable when a signal has come."""
        return self._reader

    @property
    def have_come(self) -> bool:
        """Whether `read` has inputs to give."""
        return any(number != signal.SIGCHLD for number in self._seen)

    def read(self) -> list[Input]:
        """Inputs for the signals since the last call; SIGCHLD gives none."""
        with contextlib.suppress(BlockingIOError):
            while os.read(self._reader, 4096):
                pass
        seen, self._seen = self._seen, []
        meanings: dict[int, Input] = {
            signal.SIGUSR1: DagRemoved(),
            signal.SIGTERM: Shutdown("Received SIGTERM"),
            signal.SIGQUIT: Shutdown("Received SIGQUIT"),
            signal.SIGINT: Shutdown("Received SIGINT"),
        }
        return [meanings[number] for number in seen if number in meanings]

    def _record_signal(self, number: int, frame: FrameType | None) -> None:
        self._seen.append(number)
