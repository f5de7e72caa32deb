"""Writes `.dagman.out`: every line with the local time in front, as tools parse it."""

from __future__ import annotations

import contextlib
import os
import sys
import time


class OutLog:
    """The debug log of one DAGMan.  A full disk costs lines, never the DAG.

    Args:
        path: the file; it is appended to.
        verbosity: lines above this level are left out (0 always ... 3 normal ... 7 debug).
    """

    def __init__(self, path: str, verbosity: int = 3) -> None:
        self.path = os.path.abspath(path)
        self.verbosity = verbosity
        self.touched: float | None = None
        with contextlib.suppress(OSError):
            self.touched = os.stat(path).st_mtime
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        self._fd = os.open(path, flags, 0o644)
        self._lines: list[str] = []
        self._second = 0
        self._stamp = ""
        self._lost = 0

    def say(self, text: str, level: int = 3) -> None:
        """Add text, a time stamp before each of its lines."""
        if level > self.verbosity:
            return
        now = int(time.time())
        if now != self._second:
            self._second = now
            self._stamp = time.strftime("%m/%d/%y %H:%M:%S ", time.localtime(now))
        for line in text.split("\n"):
            self._lines.append(f"{self._stamp}{line}\n")

    def flush(self) -> None:
        """Write what has been said."""
        if not self._lines:
            return
        data = "".join(self._lines).encode("utf-8", "surrogateescape")
        count = len(self._lines)
        self._lines.clear()
        try:
            os.write(self._fd, data)
        except OSError as error:
            first, self._lost = not self._lost, self._lost + count
            if first:
                with contextlib.suppress(OSError):  # it may be on the same full disk
                    print(f"can't write {self.path}: {error.strerror}", file=sys.stderr, flush=True)
            return
        if self._lost:
            lost, self._lost = self._lost, 0
            self.say(f"({lost} lines are missing here: {self.path} could not be written)", 0)
