"""A forked process that answers requests, one after another, so that a call which hangs holds up
that process alone.

Requests and answers are messages on a pair of connected sockets (`processes.Messages`).  The
process has the memory and the environment of its parent as they were when it was forked, none of
its other descriptors, and none of its signals.  It dies with its parent: the kernel kills it.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import struct
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from condor_pydagman.adapters.processes import Messages, close_all_but, end_with
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.timers import (
    FIRST_PROCESS_RETRY_S,
    KILL_TIMEOUT_S,
    MAX_PROCESS_RETRY_S,
    SEND_TIMEOUT_S,
)

_SEND_TIMEOUT = struct.pack("@ll", SEND_TIMEOUT_S, 0)  # struct timeval
_BLOCK = 1 << 18  # bytes received at a time
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
        serve: called in the child with each request; what it returns is the answer.
        kinds: classes of what is in requests and answers beyond JSON; see `Messages`.
        stays: called in the child when it has nothing to do, whether it stays nevertheless.
        alarm_s: seconds after which the kernel kills the child, whatever it does; None: never.

    Raises:
        OSError: no process can be had.
    """

    def __init__(
        self,
        serve: Callable[[Any], Any],
        kinds: Iterable[type] = (),
        *,
        stays: Callable[[], bool] = lambda: False,
        alarm_s: float | None = None,
    ) -> None:
        self.idle = self.overdue = False  # whether the child has left for want of requests
        self._messages = Messages(kinds)
        self._socket, theirs = socket.socketpair()
        parent = os.getpid()
        try:
            self.pid = os.fork()  # its number until `kill`, as nobody else waits for it
        except OSError:  # no memory, too many processes
            self._socket.close()
            theirs.close()
            raise
        if self.pid == 0:
            _be_child(
                theirs, parent, lambda: _answer(theirs, self._messages, serve, stays), alarm_s
            )
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
        line = self._messages.line([request, idle_s])
        try:
            self._socket.sendall(line)
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
        messages = self._messages.received(data)
        self.idle = self.idle or [] in messages
        return [message[0] for message in messages if message]

    def kill(self) -> None:
        """End the child, whatever it does; it is gone then, or can do nothing more."""
        if self._socket.fileno() < 0:
            return
        self._socket.close()
        os.kill(self.pid, signal.SIGKILL)
        status = _status_of(self.pid)
        # whether it was killed because of `alarm_s`; known after `kill`
        self.overdue = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM


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
    ours: socket.socket, parent: int, answer: Callable[[], None], alarm_s: float | None
) -> None:
    """Live as the child; never returns."""
    try:
        end_with(parent)
        gc.freeze()  # what is there stays: to look at it would copy its pages
        _forget_signals()
        close_all_but((ours.fileno(),))
        if alarm_s is not None:
            signal.setitimer(signal.ITIMER_REAL, alarm_s)
        with contextlib.suppress(ConnectionError):  # the parent is gone
            answer()
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


def _answer(
    ours: socket.socket,
    messages: Messages,
    serve: Callable[[Any], Any],
    stays: Callable[[], bool],
) -> None:
    ready = select.poll()
    ready.register(ours.fileno(), select.POLLIN)
    asked: deque[Any] = deque()
    idle_s = None
    while True:
        if asked:
            request, idle_s = asked.popleft()
            ours.sendall(messages.line([serve(request)]))
        elif ready.poll(None if idle_s is None else 1000 * idle_s) or stays():
            data = ours.recv(_BLOCK)
            if not data:
                return  # the parent is gone
            asked.extend(messages.received(data))
        else:
            ours.sendall(messages.line([]))  # it has taken nothing that it has not answered
            return


Then = Callable[[Any], None]


class Call(NamedTuple):
    """What a child is asked, and who is given the result."""

    request: Any
    then: Then


class Calls:
    """What one child after another is asked, in its order: the life of the child, and what becomes
    of requests.  Those who know what is asked are subclasses.

    A child is forked when there is something to ask, and another one when it has gone.  While the
    machine has no process for it (too many processes or open files, no memory), what is asked
    waits: it is not refused, as it would count as a failure of a node, or as a history without the
    jobs that it has.

    Args:
        purpose: of the child, for messages.
        epoll: becomes readable when the child has answered or has ended.
        clock: monotonic seconds.
        warn: is told of each try to start a child that fails.
    """

    # why a request has no result whose child has died, or takes too long
    died: str
    late: str

    def __init__(
        self,
        purpose: str,
        epoll: select.epoll,
        clock: Callable[[], float],
        warn: Callable[[str], None],
    ) -> None:
        self._purpose = purpose
        self._epoll = epoll
        self._clock = clock
        self._warn = warn
        self._child: Child | None = None
        self._waiting: deque[Call] = deque()
        self._asked: deque[Call] = deque()  # what the child has been asked, in order
        self._results: list[tuple[Then, Any]] = []
        self._give_up_at: float | None = None  # when to end the child, monotonic seconds
        # before that no child is started, monotonic seconds; None if the last one was
        self._retry_at: float | None = None
        self._pause_s = FIRST_PROCESS_RETRY_S

    @property
    def busy(self) -> bool:
        """Whether something that was asked has not been answered yet."""
        return bool(self._asked or self._waiting or self._results)

    def next_deadline(self) -> float | None:
        """When to call `results` though nothing is readable, monotonic seconds."""
        times = (self._give_up_at, self._retry_at if self._waiting else None)
        return min((time for time in times if time is not None), default=None)

    def results(self) -> list[tuple[Then, Any]]:
        """What has come since the last call, and who is to be given it."""
        if self._child is not None:
            self._receive(self._child)
        if self._give_up_at is not None and self._clock() >= self._give_up_at:
            self._end_child()
            self._lose_asked(self.late)
        self._send_next()
        results, self._results = self._results, []
        return results

    def end(self) -> None:
        """Give up: nobody is answered any more."""
        for calls in (self._waiting, self._asked, self._results):
            calls.clear()
        self._end_child()

    # What a subclass says.

    def _made(self) -> Child:
        """A new child.

        Raises:
            OSError: no process can be had.
        """
        raise NotImplementedError

    def _has_room(self) -> bool:
        """Whether the child is to be asked what is next."""
        return not self._asked

    def _send(self, child: Child, request: Any) -> None:
        """Ask the child."""
        child.send(request)

    def _answered(self, call: Call, answer: Any) -> None:
        """The child has answered."""
        self._results.append((call.then, answer))

    def _lost(self, call: Call, reason: str) -> None:
        """There is no answer; how far the child came is not known."""
        raise NotImplementedError

    # The life of the child.

    def _add(self, calls: Iterable[Call]) -> None:
        self._waiting.extend(calls)
        self._send_next()

    def _send_next(self) -> None:
        while self._waiting and self._has_room():
            child = self._child or self._started()
            if child is None:
                return
            call = self._waiting.popleft()
            self._asked.append(call)
            self._send(child, call.request)

    def _started(self) -> Child | None:
        """A new child that is watched; None if there is no process, or if it is too early to try
        again."""
        now = self._clock()
        if self._retry_at is not None and now < self._retry_at:
            return None
        try:
            self._start()
        except OSError as error:
            pause_s = self._pause_s
            self._retry_at, self._pause_s = now + pause_s, min(2 * pause_s, MAX_PROCESS_RETRY_S)
            what = f"can't start a process to {self._purpose}: {error.strerror}"
            self._warn(f"{what}; next try in {pause_s:.0f} s")
            return None
        self._retry_at, self._pause_s = None, FIRST_PROCESS_RETRY_S
        return self._child

    def _start(self) -> None:
        child = self._made()
        try:
            self._epoll.register(child.fileno(), select.EPOLLIN)
        except OSError:
            child.kill()
            raise
        self._child = child

    def _receive(self, child: Child) -> None:
        try:
            answers = child.receive()
        except EOFError:
            self._end_child()
            if child.idle:  # it has not taken what it was asked last
                self._waiting.extendleft(reversed(self._asked))
                self._asked.clear()
            self._lose_asked(self.late if child.overdue else self.died)
            return
        for answer in answers:
            call = self._asked.popleft()
            self._give_up_at = None
            self._answered(call, answer)
            self._send_next()

    def _lose_asked(self, reason: str) -> None:
        asked, self._asked = self._asked, deque()
        for call in asked:
            self._lost(call, reason)

    def _end_child(self) -> None:
        child, self._child, self._give_up_at = self._child, None, None
        if child is not None:
            self._epoll.unregister(child.fileno())
            child.kill()
