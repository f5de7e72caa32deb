"""The turn of a DAGMan to start: only a few DAGMans of one user start or recover at a time.

A restart of the schedd starts all of them at once, and each start takes 20 MB and a tenth of a
second of a processor.  A turn is the lock of a file in a directory of the user's own, so it ends
with the process.  Whatever goes wrong, DAGMan starts without one: other users can take the name of
the directory, but keep nobody waiting.

Hundreds may wait.  One of them looks for a turn; the others wait in the kernel for the lock that
this one has, so they take next to no time of a processor.

Who waits for a turn has loaded no more than this module, so it imports nothing large.  HTCondor's
configuration is not known by then: the limit is what the last start has found there, kept beside
the locks.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import time

from condor_pydagman.timers import LINE_LOOK_S, START_TURN_TIMEOUT_S, TURN_LOOK_S
from condor_pydagman.vocabulary import EXIT_RESTART, MEMORY

TYPE_CHECKING = False  # as in `condor_pydagman`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DIRECTORY = "/var/tmp/condor_pydagman-starts"  # noqa: S108 - with the user's number; checked
LIMIT = 8  # the default of the knob
PER_PROCESSOR = 2
_VARIABLE = "_CONDOR_PYDAGMAN_MAX_STARTS"
_LINE = "line."  # behind it the number of places: the file whose lock has who looks for one
_KEPT = "limit"  # a symbolic link to the number, which is read and replaced in one step
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_LOCK = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW


class StartTurn:
    """Leave to start, until `end` or the end of the process."""

    def __init__(self, lock: int = -1) -> None:
        self._lock = lock  # descriptor of the locked file; -1: DAGMan starts without one

    def end(self) -> None:
        """Let another DAGMan start."""
        lock, self._lock = self._lock, -1
        if lock >= 0:
            fcntl.flock(lock, fcntl.LOCK_UN)  # a process just forked may have it open, too
            os.close(lock)


def wait_for_turn(
    clock: Callable[[], float] = time.monotonic, pause: Callable[[float], None] = time.sleep
) -> StartTurn:
    """Wait for a turn, as long as others get theirs; a signal ends the wait, and is blocked
    afterwards.

    A DAGMan that nobody has submitted does not wait, nor does one that has slept.

    Raises:
        SystemExit: the schedd that has started this process is gone.
    """
    lock, parent = -1, os.getppid()
    if "CONDOR_ID" not in os.environ or MEMORY in os.environ:
        return StartTurn()
    with contextlib.suppress(OSError), _opened() as directory:
        places = min(_limit(directory), PER_PROCESSOR * (os.cpu_count() or 1))
        lock = _locked(directory, places)
        if lock < 0 < places:
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
            last, until = 0, clock()
            with _lined_up(directory, f"{_LINE}{places}") as is_first:
                while lock < 0 and not signal.sigpending():
                    if clock() >= until:
                        last, before = _last_taken(directory, places), last
                        if last == before:  # what has the turns hangs
                            break
                        until = clock() + START_TURN_TIMEOUT_S
                    looks = is_first()
                    if looks:
                        pause(TURN_LOOK_S)
                    if os.getppid() != parent:
                        raise SystemExit(EXIT_RESTART)
                    lock = _locked(directory, places) if looks else -1
    return StartTurn(lock)


@contextlib.contextmanager
def _lined_up(directory: int, name: str) -> Iterator[Callable[[], bool]]:
    """Within, what is given waits for a while, until this process is the one that looks for a turn,
    and tells whether it is."""
    line = os.open(name, _LOCK, 0o600, dir_fd=directory)

    def is_first() -> bool:
        try:
            signal.setitimer(signal.ITIMER_REAL, LINE_LOOK_S)
            fcntl.flock(line, fcntl.LOCK_EX)
            signal.setitimer(signal.ITIMER_REAL, 0)
        except InterruptedError:  # it may have become so just then: this is told the next time
            return False
        return True

    before = signal.signal(signal.SIGALRM, _interrupt)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGALRM,))
    try:
        yield is_first
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGALRM,))
        signal.signal(signal.SIGALRM, before)
        os.close(line)


def _interrupt(*_: object) -> None:
    raise InterruptedError


def keep_limit(limit: int) -> None:
    """Let the starts to come know the value of the knob, which the environment does not set."""
    if _VARIABLE in os.environ:
        return
    with contextlib.suppress(OSError), _opened() as directory:
        if _limit(directory) != limit:
            new = f"{_KEPT}.{os.getpid()}"
            os.symlink(str(limit), new, dir_fd=directory)
            os.replace(new, _KEPT, src_dir_fd=directory, dst_dir_fd=directory)


@contextlib.contextmanager
def _opened() -> Iterator[int]:
    """The directory, which is made if it is not there.

    Raises:
        OSError: it can't be made, or others may enter it.
    """
    path = f"{DIRECTORY}.{os.geteuid()}"
    try:
        directory = os.open(path, _OPEN)
    except FileNotFoundError:
        with contextlib.suppress(FileExistsError):  # another DAGMan has just made it
            os.mkdir(path, 0o700)
        directory = os.open(path, _OPEN)
    try:
        there = os.fstat(directory)
        if there.st_uid != os.geteuid() or there.st_mode & 0o077:
            raise PermissionError(0, "it is not the user's own")
        yield directory
    finally:
        os.close(directory)


def _limit(directory: int) -> int:
    try:
        limit = os.environ.get(_VARIABLE) or os.readlink(_KEPT, dir_fd=directory)
        return int(limit)
    except (OSError, ValueError):  # nothing has been kept, or an expression
        return LIMIT


def _locked(directory: int, places: int) -> int:
    """Descriptor of a file that is locked now; -1 if all are locked by others."""
    for number in range(places):
        name = str((os.getpid() + number) % places)
        lock = os.open(name, _LOCK, 0o600, dir_fd=directory)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
        else:
            now = time.time_ns()
            os.utime(lock, ns=(now, now))
            return lock
    return -1


def _last_taken(directory: int, places: int) -> int:
    """When a turn was taken last, nanoseconds since the epoch."""
    return max(os.stat(str(n), dir_fd=directory).st_mtime_ns for n in range(places))
