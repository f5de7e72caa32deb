"""How programs of the user are started and killed: no shell, a process group each."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import IO, TYPE_CHECKING

from condor_pydagman.adapters.child import Child
from condor_pydagman.vocabulary import SECRETS

if TYPE_CHECKING:
    import subprocess


def start_program(
    words: Sequence[str],
    directory: str,
    more: Mapping[str, str],
    stdout: IO[bytes] | int,
    stderr: IO[bytes] | int,
) -> subprocess.Popen[bytes]:
    """Start a program in a directory ('' for DAGMan's own), with `more` variables.

    Raises:
        OSError, ValueError: it can't be started.
    """
    import subprocess

    return subprocess.Popen(  # noqa: S603 - it is the user's own
        words,
        executable=program_path(words[0]),
        cwd=directory or None,
        env={**_environment(), **more},
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
        restore_signals=False,  # SIGPIPE and SIGXFSZ stay ignored, as daemons have them
    )


def program_path(program: str) -> str:
    """Where a program of the user is: in the directory in which it is started, never in PATH."""
    return program if "/" in program else os.path.join(".", program)


def kill_program(process: subprocess.Popen[bytes]) -> None:
    """Kill a program and its process group."""
    if process.returncode is not None:
        return  # its id may be that of another process by now
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.poll()  # it may have ended before


def _environment() -> dict[str, str]:
    """DAGMan's environment without the secret, which a program might print where others can read
    it.  One that controls the DAG gets the secret from the schedd, as any client of the owner."""
    return {name: value for name, value in os.environ.items() if name not in SECRETS}


FIRST_RETRY_S = 1.0
MAX_RETRY_S = 30.0


class ProcessShortage:
    """Starts a child, or says when to try again.

    Args:
        purpose: of the child, for messages.
        clock: monotonic seconds.
        warn: told of each try that fails.

    Attributes:
        retry_at: before that no child is started, monotonic seconds; None if the last one was.
    """

    def __init__(
        self, purpose: str, clock: Callable[[], float], warn: Callable[[str], None]
    ) -> None:
        self.retry_at: float | None = None
        self._purpose = purpose
        self._clock = clock
        self._warn = warn
        self._pause_s = FIRST_RETRY_S

    def started(self, start: Callable[[], Child]) -> Child | None:
        """What `start` returns; None if it raises an OSError, or if it is too early for it."""
        now = self._clock()
        if self.retry_at is not None and now < self.retry_at:
            return None
        try:
            child = start()
        except OSError as error:
            pause_s = self._pause_s
            self.retry_at, self._pause_s = now + pause_s, min(2 * pause_s, MAX_RETRY_S)
            what = f"can't start a process to {self._purpose}: {error.strerror}"
            self._warn(f"{what}; next try in {pause_s:.0f} s")
            return None
        self.retry_at, self._pause_s = None, FIRST_RETRY_S
        return child
