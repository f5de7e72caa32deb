"""The halt file: while it is there, DAGMan starts nothing (manual: "Suspending a Running DAG").

Its directory is watched by inotify; where that is not possible, the caller checks at intervals.
"""

from __future__ import annotations

import os

from condor_pydagman.adapters.inotify import DirectoryWatch


class HaltFile:
    """Reports when the halt file has appeared or disappeared.

    Attributes:
        path: its name.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._there = False
        self._watch = DirectoryWatch(os.path.dirname(path) or ".")

    def fileno(self) -> int:
        """Descriptor to poll for reading; -1 if inotify can't be used."""
        return self._watch.fileno()

    def look(self) -> bool | None:
        """True if the file has appeared since the last call, False if it has disappeared, else
        None."""
        self._watch.clear()
        there = os.access(self.path, os.R_OK)
        if there == self._there:
            return None
        self._there = there
        return there
