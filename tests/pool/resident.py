"""A process that runs commands as the user of a pool, for all tests of an access point.

Without it each command of root's would take one more Python, which steps down to that user, and
each of ours would load the bindings and our package: several times what the command does.  Here
that has been done once.  A command is started directly; one of ours, where its own start is not
what is tested, runs in a child that has everything loaded already and reads the environment and the
configuration anew.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
import weakref
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from condor_pydagman.pool import Pool

CHECKOUT = Path(__file__).resolve().parents[2]
PROGRAMS = ("condor_submit_dag", "condor_dagman", "condor_dag_checker", "condor_pydagman")
# What they import when it is needed; the others come with these.
MODULES = (
    *("cli.submit_dag", "cli.dagman", "cli.dag_checker", "cli.pydagman", "lint.preflight"),
    *("cli.dry_run", "cli.events", "cli.explain", "cli.flatten", "cli.ls", "cli.steer"),
    *("cli.watch", "daemon.initialize", "daemon.loop", "daemon.startup"),
    *("dagman_job.nested_dags", "dagman_job.submit_to_schedd"),
)
MAX_REQUEST_BYTES = 1 << 17
CANNOT_RUN, NOT_FOUND, BROKEN = 126, 127, 70  # exit codes: as those of `env`; of what is loaded


class Resident:
    """That process: started with the first command, ended with this object.

    Args:
        pool: whose user runs the commands.
        environment: of the commands, unless they change it.
    """

    def __init__(self, pool: Pool, environment: dict[str, str]) -> None:
        self._pool, self._environment = pool, environment
        self._starting = threading.Lock()
        self._socket: socket.socket | None = None

    def run(
        self,
        argv: list[str],
        *,
        cwd: Path | None,
        changes: dict[str, str],
        timeout_s: float,
        loaded: bool = False,
        errors: str = "strict",
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end.

        Args:
            changes: what is different in its environment.
            timeout_s: it is killed if it takes longer.
            loaded: it is one of ours (see `_load`), and no program is to be started for it.
            errors: what becomes of bytes that are no text.

        Raises:
            subprocess.TimeoutExpired: it took longer.
        """
        request = {"argv": argv, "cwd": str(cwd or Path.cwd())}
        request.update(changes=changes, loaded=loaded)
        with contextlib.ExitStack() as files:
            out, err = (
                files.enter_context(tempfile.TemporaryFile("w+", errors=errors)) for _ in range(2)
            )
            code = self._answer(json.dumps(request).encode(), [out, err], timeout_s)
            if code is None:
                raise subprocess.TimeoutExpired(argv, timeout_s)
            for file in (out, err):
                file.seek(0)
            return subprocess.CompletedProcess(argv, code, out.read(), err.read())

    def _answer(self, request: bytes, outputs: list[Any], timeout_s: float) -> int | None:
        """Hand a request over; returns the exit code, None if it took too long."""
        assert len(request) < MAX_REQUEST_BYTES
        reader, writer = os.pipe()
        with open(reader, "rb", buffering=0) as reply:
            connection = self._connected()
            try:
                files = [*(file.fileno() for file in outputs), writer]
                socket.send_fds(connection, [request], files)
            except OSError as error:
                raise self._died(connection, request, str(error)) from None
            finally:
                os.close(writer)
            told = reply.readline()
            if told and not select.select([reply], [], [], timeout_s)[0]:
                os.kill(int(told), signal.SIGKILL)
                return None
            told = told and reply.readline()
            if not told:
                raise self._died(connection, request, "no answer")
            return int(told)

    def _died(self, connection: socket.socket, request: bytes, why: str) -> AssertionError:
        """The error that tells of it; the next command starts the process anew."""
        with self._starting:
            if self._socket is connection:
                self._socket = None
        return AssertionError(
            f"tests.pool.resident, which runs the commands of the tests, has died ({why}): "
            f"{request.decode()}"
        )

    def _connected(self) -> socket.socket:
        with self._starting:
            if self._socket is None:
                self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                with theirs:
                    process = subprocess.Popen(
                        self._pool.command([sys.executable, "-m", "tests.pool.resident"]),
                        cwd=CHECKOUT,
                        env=self._environment,
                        stdin=theirs,
                        stdout=subprocess.DEVNULL,
                    )
                weakref.finalize(self, _end, self._socket, process)
            return self._socket


def _end(connection: socket.socket, process: subprocess.Popen[bytes]) -> None:
    connection.close()
    process.wait()


# The rest is for that process.


class _Server:
    """Starts what is asked for, and tells how it has ended."""

    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests
        self._environment = dict(os.environ)  # to which the bindings will have added
        self._programs = _load()
        self._running: dict[int, tuple[int, Any]] = {}  # process id -> its reply, its Popen
        self._woken, waker = os.pipe()
        os.set_blocking(waker, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)

    def serve(self) -> None:
        """Go on until the tests have left."""
        while True:
            ready = select.select([self._requests, self._woken], [], [])[0]
            if self._woken in ready:
                os.read(self._woken, 4096)
                self._tell_of_the_ended()
            if self._requests in ready:
                text, files, _, _ = socket.recv_fds(self._requests, MAX_REQUEST_BYTES, 3)
                if not text:
                    return
                self._begin(json.loads(text), *files)

    def _begin(self, request: dict[str, Any], out: int, err: int, reply: int) -> None:
        environment = {**self._environment, **request["changes"]}
        if request["loaded"]:
            process, pid = None, os.fork()
            if not pid:
                self._become(request, environment, out, err)
        else:
            process, pid = _start(request, environment, out, err)
        os.close(out)
        os.close(err)
        os.write(reply, b"%d\n" % max(pid, 0))
        if pid > 0:
            self._running[pid] = reply, process
        else:
            _tell(reply, -pid)

    def _tell_of_the_ended(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return
                reply, process = self._running.pop(pid)
                code = os.waitstatus_to_exitcode(status)
                if process:
                    process.returncode = code
                _tell(reply, code)

    def _become(
        self, request: dict[str, Any], environment: dict[str, str], out: int, err: int
    ) -> None:
        try:
            signal.set_wakeup_fd(-1)
            os.dup2(out, 1)
            os.dup2(err, 2)
            os.chdir(request["cwd"])
            os.environ.clear()
            os.environ.update(environment)
            sys.argv = request["argv"]
            sys.exit(self._programs[Path(sys.argv[0]).name]())
        except SystemExit as end:
            code = end.code
        except BaseException:
            traceback.print_exc()
            code = BROKEN
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else int(bool(code)))


def _start(
    request: dict[str, Any], environment: dict[str, str], out: int, err: int
) -> tuple[Any, int]:
    """Start a program; returns it and its process id, which is minus an exit code if it failed."""
    argv: list[str] = request["argv"]
    try:
        process = subprocess.Popen(
            argv, cwd=request["cwd"], env=environment, stdout=out, stderr=err
        )
    except OSError as error:
        os.write(err, f"{argv[0]}: {error.strerror}\n".encode())
        return None, -(NOT_FOUND if isinstance(error, FileNotFoundError) else CANNOT_RUN)
    return process, process.pid


def _tell(reply: int, code: int) -> None:
    with contextlib.suppress(BrokenPipeError), open(reply, "wb") as file:
        file.write(b"%d\n" % code)


def _load() -> dict[str, Callable[[], Any]]:
    """Load all that our commands take; returns what runs each of them, in a child."""
    import htcondor2

    for module in MODULES:
        import_module(f"condor_pydagman.{module}")
    entry = import_module("condor_pydagman.cli.entry")
    gc.freeze()

    def program(name: str) -> Callable[[], Any]:
        def run() -> Any:
            htcondor2.reload_config()
            return getattr(entry, name)()

        return run

    return {name: program(name) for name in PROGRAMS}


def main() -> None:
    """Serve the socket that is the standard input."""
    with socket.socket(fileno=os.dup(0)) as requests:
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        _Server(requests).serve()


if __name__ == "__main__":
    main()
