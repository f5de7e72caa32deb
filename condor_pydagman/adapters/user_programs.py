"""How programs of the user are started and killed: no shell, a process group each."""

from __future__ import annotations

import contextlib
import errno
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
    stdout: IO[bytes] | int | None,
    stderr: IO[bytes] | int | None,
) -> subprocess.Popen[bytes]:
    """Start a program in a directory ('' for DAGMan's own), with `more` variables.  What it writes
    to a stream of None is lost.

    Raises:
        OSError, ValueError: it can't be started.
    """
    import subprocess

    path, nowhere = program_path(words[0]), subprocess.DEVNULL
    try:
        return subprocess.Popen(  # noqa: S603 - it is the user's own
            words,
            executable=path,
            cwd=directory or None,
            env={**_environment(), **more},
            stdin=nowhere,
            stdout=nowhere if stdout is None else stdout,
            stderr=nowhere if stderr is None else stderr,
            start_new_session=True,
            restore_signals=False,  # SIGPIPE and SIGXFSZ stay ignored, as daemons have them
        )
    except OSError as error:
        error.strerror = f"{error.strerror}{_meaning(error, os.path.join(directory, words[0]))}"
        raise


def _meaning(error: OSError, path: str) -> str:
    """What it means for a program that is there; '' if that is plain."""
    if error.errno == errno.ENOEXEC:
        return " (it is no program, and does not begin with #!INTERPRETER)"
    if error.errno == errno.EACCES and os.path.isfile(path) and not os.access(path, os.X_OK):
        return " (it is not executable: use chmod +x)"
    if error.errno != errno.ENOENT or not os.path.isfile(path):
        return ""
    first = ""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        first = file.readline(200).decode("utf-8", "replace")
    named = f" of its first line, {first.rstrip()}," * first.startswith("#!")
    windows = "; the line ends in CR LF: save the file with LF" * first.endswith("\r\n")
    return f" (the interpreter{named} is not there{windows})"


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
