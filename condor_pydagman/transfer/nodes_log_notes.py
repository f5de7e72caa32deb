"""Adds notes of placements to the nodes log of the DAG, between the events of HTCondor.

Every note is written by one write at the end of the file, as all writers of that log do.  The notes
decide nothing, so one that can't be written is lost, and that is said once.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from condor_pydagman.adapters.files import open_to_append
from condor_pydagman.records.own_events import stamp
from condor_pydagman.records.placement_event import PlacementEvent, event_text

MAX_WAIT_S = 3.0  # for another writer in the middle of an event
_POLL_S = 0.02
_END = b"...\n"


class NodesLogNotes:
    """Writes notes in batches.

    Args:
        path: of the nodes log, '' for none.
        say: adds a line to the worker's log.
    """

    def __init__(self, path: str, say: Callable[[str], None]) -> None:
        self._path = path
        self._say = say
        self._texts: list[str] = []
        self._failed = False

    def add(self, event: PlacementEvent) -> None:
        """One more note, written at the next `flush`."""
        if self._path:
            self._texts.append(event_text(stamp(time.localtime()), event))

    def flush(self) -> None:
        """Write all that were added."""
        texts, self._texts = self._texts, []
        if not texts:
            return
        try:
            self._append("".join(texts).encode("utf-8", "surrogateescape"))
        except OSError as error:
            if not self._failed:
                self._say(f"can't write to {self._path}: {error.strerror or error}")
            self._failed = True

    def _append(self, data: bytes) -> None:
        # No O_CREAT: a log that is gone is not for a worker to make.
        fd = open_to_append(self._path, os.O_RDWR | os.O_APPEND)
        try:
            self._wait_for_end_of_event(fd)
            if os.write(fd, data) < len(data):
                os.write(fd, b"\n" + _END)
        finally:
            os.close(fd)

    def _wait_for_end_of_event(self, fd: int) -> None:
        until = time.monotonic() + MAX_WAIT_S
        while True:
            size = os.fstat(fd).st_size
            end = os.pread(fd, len(_END), max(size - len(_END), 0))
            if not size or end == _END or time.monotonic() > until:
                return
            time.sleep(_POLL_S)
