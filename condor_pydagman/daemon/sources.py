"""The real sources of the loop: signals, the kernel's poll, watches, the sockets.

The handlers of signals only record the signal and make a pipe readable, so a signal is never lost
and never interrupts anything.  They are installed before anything slow, imports among it: a
condor_rm may come at once.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable, Collection
from types import FrameType
from typing import TYPE_CHECKING

from condor_pydagman.engine.inputs import DagRemoved, Input, Shutdown
from condor_pydagman.vocabulary import LEAVES

if TYPE_CHECKING:
    from condor_pydagman.daemon.loop import Sources
    from condor_pydagman.daemon.ports import Source
    from condor_pydagman.daemon.run import DagRun
    from condor_pydagman.daemon.sleep import Memory, Sleeper


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
        meanings: dict[int, Input] = {number: Shutdown(why) for number, why in LEAVES.items()}
        meanings[signal.SIGUSR1] = DagRemoved()
        return [meanings[number] for number in seen if number in meanings]

    def _record_signal(self, number: int, frame: FrameType | None) -> None:
        self._seen.append(number)


class Poll:
    """poll(2), which unlike select(2) takes descriptors above 1023."""

    def __init__(self) -> None:
        self._poll = select.poll()

    def watch(self, source: Source) -> None:
        """Let `source` end the wait from now on, if it has a descriptor."""
        if source.fileno() >= 0:
            self._poll.register(source.fileno(), select.POLLIN)

    def wait(self, seconds: float) -> Collection[int]:
        """Wait up to `seconds`, rounded up to milliseconds; returns the descriptors with news."""
        return {fd for fd, _ in self._poll.poll(int(seconds * 1000 + 0.999))}


def orphaned(parent: int) -> Callable[[], bool]:
    """Tells whether the process that started us, the schedd if we are a job, is gone."""
    return lambda: os.getppid() != parent


def make_sources(run: DagRun, signals: Signals, memory: Memory | None = None) -> Sources:
    """The sources of a run; `memory`: of one that has slept."""
    from condor_pydagman.adapters.inotify import FileWatch, HaltFile
    from condor_pydagman.daemon.clients import Control
    from condor_pydagman.daemon.loop import Sources
    from condor_pydagman.feature_table import NAMES, SERVES_CLIENTS, part

    watch = FileWatch(run.log.path)
    halt_file = HaltFile(run.paths.halt, watch, is_there=memory is not None and memory.halted)
    local = () if memory is None else (memory.descriptors.local,)
    served = SERVES_CLIENTS in NAMES
    control = part(SERVES_CLIENTS, "sockets").Clients(run, *local) if served else Control(run)
    return Sources(Poll(), signals, watch, halt_file, control, _sleeper(run, memory))


def _sleeper(run: DagRun, memory: Memory | None) -> Sleeper | None:
    if not (run.config.sleep_after and run.job.cluster):
        return None
    from condor_pydagman.daemon.sleep import Sleeper

    used = time.process_time()
    if memory is None:
        return Sleeper((), used)
    return Sleeper((*memory.wakes, time.monotonic()), used - memory.cpu_s)
