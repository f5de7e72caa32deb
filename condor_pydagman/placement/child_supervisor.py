"""A process between the worker and a helper program: whatever the program forks ends with it.

Started by path, with nothing of this package imported, so that it is quick: `child_process` writes
the program's words, directory and environment to the first descriptor named on the command line,
and reads from it how the program ended.  The others, as of locks, stay open until nothing of the
program is left.  Standard streams are inherited.

The supervisor adopts what the program leaves behind (PR_SET_CHILD_SUBREAPER, prctl(2)), also after
a double fork and setsid, and kills it when the program has ended, when it is told to, and when the
worker is gone.  If the supervisor itself is killed, the kernel kills the program.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import time

LENGTH_BYTES = 8  # of the number before the request, most significant byte first
TERMINATE, KILL = b"t", b"k"  # what the worker may ask for
STARTED, FAILED, ENDED = b"s", b"f", b"e"  # what it is told; the last two with a number
SETUP, EXECUTION = "directory", "program"  # what failed
KILL_TIMEOUT_S = 5.0  # for killed processes to be gone; one that waits for a disk may take longer
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_DEFAULT_SIGNALS = (
    signal.SIGPIPE,
    signal.SIGXFSZ,
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGCHLD,
    signal.SIGUSR1,
    signal.SIGUSR2,
)


def packed(words: list[bytes], directory: bytes, environment: list[bytes]) -> bytes:
    """The request: what to run, where, and with which `NAME=value`; no part has a zero byte."""
    body = b"\0".join([b"%d" % len(words), *words, directory, *environment])
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def _unpacked(body: bytes) -> tuple[list[bytes], bytes, dict[bytes, bytes]]:
    count, *parts = body.split(b"\0")
    number = int(count)
    pairs = (part.partition(b"=") for part in parts[number + 1 :])
    return parts[:number], parts[number], {name: value for name, _, value in pairs}


def _read_exactly(fd: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = os.read(fd, size - len(data))
        if not more:
            os._exit(0)  # the worker is gone
        data += more
    return data


def _tell(control: int, message: bytes) -> None:
    with contextlib.suppress(OSError):  # the worker is gone, which `_watch` will see
        os.write(control, message)


def _asked(control: int) -> bytes:
    """What the worker asks for; b'' if it is gone."""
    try:
        return os.read(control, 1)
    except ConnectionResetError:  # it has not read all that it was told
        return b""


def _start(
    words: list[bytes], directory: bytes, environment: dict[bytes, bytes], libc: ctypes.CDLL
) -> tuple[int, bytes]:
    """Number of the program's process, and what failed (b'' if it runs)."""
    ours, theirs = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid:
        os.close(theirs)
        failure = os.read(ours, 64)
        os.close(ours)
        return pid, failure
    step = SETUP
    try:
        os.setsid()
        for number in _DEFAULT_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(0)
        os.chdir(directory)
        step = EXECUTION
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.execve(words[0], words, environment)
    except OSError as error:
        os.write(theirs, f"{step} {error.errno}".encode())
    finally:
        os._exit(127)


def _children() -> list[int]:
    """Processes whose parent is this one."""
    own = os.getpid()
    try:
        with open(f"/proc/self/task/{own}/children", "rb") as file:
            return [int(word) for word in file.read().split()]
    except OSError:  # a kernel without it
        return [
            int(name) for name in os.listdir("/proc") if name.isdigit() and _parent(name) == own
        ]


def _parent(name: str) -> int:
    try:
        with open(f"/proc/{name}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError):
        return 0


def _kill_all(main: int) -> int | None:
    """Kill every child, and the children of these as they are adopted; the status of `main`."""
    found, until = None, time.monotonic() + KILL_TIMEOUT_S
    while time.monotonic() < until:
        for pid in _children():
            _signal(pid, signal.SIGKILL)
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == main:
                    found = status
                if not pid:
                    break
        except ChildProcessError:  # none is left
            break
        time.sleep(0.002)
    return found


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(OSError):  # it has ended, or is another user's now
        os.kill(pid, number)


def _reap(main: int) -> int | None:
    """The status of `main` if it has ended; what it left behind is reaped on the way."""
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == main:
                return status
            if not pid:
                return None
    except ChildProcessError:
        return None


def _watch(main: int, control: int, wake: int) -> int | None:
    """Obey until the program ends or is to be killed; its status in the first case."""
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(wake, select.POLLIN)
    while True:
        status = _reap(main)
        if status is not None:
            return status
        for fd, _ in poll.poll():
            data = _asked(control) if fd == control else os.read(wake, 4096)
            if fd == wake and bytes((signal.SIGTERM,)) in data:
                return None  # the kernel's word that the worker is gone
            if fd == control and data in (b"", KILL):
                return None
            if fd == control and data == TERMINATE:
                _signal(-main, signal.SIGTERM)


def main() -> None:
    """Run the program that is asked for, tell how it ended, leave nothing of it behind."""
    control = int(sys.argv[1])
    for kept in sys.argv[1:]:  # the others are only to stay open as long as this process lives
        os.set_inheritable(int(kept), False)
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    wake, wake_end = os.pipe()
    os.set_blocking(wake_end, False)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):  # meant for the worker
        signal.signal(number, signal.SIG_IGN)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, lambda number, frame: None)
    signal.set_wakeup_fd(wake_end, warn_on_full_buffer=False)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    size = int.from_bytes(_read_exactly(control, LENGTH_BYTES), "big")
    words, directory, environment = _unpacked(_read_exactly(control, size))
    pid, failure = _start(words, directory, environment, libc)
    if failure:
        _tell(control, FAILED + failure)
        return
    _tell(control, STARTED)
    ended = _watch(pid, control, wake)
    killed = _kill_all(pid)
    status = killed if ended is None else ended
    if status is not None:
        code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        _tell(control, ENDED + b"%d" % code)


if __name__ == "__main__":
    main()
