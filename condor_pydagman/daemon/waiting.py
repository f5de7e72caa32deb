"""What a DAGMan that sleeps does at certain times without being woken: it renews the date in its
job ad, which `htcondor dag status` calls stale after 600 s, and looks whether the schedd has the
jobs that it must have.

The waiter executes DAGMan for that as for anything else.  While nothing is different this module is
all that is loaded, with the bindings in a process of its own, which may hang as the schedd may.
Then the waiter is executed again; what DAGMan knows stays where it is.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time
from collections.abc import Sequence
from typing import Any

import condor_pydagman
from condor_pydagman.compiled import WAITER
from condor_pydagman.engine import FORM
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.timers import (
    AD_RENEW_ASLEEP_S,
    AD_RENEW_SPREAD_S,
    AD_RETRY_S,
    RENEWAL_TIMEOUT_S,
)
from condor_pydagman.vocabulary import MEMORY, WAITING, WORDS

_SAME, _OTHER = b"=", b"/"  # what the schedd has is as it was, or not


class Expected(NamedTuple):
    """What the schedd has if nothing is to be done, of types that JSON has."""

    cluster: int  # of DAGMan's own job
    schedd: list[Any]  # see ScheddAdapter.memory
    jobs: list[Sequence[int]]  # cluster and proc
    limits: list[Any]  # the fields of `Throttles`, of DAGMan's own ad


class Waiting(NamedTuple):
    """How long DAGMan waits, and for what; times are monotonic seconds."""

    words: Sequence[Any]  # for the waiter, see libexec/condor_dagman.c
    kept: int  # the descriptor behind which DAGMan has kept what it knows
    until: float  # when it is to wake
    renew_at: float  # the date in its ad
    look_at: float  # for its jobs
    look_every_s: float
    expected: Expected
    cpu_s: float  # that the process has used

    def execute(self) -> None:
        """Become the waiter.

        Raises:
            OSError: it can't be executed; what was opened for it is closed again.
        """
        until = min(self.until, self.renew_at, self.look_at)
        words = ["until", until, *self.words, "exec", sys.argv[0]]
        told = kept_open(b"".join(os.fsencode(str(word)) + b"\0" for word in words))
        ours = self._replace(cpu_s=time.process_time())
        own = kept_open(json.dumps([form(), ours]).encode("ascii"))
        try:
            for fd in (told, own):
                os.set_inheritable(fd, True)
            named = {WORDS: str(told), MEMORY: str(self.kept), WAITING: str(own)}
            os.execve(WAITER, sys.argv, {**os.environ, **named})
        finally:  # it has failed
            os.close(told)
            os.close(own)


def form() -> list[Any]:
    """What may read what is kept: nothing but the same modules."""
    there = os.stat(condor_pydagman.__file__)
    return [condor_pydagman.__version__, FORM, sys.version, there.st_ino, there.st_mtime_ns]


def kept_open(data: bytes) -> int:
    """A descriptor of a file without a name that has the data."""
    fd = os.memfd_create("condor_dagman")
    with open(fd, "wb", closefd=False) as file:
        file.write(data)
    return fd


def read_kept(fd: str) -> bytes:
    """What is kept behind the descriptor, which is closed; nothing if there is none."""
    with contextlib.suppress(ValueError, OSError):  # a number, and that of a file
        os.lseek(int(fd), 0, os.SEEK_SET)
        with open(int(fd), "rb") as file:
            return file.read()
    return b""


def read_waiting(fd: str) -> Waiting | None:
    """How DAGMan has waited; None if other modules have written it."""
    with contextlib.suppress(ValueError, TypeError):
        form_then, values = json.loads(read_kept(fd))
        if form_then == form():
            waiting = Waiting(*values)
            return waiting._replace(expected=Expected(*waiting.expected))
    return None


def renewal_at(now: float, age_s: float) -> float:
    """When to renew the date, which is so old; not all DAGMans at once."""
    spread = AD_RENEW_SPREAD_S * os.urandom(1)[0] / 255
    return now + max(AD_RENEW_ASLEEP_S + spread - age_s, 0.0)


def go_on_waiting(waiting: Waiting) -> str:
    """Do what is due, and wait again; this returns why DAGMan is to wake, if it is."""
    now = time.monotonic()
    if now >= waiting.until:
        return "deadline"
    looks = now >= waiting.look_at
    with contextlib.suppress(OSError):  # there is nothing to ask with, or the waiter is gone
        answer = _ask(waiting.expected, looks=looks)
        if answer == _OTHER:
            return "queue"
        if answer == _SAME:
            look_at = now + waiting.look_every_s if looks else waiting.look_at
            waiting = waiting._replace(renew_at=renewal_at(now, 0.0), look_at=look_at)
        else:  # the schedd is busy, or gone
            later = now + AD_RETRY_S
            waiting = waiting._replace(renew_at=later, look_at=max(waiting.look_at, later))
        waiting.execute()
    return "no renewal"


def _ask(expected: Expected, *, looks: bool) -> bytes:
    """What another process has found; nothing if it has died, or takes too long."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _answer(writer, expected, looks)
    os.close(writer)
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    answer = os.read(reader, 1) if poll.poll(int(RENEWAL_TIMEOUT_S * 1000)) else b""
    os.close(reader)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return answer


def _answer(writer: int, expected: Expected, looks: bool) -> None:
    """In a process of its own, which ends here: the bindings may end it at any time."""
    try:
        from condor_pydagman.adapters import renewal

        renewal.renew(expected.cluster)
        same = not looks or renewal.is_same(*expected)
        os.write(writer, _SAME if same else _OTHER)
    finally:
        os._exit(0)
