"""Writes `.dagman.out`; each line begins with the local time, in the form that tools parse."""

from __future__ import annotations

import contextlib
import os
import sys
import time

from condor_pydagman.adapters.files import open_to_append
from condor_pydagman.printable import escaped_line
from condor_pydagman.records.log_lines import DEFAULT_LEVEL, Header, level_of
from condor_pydagman.timers import FILE_CHECK_S

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND

DEFAULT_LOG = "default.dagman.out"  # of a DAGMan that somebody starts by hand


def log_path() -> str:
    """Path of `.dagman.out`, from the environment that condor_submit_dag sets."""
    return os.path.abspath(os.environ.get("_CONDOR_DAGMAN_LOG") or DEFAULT_LOG)


class OutLog:
    """The debug log of one DAGMan.  On a full disk lines are lost; the DAG goes on.

    Lines are kept until `flush`.  A file that was renamed or deleted is made again, as stock does,
    so that tools can rotate it.  DAGMan itself never rotates it (nor does stock, whatever
    MAX_DAGMAN_LOG says).

    Args:
        path: the file; it is appended to.
        verbosity: lines above this level are left out (0 always ... 3 normal ... 7 debug).

    Raises:
        OSError: the file can't be opened.
    """

    def __init__(self, path: str, verbosity: int = DEFAULT_LEVEL) -> None:
        self.path = os.path.abspath(path)
        self.verbosity = verbosity
        self.header = Header()  # the beginning of each line from now on
        self.tests = False  # whether lines of category D_TEST are written
        self._cached: bool | None = (
            None  # whether there was a line since `begin_cached`; None outside
        )
        # when the file was last written to, seconds since the epoch; None for a new one
        self.touched: float | None = None
        with contextlib.suppress(OSError):
            self.touched = os.stat(path).st_mtime
        self._fd = open_to_append(self.path, _FLAGS)
        self._lines: list[str] = []
        self._second = 0
        self._stamp = ""
        self._lost = 0
        self._next_check_at = 0.0

    def say(self, text: str, level: int = DEFAULT_LEVEL) -> None:
        """Add text, with a time stamp before each of its lines.  Control characters, which names
        and reasons may have, are shown as codes: they could fake other lines.

        Below the default verbosity a line is also written if stock writes it at that level.
        """
        plain = text.isprintable()  # so it is one line
        if plain and level <= self.verbosity and self._cached is not False:
            if int(time.time()) != self._second:
                self._new_stamp()
            self._lines.append(f"{self._stamp}{text}\n")
            return
        if level > self.verbosity:
            if self.verbosity >= DEFAULT_LEVEL:
                return
            lines = [line for line in text.split("\n") if level_of(line) <= self.verbosity]
        else:
            lines = text.split("\n")
        if self._cached is False and lines:
            lines, self._cached = ["LOG LINE CACHE: Begin Flush", *lines], True
        if int(time.time()) != self._second:
            self._new_stamp()
        if not plain:
            lines = [escaped_line(line) for line in lines]
        for line in lines:
            self._lines.append(f"{self._stamp}{line}\n")

    def fileno(self) -> int:
        """The file's descriptor."""
        return self._fd

    def say_test(self, text: str, level: int = 0) -> None:
        """Add a line of category D_TEST, if these are written; stock has them for its own tests."""
        if not self.tests or level > self.verbosity:
            return
        first = len(self._lines)
        self.say(text, 0)
        if self.header.category:
            self._lines[first:] = [
                line.replace("(D_ALWAYS)", "(D_TEST)", 1) for line in self._lines[first:]
            ]

    def begin_cached(self) -> None:
        """From here on stock caches lines (DAGMAN_DEBUG_CACHE_ENABLE), and marks where they begin
        when they are written.  Here lines are written as usual, with the same mark."""
        self._cached = False

    def end_cached(self) -> None:
        """Write stock's mark for the end of cached lines, if there were any."""
        if self._cached:
            self.say("LOG LINE CACHE: End Flush", 0)
        self._cached = None

    def set_header(self, header: Header) -> None:
        """Set the beginning of each line from now on."""
        self.header = header
        self._second = 0

    def _new_stamp(self) -> None:
        """Compute the beginning of lines in this second; with some headers, of this line."""
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
        """Write the lines that have been added."""
        if not self._lines:
            return
        data = "".join(self._lines).encode("utf-8", "surrogateescape")
        count = len(self._lines)
        self._lines.clear()
        try:
            self._reopen_if_replaced()
            while data:
                data = data[os.write(self._fd, data) :]
        except OSError as error:
            first, self._lost = not self._lost, self._lost + count
            if first:
                with contextlib.suppress(OSError):  # it may be on the same full disk
                    path = escaped_line(self.path)
                    print(f"can't write {path}: {error.strerror}", file=sys.stderr, flush=True)
            return
        if self._lost:
            lost, self._lost = self._lost, 0
            self.say(f"({lost} lines are missing here: {self.path} could not be written)", 0)

    def close(self) -> None:
        """Write what is left and close the file; the object is of no use any more."""
        self.flush()
        os.close(self._fd)

    def _reopen_if_replaced(self) -> None:
        """Make the file again if it was renamed or deleted."""
        now = time.monotonic()
        if now < self._next_check_at:
            return
        self._next_check_at = now + FILE_CHECK_S
        with contextlib.suppress(OSError):
            if os.path.samestat(os.stat(self.path), os.fstat(self._fd)):
                return
            if os.path.isdir(self.path):
                return
        with contextlib.suppress(OSError):  # the old descriptor stays in use
            new = open_to_append(self.path, _FLAGS)
            os.dup2(new, self._fd, inheritable=False)
            os.close(new)


def _free_descriptor() -> int:
    """The lowest free descriptor; it grows if descriptors leak."""
    try:
        descriptor = os.open(os.devnull, os.O_RDONLY)
    except OSError:
        return -1
    os.close(descriptor)
    return descriptor
