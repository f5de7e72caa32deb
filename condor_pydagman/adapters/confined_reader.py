"""The process that reads what others wrote: it makes a copy of itself for the texts of an owner,
which gives up its rights before it gets the first (`confinement`).

It has the bindings, the configuration and nothing else: no thread, no text of others.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import time
from collections import Counter
from typing import Any

from condor_pydagman.adapters.confinement import confine
from condor_pydagman.adapters.descriptions import BINDINGS, reason_of
from condor_pydagman.errors import PoolError
from condor_pydagman.timers import READING_TIMEOUT_S

MAX_ANSWER_BYTES = 1 << 20
MAX_SERVED = 100  # texts: what they take together is limited as well
MAX_ENDED = 5  # texts of a user; then no more of this user's are read
_KEPT = ("LANG", "LC_ALL", "TZ")  # of the environment, when there is a configuration
_MAX_DESCRIPTORS = 256
_TOO_MANY = "others of the same user could not be read to their end"
_UNCONFINED = "this system does not let a process give up its rights (seccomp)"
_ENDED = f"to read it takes more than {READING_TIMEOUT_S:.0f} s, or more memory than it should"


def serve() -> None:
    """Live as the process that is asked: a request, and an answer, in each line."""
    for name in set(os.environ) - set(_KEPT):
        del os.environ[name]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever asks
    gc.freeze()  # what is there stays: to look at it would copy its pages
    copy = None
    ended: Counter[int] = Counter()
    for line in sys.stdin.buffer:
        *kind, arguments = json.loads(line)
        if copy is None or copy.kind != kind or copy.served >= MAX_SERVED:
            if copy is not None:
                copy.end()
            copy = _Copy(kind)
        if ended[kind[1]] < MAX_ENDED:
            problem, text = copy.answer(arguments)
            if problem and copy.served > 1:  # it may have been the texts before
                copy = _Copy(kind)
                problem, text = copy.answer(arguments)
        else:
            problem, text = _TOO_MANY, ""
        if problem:
            copy = None
            ended[kind[1]] += problem == _ENDED
        sys.stdout.buffer.write(json.dumps([problem, text]).encode("ascii") + b"\n")
        sys.stdout.buffer.flush()


class _Copy:
    """A copy of this process that reads texts of one owner."""

    def __init__(self, kind: list[Any]) -> None:
        self.kind = kind  # name of the function that reads, user and group of the owner
        self.served = 0  # how many texts it was given
        module, _, name = kind[0].partition(":")
        called = getattr(importlib.import_module(module), name)
        self._socket, theirs = socket.socketpair()
        self._socket.settimeout(READING_TIMEOUT_S)  # it may not read what it is sent
        self._pid = os.fork()
        if self._pid == 0:
            try:
                _be_copy(theirs.fileno(), called, *kind[1:])
            finally:
                os._exit(1)
        theirs.close()

    def answer(self, arguments: list[Any]) -> tuple[str, str]:
        """What is wrong, '' if nothing is; and what the copy has written.  After something wrong
        it has ended."""
        self.served += 1
        with contextlib.suppress(ConnectionError, socket.timeout):
            self._socket.sendall(json.dumps(arguments).encode("ascii") + b"\n")
            data = self._line()
            if data:
                return "", data.decode("utf-8", "replace")
        status = self.end()
        is_unconfined = os.WIFEXITED(status) and os.WEXITSTATUS(status) == os.EX_OSERR
        return _UNCONFINED if is_unconfined else _ENDED, ""

    def _line(self) -> bytes:
        """What it writes until a line's end; b"" if that takes too long, or is too much."""
        until, data = time.monotonic() + READING_TIMEOUT_S, b""
        ready = select.poll()
        ready.register(self._socket, select.POLLIN)
        while not data.endswith(b"\n"):
            if not ready.poll(max(0, 1000 * (until - time.monotonic()))):
                return b""
            part = self._socket.recv(1 << 16)
            data += part
            if not part or len(data) > MAX_ANSWER_BYTES:
                return b""
        return data

    def end(self) -> int:
        """End it, whatever it does; returns its status (see os.waitpid)."""
        self._socket.close()
        os.kill(self._pid, signal.SIGKILL)
        return os.waitpid(self._pid, 0)[1]


def _be_copy(channel: int, called: Any, user: int, group: int) -> None:
    """Write what the function returns or raises for each line, as JSON; never returns."""
    nothing, said = os.open(os.devnull, os.O_RDWR), os.memfd_create("said")
    for number, descriptor in enumerate((nothing, nothing, said, channel)):
        os.dup2(descriptor, number)
    os.closerange(4, _MAX_DESCRIPTORS)
    with open(3, "rb") as requests:
        try:
            confine(user, group)
        except OSError:
            os._exit(os.EX_OSERR)
        for line in requests:
            os.ftruncate(2, os.lseek(2, 0, os.SEEK_SET))
            answer = json.dumps(_answer(called, json.loads(line))).encode("ascii") + b"\n"
            while answer:
                answer = answer[os.write(3, answer) :]
    os._exit(0)


def _answer(called: Any, arguments: list[Any]) -> tuple[bool, Any]:
    """Whether it was refused, and the reason or what the function returns."""
    try:
        return False, called(*arguments)
    except PoolError as error:
        return True, error.reason
    except BINDINGS as error:
        return True, reason_of(error)


def said_by_bindings() -> str:
    """What the bindings have written to standard error, in a confined process."""
    return os.pread(2, MAX_ANSWER_BYTES, 0).decode("utf-8", "replace")
