"""The journal file of a DATA node: see `rules.journal_text`."""

from __future__ import annotations

import os
import threading

from condor_pydagman.adapters import files
from condor_pydagman.data_requests.requests import Allocate, Placement, Transfer
from condor_pydagman.placement.rules.journal_text import (
    Done,
    FileId,
    complete_line,
    done_line,
    named_line,
    read_done,
    read_named,
)

MAX_BYTES = 256 * 1024**2  # of a journal that is read


def is_still_done(placement: Placement, size: int) -> bool:
    """Whether a placement that was done need not be done again.

    A local file may be gone, and an allocation may have ended; to allocate once more does nothing
    if it has not.

    Args:
        size: that was noted, -1 if unknown.
    """
    if not isinstance(placement, Transfer):
        return not isinstance(placement, Allocate)
    source, destination = placement[:2]
    if not destination.is_local:
        return True
    path = destination.path + source.name * destination.is_directory
    try:
        return size in (-1, os.stat(path).st_size)
    except OSError:
        return False


class NoJournal:
    """What is known without a journal, which is nothing."""

    def __init__(self) -> None:
        # sizes of the files of placements that are done, by their keys
        self.done: dict[str, int] = {}
        # files that were about to get their names, by the keys of their placements
        self.named: dict[str, FileId] = {}

    def name(self, key: str, file: FileId) -> None:
        """Note that a file is about to get its name."""


class Journal(NoJournal):
    """Notes what is done, for the next worker of the node; used by several threads and processes.

    Args:
        path: of the file, in a directory of the user's alone.
        job: id of the worker's HTCondor job, '' if it is none.

    Raises:
        OSError: it can't be opened.
    """

    def __init__(self, path: str, job: str = "") -> None:
        super().__init__()
        self._job = job
        self._lock = threading.Lock()
        try:
            self._fd = files.open_to_append(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            raise OSError(error.errno, error.strerror, path) from None
        with open(self._fd, "rb", closefd=False) as file:
            text = file.read(MAX_BYTES).decode("utf-8", "replace")
        self.done, self.named = read_done(text, job), read_named(text, job)
        self._torn = bool(text) and not text.endswith("\n")

    def add(self, done: Done) -> None:
        """Note a placement that is done; what can't be written is done again later."""
        self._write(done_line(done))

    def name(self, key: str, file: FileId) -> None:
        """See `NoJournal`."""
        self._write(named_line(key, file))

    def complete(self) -> None:
        """Note that all are done."""
        self._write(complete_line(self._job))

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)

    def _write(self, line: str) -> None:
        with self._lock:
            data = ("\n" * self._torn + line).encode()
            try:
                self._torn = os.write(self._fd, data) < len(data)
            except OSError:
                self._torn = True
