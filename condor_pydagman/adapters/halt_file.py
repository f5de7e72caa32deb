"""The halt file: while it is there, DAGMan starts nothing (manual: "Suspending a Running DAG").

The kernel tells of names that come and go in its directory; where it can't, the caller looks now
and then.
"""

from __future__ import annotations

import os

from condor_pydagman.adapters.inotify import DirectoryWatch


class HaltFile:
    """Tells when the halt file has appeared or vanished.

    Attributes:
        path: its name.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._there = False
        self._watch = DirectoryWatch(os.path.dirname(path) or ".")

    def fileno(self) -> int:
        """Descriptor to poll for reading; -1 if the kernel can't tell."""
        return self._watch.fileno()

    def look(self) -> bool | None:
        """True if the file has appeared since the last look, False if it is gone, else None."""
        self._watch.clear()
        there = os.access(self.path, os.R_OK)
        if there == self._there:
            return None
        self._there = there
        return there
