"""Runs a helper program, a module or a plugin, within bounds.

Its output is read as it comes, so that it never waits for us, and only the first and last few kB
are kept.  It ends, with all that it has forked, when it has taken too long, when the worker is to
stop, and when the worker is killed (see `child_supervisor`).
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import signal
import socket
import stat
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO, BinaryIO

from condor_pydagman.adapters import files
from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.errors import FileError
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.placement import child_supervisor
from condor_pydagman.placement.way import Progress

KEPT_BYTES = 4096  # of each stream's beginning and of its end
GRACE_S = 5.0  # between SIGTERM and SIGKILL
TICK_S = 0.25  # between looks at whether the worker is to stop
_BLOCK = 1 << 16
_MAX_LEFT = 1 << 20  # bytes in pipes when all writers are gone
_MACHINE_ERRORS = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ETXTBSY)


class Ended(NamedTuple):
    """How a program ended."""

    code: int  # exit code; minus the number of the signal that ended it
    # what is kept of its standard output and standard error
    output: bytes
    errors: bytes

    @property
    def how(self) -> str:
        """For a person."""
        if self.code >= 0:
            return f"exited with code {self.code}"
        try:
            return f"was ended by signal {signal.Signals(-self.code).name}"
        except ValueError:
            return f"was ended by signal {-self.code}"


class Streams(NamedTuple):
    """Paths for the three standard streams; '' for nothing to read, or for what is captured."""

    stdin: str = ""
    stdout: str = ""
    stderr: str = ""


class _Capture:
    """The beginning and the end of a stream."""

    def __init__(self) -> None:
        self._head, self._tail, self._left_out = b"", b"", False

    def add(self, data: bytes) -> None:
        if len(self._head) < KEPT_BYTES:
            room = KEPT_BYTES - len(self._head)
            self._head += data[:room]
            data = data[room:]
        self._left_out |= len(self._tail) + len(data) > KEPT_BYTES
        self._tail = (self._tail + data)[-KEPT_BYTES:]

    def kept(self) -> bytes:
        return self._head + (b"\n...\n" if self._left_out else b"") + self._tail


def run(
    words: Sequence[str],
    environment: Mapping[str, str],
    directory: str,
    progress: Progress,
    *,
    streams: Streams | None = None,
    timeout_s: float = 0,
    tick: Callable[[], None] = lambda: None,
    keeps: Sequence[int] = (),
) -> Ended:
    """Run a program until it ends.

    Args:
        words: path of the program, absolute, and its arguments.
        environment: all that it gets.
        directory: where it runs.
        progress: tells whether to stop.
        streams: files of its standard streams; those written to are emptied first.
        timeout_s: it is killed after so many seconds; 0: never.
        tick: called every TICK_S seconds; what it raises ends the program.
        keeps: descriptors, as of a lock, that stay open until the program and all that it has
            started are gone, also if this process is killed before.

    Raises:
        Fault: it can't be run, it took too long, or the worker is to stop.
    """
    progress.check_stop()
    with contextlib.ExitStack() as stack:
        opened = _open_streams(streams or Streams(), directory, stack)
        return _Run(words[0], opened, keeps, stack).run(
            _request(words, environment, directory), progress, timeout_s, tick
        )


def last_line(data: bytes) -> str:
    """The last line of an output that is not blank; '' if there is none."""
    lines = data.decode("utf-8", "replace").strip().splitlines()
    return lines[-1].strip() if lines else ""


class _Run:
    """A program that runs, and the supervisor between."""

    def __init__(
        self,
        program: str,
        streams: tuple[BinaryIO | None, ...],
        keeps: Sequence[int],
        stack: contextlib.ExitStack,
    ) -> None:
        self._program = program
        self._files = streams
        self._keeps = keeps
        self._captures: dict[int, _Capture] = {}
        ours, theirs = socket.socketpair()
        self._control = stack.enter_context(ours)
        with theirs:
            self._start(theirs, stack)

    def _start(self, control: socket.socket, stack: contextlib.ExitStack) -> None:
        import subprocess  # late: transfers of other ways need none

        numbers = (control.fileno(), *self._keeps)
        words = [sys.executable, "-I", "-S", child_supervisor.__file__, *map(str, numbers)]
        out, err = (file or subprocess.PIPE for file in self._files[1:])
        try:
            process = subprocess.Popen(
                words,
                stdin=self._files[0] or subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                pass_fds=numbers,
                start_new_session=True,
            )
        except OSError as error:
            raise Fault(
                FaultKind.MODULE, f"can't start a process for {self._program}: {error.strerror}"
            ) from None
        stack.callback(process.wait)
        stack.callback(process.kill)
        stack.callback(self._control.close)  # it kills the program, then ends
        self._outputs = [_captured(stream, stack) for stream in (process.stdout, process.stderr)]

    def run(
        self, request: bytes, progress: Progress, timeout_s: float, tick: Callable[[], None]
    ) -> Ended:
        poll = select.poll()
        for fd, capture in filter(None, self._outputs):
            self._captures[fd] = capture
            poll.register(fd, select.POLLIN)
        poll.register(self._control.fileno(), select.POLLIN)
        with contextlib.suppress(ConnectionError):  # seen below
            self._control.sendall(request)
        until = time.monotonic() + timeout_s if timeout_s else float("inf")
        try:
            while not self._turn(poll):
                progress.check_stop()
                tick()
                if time.monotonic() > until:
                    raise Fault(
                        FaultKind.MODULE, f"{self._program} took longer than {timeout_s:g} s"
                    )
        except BaseException:
            self._end(poll)
            raise
        return self._ended()

    _said = b""

    def _turn(self, poll: select.poll) -> bool:
        """Read what there is, for TICK_S; whether the program has ended."""
        until = time.monotonic() + TICK_S
        while True:
            for fd, _ in poll.poll(max(0.0, until - time.monotonic()) * 1000):
                if fd != self._control.fileno():
                    self._read(fd, poll)
                    continue
                data = b""
                with contextlib.suppress(ConnectionError):
                    data = self._control.recv(256)
                self._said += data
                if not data:
                    return True
            if time.monotonic() >= until:
                return False

    def _read(self, fd: int, poll: select.poll) -> None:
        """Read once from a stream of the program's."""
        try:
            data = os.read(fd, _BLOCK)
        except BlockingIOError:
            return
        if data:
            self._captures[fd].add(data)
        else:
            poll.unregister(fd)

    def _end(self, poll: select.poll) -> None:
        """Ask the program to end, then kill it and all that it has forked."""
        for order, wait_s in (
            (child_supervisor.TERMINATE, GRACE_S),
            (child_supervisor.KILL, child_supervisor.KILL_TIMEOUT_S + 1),
        ):
            with contextlib.suppress(OSError):
                self._control.sendall(order)
            until = time.monotonic() + wait_s
            while time.monotonic() < until:
                if self._turn(poll):
                    return

    def _ended(self) -> Ended:
        """How it ended, by what the supervisor said before it ended itself."""
        said = self._said.removeprefix(child_supervisor.STARTED)
        if said.startswith(child_supervisor.FAILED):
            raise _no_start(self._program, said[1:].decode())
        if not said.startswith(child_supervisor.ENDED):
            raise Fault(FaultKind.MODULE, f"{self._program}: its supervisor was killed")
        kept = [
            self._rest(output) if output else _end_of(file)
            for output, file in zip(self._outputs, self._files[1:])
        ]
        return Ended(int(said[1:]), *kept)

    def _rest(self, output: tuple[int, _Capture]) -> bytes:
        """What is kept of a stream, after what is left in the pipe."""
        fd, capture = output
        with contextlib.suppress(BlockingIOError):
            for _ in range(_MAX_LEFT // _BLOCK):
                data = os.read(fd, _BLOCK)
                if not data:
                    break
                capture.add(data)
        return capture.kept()


def _captured(stream: IO[bytes] | None, stack: contextlib.ExitStack) -> tuple[int, _Capture] | None:
    if stream is None:
        return None
    stack.enter_context(contextlib.closing(stream))
    os.set_blocking(stream.fileno(), False)
    return stream.fileno(), _Capture()


def _request(words: Sequence[str], environment: Mapping[str, str], directory: str) -> bytes:
    parts = [*words, directory, *environment, *environment.values()]
    if any("\0" in part for part in parts):
        raise Fault(FaultKind.REQUEST, f"a zero byte in the arguments of {words[0]}")
    try:
        pairs = [os.fsencode(f"{name}={value}") for name, value in environment.items()]
        encoded = [os.fsencode(word) for word in words]
    except UnicodeEncodeError:
        raise Fault(FaultKind.REQUEST, f"arguments of {words[0]} that are no text") from None
    return child_supervisor.packed(encoded, os.fsencode(directory), pairs)


def _no_start(program: str, failure: str) -> Fault:
    """Why a program could not be started, by the step and the error's number."""
    step, _, number = failure.partition(" ")
    code = int(number or 0)
    transient = code in _MACHINE_ERRORS
    if step == child_supervisor.SETUP:
        reason = f"{program} can't run in its directory: {os.strerror(code)}"
    elif code == errno.ENOEXEC:
        reason = f"{program} can't be executed: it is no program, and has no line '#!INTERPRETER'"
    elif code == errno.ENOENT and os.path.exists(program):
        reason = f"{program} can't be executed: the interpreter in its first line is not there"
    elif code == errno.ENOENT:
        reason = f"{program} is not there any more"
    elif code == errno.E2BIG:
        reason = f"{program} can't be executed: its arguments or variables are too long"
    else:
        reason = f"{program} can't be executed: {os.strerror(code)}"
    return Fault(FaultKind.MODULE, reason, transient=transient)


def _open_streams(
    streams: Streams, directory: str, stack: contextlib.ExitStack
) -> tuple[BinaryIO | None, ...]:
    opened: list[BinaryIO | None] = [None, None, None]
    for number, name in enumerate(streams):
        if not name:
            continue
        path = os.path.join(directory, name)
        try:
            file = files.open_ordinary(path) if number == 0 else _emptied(path)
        except (OSError, FileError) as error:
            reason = getattr(error, "strerror", None) or error
            what = "read from" if number == 0 else "write to"
            raise Fault(FaultKind.REQUEST, f"can't {what} {path}: {reason}") from None
        opened[number] = stack.enter_context(file)
    return tuple(opened)


def _emptied(path: str) -> BinaryIO:
    """A file to write to; two streams may name the same one."""
    flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    fd = files.open_to_append(path, flags, 0o666)
    os.set_blocking(fd, True)
    return os.fdopen(fd, "r+b", buffering=0)


def _end_of(file: BinaryIO | None) -> bytes:
    """The last bytes of a file that a program has written to."""
    if file is None:
        return b""
    with contextlib.suppress(OSError):
        found = os.fstat(file.fileno())
        if stat.S_ISREG(found.st_mode):
            return os.pread(file.fileno(), KEPT_BYTES, max(0, found.st_size - KEPT_BYTES))
    return b""
