"""Starts a process of this package that outlives the one that starts it.

The new process is no child of the caller, and has a session of its own.  The schedd kills a job's
process family with the job.  condor_procd finds the members by their parents and by
_CONDOR_ANCESTOR_ variables, so these are left out of the environment.  A process still has them
until it runs its program: the caller, which may end next, waits for that.  If procd looks just
then, that process is of the family for ever; so its program begins with a fork, and goes on in a
child that procd has no reason to count.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
from collections.abc import Sequence

from condor_pydagman.adapters.processes import close_all_but
from condor_pydagman.adapters.python_child import python_command
from condor_pydagman.vocabulary import SECRETS

_ANCESTOR = "_CONDOR_ANCESTOR_"
_LEAVE_FAMILY = "import os; os.fork() and os._exit(0)"


def start(
    module: str, order: bytes, inherited: Sequence[int] = (), errors: int | None = None
) -> None:
    """Run `main` of a module in a new process; its output goes nowhere.

    `order` goes to its standard input, not to its command line, which other users can read.

    Args:
        module: full name.
        order: beyond 64 kB, what a pipe holds, the caller blocks until the process reads.
        inherited: descriptors that the process has as 3, 4, ...
        errors: descriptor of its standard error; None for nowhere.

    Raises:
        OSError: no process can be started, or it has ended before it has read the order.
    """
    read, write = os.pipe()
    told, tells = os.pipe()  # closed when the program runs
    with os.fdopen(write, "wb") as pipe, os.fdopen(told, "rb") as program_runs:
        try:
            child = os.fork()
            if not child:
                _become(module, (read, errors), tells, inherited)
        finally:
            os.close(tells)
            os.close(read)  # so that writing fails, and does not block, if there is no process
        with contextlib.suppress(ChildProcessError):  # the handler of SIGCHLD was faster
            os.waitpid(child, 0)
        program_runs.read()
        pipe.write(order)


def _become(
    module: str, streams: tuple[int, int | None], tells: int, inherited: Sequence[int]
) -> None:
    """In the forked child: fork again, let the grandchild run the module, and exit."""
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        null = os.open(os.devnull, os.O_RDWR)
        order, errors = streams
        os.dup2(order, 0)
        os.dup2(null, 1)
        os.dup2(null if errors is None else errors, 2)
        first_free = 3 + len(inherited)
        tells = fcntl.fcntl(tells, fcntl.F_DUPFD_CLOEXEC, first_free)
        # Duplicates, which dup2 to 3, 4, ... does not overwrite.
        moved = [fcntl.fcntl(fd, fcntl.F_DUPFD, first_free) for fd in inherited]
        for place, fd in enumerate(moved, 3):
            os.dup2(fd, place)
        close_all_but((*range(3, first_free), tells))
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in SECRETS and not name.startswith(_ANCESTOR)
        }
        words = python_command(f"{_LEAVE_FAMILY}; from {module} import main; sys.exit(main())")
        os.execve(sys.executable, words, environment)  # noqa: S606  # a shell is not wanted
    finally:
        os._exit(1)
