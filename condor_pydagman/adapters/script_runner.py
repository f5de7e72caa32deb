"""Runs PRE, POST and HOLD scripts: no shell, a process group each, output kept only for DEBUG.

Nothing here waits.  A script that can't be started because the machine is short of processes,
memory or descriptors stays pending and is tried again at deadlines that the loop asks for; later
scripts are pending behind it.  A killed script is reaped when SIGCHLD reports its end.
"""

from __future__ import annotations

import errno
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import IO, TYPE_CHECKING

from condor_pydagman.adapters.files import append_lines
from condor_pydagman.adapters.user_programs import kill_program, start_program
from condor_pydagman.engine.actions import RunScript
from condor_pydagman.engine.inputs import ScriptEnded
from condor_pydagman.errors import FileError
from condor_pydagman.graph.model import Script
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.timers import SCRIPT_RETRIES_S, SCRIPT_SLICE_S
from condor_pydagman.vocabulary import ScriptKind

if TYPE_CHECKING:
    import subprocess

# Temporary errors: no more processes, memory or open files.
_TRANSIENT_ERRNOS = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
MAX_OUTPUT_BYTES = 16 * 1024 * 1024  # of one run's output that go into its DEBUG file


class _Start:
    """A script that is to start."""

    def __init__(
        self,
        action: RunScript,
        script: Script,
        name: str,
        directory: str,
        more: Mapping[str, str],
    ) -> None:
        self.action = action
        self.script = script
        self.name = name
        self.directory = directory
        self.more = more
        self.tries = 0  # those that have failed
        # files for what DEBUG selects, opened at the first try
        self.stdout: IO[bytes] | None = None
        self.stderr: IO[bytes] | None = None


class _RunningScript(NamedTuple):
    start: _Start
    process: subprocess.Popen[bytes]


def preload() -> None:
    """Import what running a script needs, before a DAG with scripts begins: later there may be no
    free descriptor to read a module.  DAGs without scripts do not need it."""
    import subprocess  # noqa: F401


class ScriptRunner:
    """Starts scripts and reports how they ended; see `daemon.ports.Scripts`.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pending: deque[_Start] = deque()  # in the order of their starts
        self._retry_at = 0.0  # when to try the first of them
        self._killed_pending: list[ScriptEnded] = []  # killed before they started, and not reported
        self._runs: list[_RunningScript] = []
        self._unanswered: list[_RunningScript] = []  # their ends are not reported
        self.problems: list[str] = []  # DEBUG files that could not be written

    def start(
        self,
        action: RunScript,
        script: Script,
        name: str,
        directory: str,
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> ScriptEnded | None:
        """Start a script in the node's directory, with `more` variables; returns a ScriptEnded if
        it could not start."""
        start = _Start(action, script, name, directory, more)
        if self._pending:
            self._pending.append(start)
            return None
        return self._try(start)

    @property
    def rests(self) -> bool:
        """Whether no script runs, and none is to be started."""
        return not (self._runs or self._pending or self._killed_pending)

    def next_deadline(self) -> float | None:
        """When to call `work`, monotonic seconds; 0: at once."""
        if self._killed_pending:
            return 0.0
        return self._retry_at if self._pending else None

    def work(self) -> list[ScriptEnded]:
        """Start pending scripts, for a limited time; returns the ends of those that can't start."""
        answers, self._killed_pending = self._killed_pending, []
        now = self._clock()
        until = now + SCRIPT_SLICE_S
        while self._pending and self._retry_at <= now < until:
            self._retry_at = now  # of the next one
            answer = self._try(self._pending.popleft())
            if answer is not None:
                answers.append(answer)
            now = self._clock()
        return answers

    def _try(self, start: _Start) -> ScriptEnded | None:
        """Start a script or keep it pending; returns a ScriptEnded if it can't be started."""
        action = start.action
        try:
            if not start.tries:
                start.stdout = self._capture(start.script, "STDOUT")
                start.stderr = self._capture(start.script, "STDERR")
            streams = start.stdout, start.stderr
            process = start_program(action.words, start.directory, start.more, *streams)
        except (OSError, ValueError) as error:
            is_temporary = isinstance(error, OSError) and error.errno in _TRANSIENT_ERRNOS
            if is_temporary and start.tries < len(SCRIPT_RETRIES_S):
                self._retry_at = self._clock() + SCRIPT_RETRIES_S[start.tries]
                start.tries += 1
                self._pending.appendleft(start)
                return None
            why = f"{action.words[0]}: {error}"
            return ScriptEnded(action.node, action.kind, 1, why, action.held)
        self._runs.append(_RunningScript(start, process))
        return None

    def _capture(self, script: Script, stream: str) -> IO[bytes] | None:
        """A file without a name for a stream that DEBUG selects; a pipe could fill up and block the
        script.

        If it can't be made the script runs nevertheless: the node must not fail because of it.
        """
        if not script.debug_file or script.debug_stream not in (stream, "ALL"):
            return None
        import tempfile  # late: it is large, and seldom needed

        try:
            return tempfile.TemporaryFile()
        except OSError as error:
            self.problems.append(f"no {stream} of a script for {script.debug_file}: {error}")
            return None

    def ended(self) -> list[ScriptEnded]:
        """Scripts that have ended since the last call."""
        self._unanswered = [run for run in self._unanswered if run.process.poll() is None]
        over = [run for run in self._runs if run.process.poll() is not None]
        if over:
            self._runs = [run for run in self._runs if run.process.returncode is None]
        self.problems += filter(None, map(_write_debug_file, over))
        ends = [(run.start.action, run.process.returncode) for run in over]
        return [ScriptEnded(one.node, one.kind, status, held=one.held) for one, status in ends]

    def kill_all(self, *, answered: bool = False) -> None:
        """Kill all PRE and POST scripts and their process groups; pending ones do not start.

        `answered`: `ended` and `work` will report them; otherwise no script is reported, not even
        HOLD scripts, and pending HOLD scripts do not start either.
        """
        for run in self._runs:
            if run.start.action.kind is not ScriptKind.HOLD:
                kill_program(run.process)
        pending, self._pending = self._pending, deque()
        if not answered:
            self._unanswered += self._runs
            self._runs, self._killed_pending = [], []
            return
        for start in pending:
            action = start.action
            if action.kind is ScriptKind.HOLD:
                self._pending.append(start)
            else:
                killed = ScriptEnded(action.node, action.kind, -signal.SIGKILL)
                self._killed_pending.append(killed)


def _write_debug_file(run: _RunningScript) -> str:
    """Append the run to its DEBUG file; returns the error, '' if there was none."""
    start = run.start
    if not start.script.debug_file:
        return ""
    status = run.process.returncode
    how = f"ExitCode={status}" if status >= 0 else f"Signal={-status}"
    command = " ".join(start.action.words)
    head = f"*** Node={start.name} Type={start.action.kind.value} {how}"
    lines = [f"{head} Completion={int(time.time())} Cmd='{command}'\n"]
    try:
        for file in (start.stdout, start.stderr):
            if file is not None:
                file.seek(0)
                lines.append(file.read(MAX_OUTPUT_BYTES).decode("utf-8", "surrogateescape"))
                file.close()
        append_lines(os.path.join(start.directory, start.script.debug_file), lines)
    except (OSError, FileError) as error:  # the script has ended all the same
        return str(error)
    return ""
