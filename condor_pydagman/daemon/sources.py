"""The real sources of the loop: the kernel's poll, signals, watches, the command socket."""

from __future__ import annotations

import select
from collections.abc import Collection
from typing import TYPE_CHECKING

from condor_pydagman.adapters.halt_file import HaltFile
from condor_pydagman.adapters.inotify import FileWatch
from condor_pydagman.daemon.clients import Clients
from condor_pydagman.daemon.loop import Sources
from condor_pydagman.daemon.run import DagRun
from condor_pydagman.daemon.signals import Signals

if TYPE_CHECKING:
    from condor_pydagman.daemon.ports import Source


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


def make_sources(run: DagRun, signals: Signals) -> Sources:
    """The sources of a run."""
    watch, halt_file = FileWatch(run.log.path), HaltFile(run.paths.halt)
    return Sources(Poll(), signals, watch, halt_file, Clients(run))
