"""A forked process that answers requests, one after another, so that a call which hangs holds up
that process alone.

Requests and answers are lines of JSON on a pair of connected sockets.  The process has the memory
and the environment of its parent as they were when it was forked, none of its other descriptors,
and none of its signals.  It dies with its parent: the kernel kills it (PR_SET_PDEATHSIG, prctl(2)).
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Collection
from typing import Any

from condor_pydagman.timers import (
    FIRST_PROCESS_RETRY_S,
    KILL_TIMEOUT_S,
    MAX_PROCESS_RETRY_S,
    SEND_TIMEOUT_S,
)

_SEND_TIMEOUT = struct.pack("@ll", SEND_TIMEOUT_S, 0)  # struct timeval
_BLOCK = 1 << 18  # bytes received at a time
_IDLE = b'"idle"\n'  # the process leaves; it has taken no request that it has not answered
_PR_SET_PDEATHSIG = 1
# What a terminal or an administrator sends to all processes of a group: the parent obeys it.
_UNHEARD = (
    signal.SIGHUP,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGTERM,
    signal.SIGUSR1,
    signal.SIGUSR2,
)


class Child:
    """A process that serves this one.

    Args:
        serve: called in the child with each request; what it returns is the answer.  Both are what
            JSON knows: None, bool, int, float, str, list and dict (with str keys).
        stays: called in the child when it has nothing to do, whether it stays nevertheless.
        alarm_s: seconds after which the kernel kills the child, whatever it does; None: never.

    Raises:
        OSError: no process can be had.
    """

    def __init__(
        self,
        serve: Callable[[Any], Any],
        *,
        stays: Callable[[], bool] = lambda: False,
        alarm_s: float | None = None,
    ) -> None:
        self.idle = self.overdue = False  # whether the child has left for want of requests
        self._buffer: list[bytes] = []
        self._socket, theirs = socket.socketpair()
        parent = os.getpid()
        try:
            self.pid = os.fork()  # its number until `kill`, as nobody else waits for it
        except OSError:  # no memory, too many processes
            self._socket.close()
            theirs.close()
            raise
        if self.pid == 0:
            _be_child(theirs, parent, serve, stays, alarm_s)
        theirs.close()
        # not settimeout(): with that, recv() would wait as well
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _SEND_TIMEOUT)

    def fileno(self) -> int:
        """Readable when there are answers, or when the child is gone; -1 after `kill`."""
        return self._socket.fileno()

    def send(self, request: Any, idle_s: float | None = None) -> None:
        """Hand a request over; it is answered after those before it.

        When all are answered the child waits up to `idle_s` seconds for another one, then it
        leaves; None: it stays.

        That the child is gone is told by `receive`.
        """
        try:
            self._socket.sendall(json.dumps([request, idle_s]).encode("ascii") + b"\n")
        except OSError:  # it is gone, or it does not read
            os.kill(self.pid, signal.SIGKILL)

    def receive(self) -> list[Any]:
        """The answers that have come, without waiting.

        Raises:
            EOFError: the child is gone, and all its answers have been received.
        """
        data = b""
        with contextlib.suppress(BlockingIOError):
            try:
                data = self._socket.recv(_BLOCK, socket.MSG_DONTWAIT)
            except ConnectionError:  # it left a request behind unread
                data = b""
            if not data:
                raise EOFError
        head, newline, rest = data.rpartition(b"\n")
        if not newline:
            self._buffer.append(rest)
            return []
        lines = b"".join((*self._buffer, head)).split(b"\n")
        self._buffer = [rest]
        self.idle = self.idle or lines[-1] + newline == _IDLE
        return [json.loads(line) for line in lines if line + newline != _IDLE]

    def kill(self) -> None:
        """End the child, whatever it does; it is gone then, or can do nothing more."""
        if self._socket.fileno() < 0:
            return
        self._socket.close()
        os.kill(self.pid, signal.SIGKILL)
        status = _status_of(self.pid)
        # whether it was killed because of `alarm_s`; known after `kill`
        self.overdue = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM


def watched(child: Child, epoll: select.epoll) -> Child:
    """The child, after `epoll` has been told of it.

    Raises:
        OSError: that can't be; the child has been ended.
    """
    try:
        epoll.register(child.fileno(), select.EPOLLIN)
    except OSError:
        child.kill()
        raise
    return child


def _status_of(pid: int) -> int:
    """How a killed child ended (see os.waitpid), 0 if it takes too long."""
    until = time.monotonic() + KILL_TIMEOUT_S
    pause_s = 0.0001
    while True:
        try:
            found, status = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:  # somebody else has waited for it
            return 0
        if found or time.monotonic() > until:
            return status
        time.sleep(pause_s)
        pause_s *= 2


def _be_child(
    ours: socket.socket,
    parent: int,
    serve: Callable[[Any], Any],
    stays: Callable[[], bool],
    alarm_s: float | None,
) -> None:
    """Live as the child; never returns."""
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it died before the kernel knew
            os._exit(0)
        gc.freeze()  # what is there stays: to look at it would copy its pages
        _forget_signals()
        close_all_but((ours.fileno(),))
        if alarm_s is not None:
            signal.setitimer(signal.ITIMER_REAL, alarm_s)
        with contextlib.suppress(ConnectionError):  # the parent is gone
            _answer(ours, serve, stays)
    except BaseException:  # whatever it is, the child must not go on as its parent
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(0)


def _forget_signals() -> None:
    signal.set_wakeup_fd(-1)  # the parent's
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    for number in _UNHEARD:  # not SIG_IGN, which programs that `include` runs would inherit
        signal.signal(number, lambda number, frame: None)
        signal.siginterrupt(number, False)


def close_all_but(kept: Collection[int]) -> None:
    """Close what the parent had open, but for the standard streams: a lock that lives as long as
    its descriptor must not outlive the parent."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in kept:
            with contextlib.suppress(OSError):  # that of the directory just listed
                os.close(int(name))


def _answer(ours: socket.socket, serve: Callable[[Any], Any], stays: Callable[[], bool]) -> None:
    ready = select.poll()
    ready.register(ours.fileno(), select.POLLIN)
    received, idle_s = b"", None
    while True:
        line, newline, rest = received.partition(b"\n")
        if newline:
            received = rest
            request, idle_s = json.loads(line)
            ours.sendall(json.dumps(serve(request)).encode("ascii") + b"\n")
        elif received or ready.poll(None if idle_s is None else 1000 * idle_s) or stays():
            data = ours.recv(_BLOCK)
            if not data:
                return  # the parent is gone
            received += data
        else:
            ours.sendall(_IDLE)
            return


class ProcessShortage:
    """Starts a child, or says when to try again, since the machine may have no process for it: too
    many processes, too many open files, no memory.

    What the child was to do is not refused for that: it would count as a failure of a node, or as a
    history without the jobs that it has.

    Args:
        purpose: of the child, for messages.
        clock: monotonic seconds.
        warn: told of each try that fails.
    """

    def __init__(
        self, purpose: str, clock: Callable[[], float], warn: Callable[[str], None]
    ) -> None:
        # before that no child is started, monotonic seconds; None if the last one was
        self.retry_at: float | None = None
        self._purpose = purpose
        self._clock = clock
        self._warn = warn
        self._pause_s = FIRST_PROCESS_RETRY_S

    def started(self, start: Callable[[], Child]) -> Child | None:
        """What `start` returns; None if it raises an OSError, or if it is too early for it."""
        now = self._clock()
        if self.retry_at is not None and now < self.retry_at:
            return None
        try:
            child = start()
        except OSError as error:
            pause_s = self._pause_s
            self.retry_at, self._pause_s = now + pause_s, min(2 * pause_s, MAX_PROCESS_RETRY_S)
            what = f"can't start a process to {self._purpose}: {error.strerror}"
            self._warn(f"{what}; next try in {pause_s:.0f} s")
            return None
        self.retry_at, self._pause_s = None, FIRST_PROCESS_RETRY_S
        return child
