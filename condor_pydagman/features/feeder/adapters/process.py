"""Runs the program of a FEEDER, and reads what it writes: bounded in time and size.

Nothing here waits.  The end of the program, and what it writes, are looked for at deadlines that
the loop asks for: soon after something has happened, four times a second when nothing does.  What
it leaves running when it ends is left alone, as of a script, and its output is not waited for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import IO, TYPE_CHECKING

from condor_pydagman.adapters.user_programs import kill_program, start_program
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import FEEDER_NO_MORE

if TYPE_CHECKING:
    import subprocess

FIRST_POLL_S = 0.005  # before the program's output is looked at again; it grows while there is none
MAX_POLL_S = 0.25  # the same, at most
READ_BYTES = 65536
STEP_BYTES = 1 << 20  # that are read before the loop has its turn
MAX_TOLD_BYTES = 2000  # of the standard error, that are told if the program fails

_killed: list[subprocess.Popen[bytes]] = []  # that have not ended yet


class Output(NamedTuple):
    """What a program has written, how it has ended, and what is wrong with that ('': nothing)."""

    text: str
    status: int
    error: str = ""


class FeederProcess:
    """A program that runs.

    Args:
        directory: where; '' for the working directory.
        more: variables of its environment.
        timeout_s: seconds after which it is killed.
        max_bytes: of its standard output; it is killed when it writes more.
        clock: monotonic seconds.

    Raises:
        OSError, ValueError: it can't be started.
    """

    def __init__(
        self,
        words: Sequence[str],
        directory: str,
        more: Mapping[str, str],
        *,
        timeout_s: float,
        max_bytes: int,
        clock: Callable[[], float],
    ) -> None:
        import subprocess

        self._program = words[0]
        self._process = start_program(words, directory, more, subprocess.PIPE, subprocess.PIPE)
        stdout, stderr = self._process.stdout, self._process.stderr
        assert stdout is not None and stderr is not None
        self._stdout, self._stderr = stdout, stderr
        for stream in (stdout, stderr):
            os.set_blocking(stream.fileno(), False)
        self._clock = clock
        self._timeout_s, self._max_bytes = timeout_s, max_bytes
        self._killed_at = clock() + timeout_s
        self._poll_s = FIRST_POLL_S
        self._next_at = clock() + FIRST_POLL_S
        self._text = bytearray()
        self._complaint = b""

    def next_deadline(self) -> float:
        """When to call `work`, monotonic seconds."""
        return min(self._next_at, self._killed_at)

    def work(self, now: float) -> Output | None:
        """Read what is there; returns all of it when the program has ended, or was killed."""
        if now < self.next_deadline():
            return None
        over = self._process.poll() is not None  # first: then all that it wrote is there
        before = len(self._text)
        said = _some(self._stderr)
        self._complaint = (self._complaint + said)[-MAX_TOLD_BYTES:]
        whole = self._read()
        if len(self._text) > self._max_bytes:
            most = f"{self._max_bytes:,} bytes (PYDAGMAN_MAX_PIECE_MB)"
            return self._end(f"{self._program} was killed: it has written more than {most}")
        if over and whole:
            return self._end(self._wrong())
        if now >= self._killed_at:
            why = f"it has not ended after {self._timeout_s:.0f} s (TIMEOUT)"
            return self._end(f"{self._program} was killed: {why}")
        news = over or said or len(self._text) > before
        self._poll_s = FIRST_POLL_S if news else min(1.5 * self._poll_s, MAX_POLL_S)
        self._next_at = now + (0.0 if not whole else self._poll_s)
        return None

    def kill(self) -> None:
        """Kill it with its process group; it is not to be asked for anything any more."""
        kill_program(self._process)
        _killed[:] = [one for one in (*_killed, self._process) if one.poll() is None]
        self._close()

    def _read(self) -> bool:
        """Read some of its standard output; returns whether that was all that is there."""
        until = min(len(self._text) + STEP_BYTES, self._max_bytes + 1)
        while len(self._text) < until:
            data = _some(self._stdout)
            if not data:
                return True
            self._text += data
        return False

    def _end(self, error: str) -> Output:
        status = self._process.returncode
        self.kill() if status is None else self._close()
        text = "" if error else self._text.decode("utf-8", "surrogateescape")
        return Output(text, -1 if status is None else status, error)

    def _close(self) -> None:
        self._stdout.close()
        self._stderr.close()

    def _wrong(self) -> str:
        status = self._process.returncode
        if status not in (0, FEEDER_NO_MORE):
            how = f"ended with exit code {status}" if status >= 0 else f"died on signal {-status}"
            *before, last = self._complaint.decode("utf-8", "replace").strip().split("\n")
            said = f": {last}" if last else ""
            return "\n".join((f"{self._program} {how}{said}", *before))
        if b"\0" in self._text:
            return f"{self._program} has written no text: there is a byte 0 in it"
        return ""


def _some(stream: IO[bytes]) -> bytes:
    """What can be read at once; b'' if there is nothing."""
    try:
        return os.read(stream.fileno(), READ_BYTES)
    except BlockingIOError:
        return b""
