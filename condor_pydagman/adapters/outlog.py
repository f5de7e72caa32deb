"""Writes `.dagman.out`: every line with the local time in front, as tools parse it."""

from __future__ import annotations

import contextlib
import os
import sys
import time

from condor_pydagman.adapters.own_files import open_to_add
from condor_pydagman.printable import without_tricks
from condor_pydagman.records.log_lines import DEFAULT_LEVEL, Header, level_of

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND
LOOK_EVERY = 1.0  # seconds between looks whether the file is still there


class OutLog:
    """The debug log of one DAGMan.  A full disk costs lines, never the DAG.

    Lines are kept until `flush`.  A file that somebody takes away is made anew, as stock does, so
    that tools which rotate logs do no harm.  DAGMan itself never rotates it (nor does stock,
    whatever MAX_DAGMAN_LOG says).

    Args:
        path: the file; it is appended to.
        verbosity: lines above this level are left out (0 always ... 3 normal ... 7 debug).

    Attributes:
        header: what stands before the lines that are said from now on.
        tests: whether lines of D_TEST are wanted.
        touched: when the file was last written to, seconds since the epoch; None for a new one.

    Raises:
        OSError: the file can't be opened.
    """

    def __init__(self, path: str, verbosity: int = DEFAULT_LEVEL) -> None:
        self.path = os.path.abspath(path)
        self.verbosity = verbosity
        self.header = Header()
        self.tests = False
        self._cached: bool | None = None  # whether a line was said while stock keeps them
        self.touched: float | None = None
        with contextlib.suppress(OSError):
            self.touched = os.stat(path).st_mtime
        self._fd = open_to_add(self.path, _FLAGS)
        self._lines: list[str] = []
        self._second = 0
        self._stamp = ""
        self._lost = 0
        self._next_look = 0.0

    def say(self, text: str, level: int = DEFAULT_LEVEL) -> None:
        """Add text, a time stamp before each of its lines.  What would make a terminal or a reader
        see other lines than these (names and reasons come from anywhere) is shown as its code.

        Below the default verbosity a line is also said if stock says it at that level.
        """
        if level > self.verbosity:
            if self.verbosity >= DEFAULT_LEVEL:
                return
            lines = [line for line in text.split("\n") if level_of(line) <= self.verbosity]
        else:
            lines = text.split("\n")
        if self._cached is False and lines:
            lines, self._cached = ["LOG LINE CACHE: Begin Flush", *lines], True
        now = int(time.time())
        if now != self._second:
            self._new_stamp()
        if not text.isprintable():
            lines = [without_tricks(line) for line in lines]
        for line in lines:
            self._lines.append(f"{self._stamp}{line}\n")

    def say_test(self, text: str, level: int = 0) -> None:
        """A line of the kind D_TEST, if these are wanted; stock has them for its own tests."""
        if not self.tests or level > self.verbosity:
            return
        first = len(self._lines)
        self.say(text, 0)
        if self.header.category:
            self._lines[first:] = [
                line.replace("(D_ALWAYS)", "(D_TEST)", 1) for line in self._lines[first:]
            ]

    def begin_cached(self) -> None:
        """From here on stock keeps lines in memory (DAGMAN_DEBUG_CACHE_ENABLE), and marks where
        they begin once they are written.  Ours are written as always, in large pieces."""
        self._cached = False

    def end_cached(self) -> None:
        """Mark where they end, if there were any."""
        if self._cached:
            self.say("LOG LINE CACHE: End Flush", 0)
        self._cached = None

    def set_header(self, header: Header) -> None:
        """From now on lines begin so."""
        self.header = header
        self._second = 0

    def _new_stamp(self) -> None:
        """What stands before the lines of this second; with some headers, of this line."""
        header, now = self.header, time.time()
        stamp = str(int(now))
        if header.time_format:
            stamp = time.strftime(header.time_format, time.localtime(now))
        if header.milliseconds:
            stamp += f".{int(now * 1000) % 1000:03}"
        free = _free_descriptor() if header.descriptor else 0
        self._stamp = f"{stamp} {header.words(os.getpid(), free)}"
        self._second = 0 if header.milliseconds or header.descriptor else int(now)

    def flush(self) -> None:
        """Write what has been said."""
        if not self._lines:
            return
        data = "".join(self._lines).encode("utf-8", "surrogateescape")
        count = len(self._lines)
        self._lines.clear()
        try:
            self._come_back()
            while data:
                data = data[os.write(self._fd, data) :]
        except OSError as error:
            first, self._lost = not self._lost, self._lost + count
            if first:
                with contextlib.suppress(OSError):  # it may be on the same full disk
                    print(f"can't write {self.path}: {error.strerror}", file=sys.stderr, flush=True)
            return
        if self._lost:
            lost, self._lost = self._lost, 0
            self.say(f"({lost} lines are missing here: {self.path} could not be written)", 0)

    def _come_back(self) -> None:
        """Make the file anew if it has been taken away."""
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + LOOK_EVERY
        with contextlib.suppress(OSError):
            if os.path.samestat(os.stat(self.path), os.fstat(self._fd)):
                return
            if os.path.isdir(self.path):
                return
        with contextlib.suppress(OSError):  # the old one will do while no new one can be made
            new = open_to_add(self.path, _FLAGS)
            os.dup2(new, self._fd, inheritable=False)
            os.close(new)


def _free_descriptor() -> int:
    """The lowest number that is free; its growth tells of a leak."""
    try:
        descriptor = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return -1
    os.close(descriptor)
    return descriptor
