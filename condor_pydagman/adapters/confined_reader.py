"""The process that reads what others wrote: it makes a copy of itself for each text, which gives up
its rights before (`confinement`).

It has the bindings, the configuration and nothing else: no thread, no text of others.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import signal
import sys
import time
from collections import Counter
from typing import Any

from condor_pydagman.adapters.confinement import confine
from condor_pydagman.adapters.descriptions import BINDINGS, reason_of
from condor_pydagman.errors import PoolError
from condor_pydagman.timers import READING_TIMEOUT_S

MAX_ANSWER_BYTES = 1 << 20
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
    ended: Counter[int] = Counter()
    for line in sys.stdin.buffer:
        function, user, group, calls = json.loads(line)
        module, _, name = function.partition(":")
        called = getattr(importlib.import_module(module), name)
        answer = _TOO_MANY, ""
        if ended[user] < MAX_ENDED:
            answer = _answer_of_copy(called, user, group, calls)
        ended[user] += answer[0] == _ENDED
        sys.stdout.buffer.write(json.dumps(answer).encode("ascii") + b"\n")
        sys.stdout.buffer.flush()


def _answer_of_copy(called: Any, user: int, group: int, calls: list[list[Any]]) -> tuple[str, str]:
    """What is wrong, '' if nothing is; and what the copy has written."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(ours)
            _be_copy(theirs, called, user, group, calls)
        finally:
            os._exit(1)
    os.close(theirs)
    try:
        data = _all_of(ours)
    finally:
        os.close(ours)
        os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == os.EX_OSERR:
        return _UNCONFINED, ""
    return ("" if data else _ENDED), data.decode("utf-8", "replace")


def _all_of(pipe: int) -> bytes:
    """What is written to a pipe until its end; b"" if that takes too long, or is too much."""
    until, size = time.monotonic() + READING_TIMEOUT_S, 0
    parts: list[bytes] = []
    ready = select.poll()
    ready.register(pipe, select.POLLIN)
    while size <= MAX_ANSWER_BYTES and ready.poll(max(0, 1000 * (until - time.monotonic()))):
        part = os.read(pipe, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)
        size += len(part)
    return b""


def _be_copy(pipe: int, called: Any, user: int, group: int, calls: list[list[Any]]) -> None:
    """Write what the function returns or raises, as JSON; never returns."""
    nothing, said = os.open(os.devnull, os.O_RDWR), os.memfd_create("said")
    for number, descriptor in enumerate((nothing, nothing, said, pipe)):
        os.dup2(descriptor, number)
    os.closerange(4, _MAX_DESCRIPTORS)
    try:
        confine(user, group)
    except OSError:
        os._exit(os.EX_OSERR)
    answers = [_answer(called, arguments) for arguments in calls]
    os.write(3, json.dumps(answers).encode("ascii"))
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
