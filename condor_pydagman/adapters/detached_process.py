"""Starts a process of this package that outlives the one that starts it.

It is not its child and has a session of its own.  It is not of the job's process family either,
which the schedd ends with the job: the schedd finds that by parents, and by variables of the
environment, which are left out here.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
from collections.abc import Sequence

from condor_pydagman.vocabulary import SECRETS

_ANCESTOR = "_CONDOR_ANCESTOR_"


def start(module: str, order: bytes, inherited: Sequence[int] = ()) -> None:
    """Run `main` of a module in a new process, with `order` on its standard input, which no other
    user can see; its output goes nowhere.

    Args:
        module: full name.
        order: the process must read it soon, if it has more than the 64 kB that a pipe holds.
        inherited: descriptors that the process has as 3, 4, ...

    Raises:
        OSError: no process can be started, or it has ended before it has read the order.
    """
    read, write = os.pipe()
    with os.fdopen(write, "wb") as pipe:
        try:
            child = os.fork()
            if not child:
                _become(module, read, inherited)
        finally:
            os.close(read)  # without a reader, a process that could not be started, writing fails
        with contextlib.suppress(ChildProcessError):  # the handler of SIGCHLD was faster
            os.waitpid(child, 0)
        pipe.write(order)


def _become(module: str, order: int, inherited: Sequence[int]) -> None:
    """In the child: its child becomes the process, and it ends."""
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(order, 0)
        os.dup2(null, 1)
        os.dup2(null, 2)
        first_free = 3 + len(inherited)
        for place, fd in enumerate([_moved(fd, first_free) for fd in inherited], 3):
            os.dup2(fd, place)
        os.closerange(first_free, 4096)
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in SECRETS and not name.startswith(_ANCESTOR)
        }
        words = [sys.executable, "-c", _program(module)]
        os.execve(sys.executable, words, environment)  # noqa: S606  # a shell is not wanted
    finally:
        os._exit(1)


def _moved(fd: int, least: int) -> int:
    """A copy out of the way of those that are to be made."""
    return fcntl.fcntl(fd, fcntl.F_DUPFD, least)


def _program(module: str) -> str:
    """With the places of this process's modules: none is loaded from the DAG's directory."""
    return f"import sys; sys.path[:] = {sys.path!r}; from {module} import main; sys.exit(main())"
