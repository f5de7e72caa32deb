"""How programs of the user are started and killed: no shell, a process group each."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING

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
