"""Runs PRE, POST and HOLD scripts: no shell, a process group each, output kept only for DEBUG."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import time
from typing import IO, TYPE_CHECKING, NamedTuple

from condor_pydagman.adapters.files import append_lines
from condor_pydagman.engine.actions import RunScript
from condor_pydagman.engine.inputs import ScriptEnded
from condor_pydagman.errors import FileError
from condor_pydagman.graph.model import Script
from condor_pydagman.vocabulary import SECRETS, ScriptKind

if TYPE_CHECKING:
    import subprocess

KILL_PATIENCE = 2.0  # seconds that a killed script may take to end
FORK_TRIES = 5  # 1.5 seconds in all
# What passes: no more processes, memory or open files just now.
_PASSING = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
OUTPUT_MAX = 16 * 1024 * 1024  # bytes of one run's output that go into its DEBUG file


class _Run(NamedTuple):
    action: RunScript
    script: Script
    name: str
    directory: str
    process: subprocess.Popen[bytes]
    stdout: IO[bytes] | None
    stderr: IO[bytes] | None


def preload() -> None:
    """Load what running a script takes, before a DAG with scripts begins: when one is to start
    there may be no descriptor left to read a module with.  Most DAGs have none, and do without."""
    import subprocess  # noqa: F401


class ScriptRunner:
    """Starts scripts and tells how they ended."""

    def __init__(self) -> None:
        self._runs: list[_Run] = []
        self.problems: list[str] = []  # DEBUG files that could not be written

    def start(
        self, action: RunScript, script: Script, name: str, directory: str
    ) -> ScriptEnded | None:
        """Start a script in the node's directory; an answer at once means it could not start."""
        try:
            stdout = self._capture(script, "STDOUT")
            stderr = self._capture(script, "STDERR")
            process = _started(action.words, directory, stdout, stderr)
        except (OSError, ValueError) as error:
            return ScriptEnded(action.node, action.kind, 1, f"{action.words[0]}: {error}")
        self._runs.append(_Run(action, script, name, directory, process, stdout, stderr))
        return None

    def _capture(self, script: Script, stream: str) -> IO[bytes] | None:
        """A nameless file for a stream that DEBUG wants; a pipe could fill up and block the script.

        Without room for it the script runs all the same: the node must not fail for it.
        """
        if not script.debug_file or script.debug_stream not in (stream, "ALL"):
            return None
        import tempfile  # which is large, and seldom wanted

        try:
            return tempfile.TemporaryFile()
        except OSError as error:
            self.problems.append(f"no {stream} of a script for {script.debug_file}: {error}")
            return None

    def ended(self) -> list[ScriptEnded]:
        """Scripts that have ended since the last call."""
        over = [run for run in self._runs if run.process.poll() is not None]
        if over:
            self._runs = [run for run in self._runs if run.process.returncode is None]
        answers = []
        for run in over:
            problem = _write_debug_file(run)
            if problem:
                self.problems.append(problem)
            status = run.process.returncode
            answers.append(ScriptEnded(run.action.node, run.action.kind, status))
        return answers

    def kill_all(self, *, answered: bool = False) -> None:
        """Kill all PRE and POST scripts and their process groups.

        `answered`: `ended` will tell of them; otherwise no answers follow, of HOLD scripts neither.
        """
        for run in self._runs:
            if run.action.kind is not ScriptKind.HOLD:
                _kill(run)
        if not answered:
            self._runs.clear()


def _started(
    words: tuple[str, ...], directory: str, stdout: IO[bytes] | None, stderr: IO[bytes] | None
) -> subprocess.Popen[bytes]:
    """The script's process.  A machine that is short of something gets some tries.

    Raises:
        OSError, ValueError: it can't be started.
    """
    import subprocess

    program = words[0]
    for tries in range(FORK_TRIES):
        try:
            return subprocess.Popen(
                words,
                executable=program if "/" in program else os.path.join(".", program),
                cwd=directory or None,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=stdout or subprocess.DEVNULL,
                stderr=stderr or subprocess.DEVNULL,
                start_new_session=True,
                restore_signals=False,  # SIGPIPE and SIGXFSZ stay ignored, as daemons have them
            )
        except OSError as error:
            if error.errno not in _PASSING or tries == FORK_TRIES - 1:
                raise
            time.sleep(0.1 * 2**tries)
    raise AssertionError("not reached")


def _kill(run: _Run) -> None:
    import subprocess

    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(run.process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):  # not ours to kill, or stuck
        run.process.wait(timeout=KILL_PATIENCE)


def _environment() -> dict[str, str]:
    """Ours without the secret: what a script prints or passes on may end where others can read it.
    A script that wants to control the DAG gets the secret from the schedd, as its owner does."""
    return {name: value for name, value in os.environ.items() if name not in SECRETS}


def _write_debug_file(run: _Run) -> str:
    """Append the run to its DEBUG file; returns why that failed, '' if it did not."""
    if not run.script.debug_file:
        return ""
    status = run.process.returncode
    how = f"ExitCode={status}" if status >= 0 else f"Signal={-status}"
    command = " ".join(run.action.words)
    head = f"*** Node={run.name} Type={run.action.kind.value} {how}"
    lines = [f"{head} Completion={int(time.time())} Cmd='{command}'\n"]
    try:
        for file in (run.stdout, run.stderr):
            if file is not None:
                file.seek(0)
                lines.append(file.read(OUTPUT_MAX).decode("utf-8", "surrogateescape"))
                file.close()
        append_lines(os.path.join(run.directory, run.script.debug_file), lines)
    except (OSError, FileError) as error:  # the script has ended all the same
        return str(error)
    return ""
