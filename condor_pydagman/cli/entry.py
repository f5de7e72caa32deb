"""Entry points of the four commands: set the module search path, then run the command.

Users set PYTHONPATH for their jobs, and DAGMan inherits it.  Modules found there (bindings of
another version, a module with the name of one of Python's, the working directory because of an
extra colon) must not change what DAGMan runs: those directories are searched last.

The installed commands, in `scripts/`, do so before they import anything; here it is done for other
callers of these functions.
"""

from __future__ import annotations

import io
import os
import signal
import sys

TYPE_CHECKING = False  # as in `condor_pydagman`: who waits for a turn to start loads little
if TYPE_CHECKING:
    from typing import Any, NoReturn


def condor_submit_dag() -> NoReturn:
    """The command of this name; ends the process."""
    _begin()
    from condor_pydagman.cli import submit_dag

    submit_dag.run_and_leave()


def condor_dagman() -> NoReturn:
    """The command of this name; ends the process."""
    _begin()
    from condor_pydagman.adapters.start_turn import wait_for_turn

    turn = wait_for_turn()  # before what is large is loaded
    from condor_pydagman.cli import dagman

    dagman.run_and_leave(turn)


def condor_dag_checker() -> int:
    """The command of this name; returns its exit code, which a full disk does not change."""
    _begin()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as the stock checker: `| head` ends it
    from condor_pydagman.cli import dag_checker

    if sys.stdout is not None:
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(_OutputWithoutErrors(1, "wb", closefd=False))
        )
    return dag_checker.main()


def condor_pydagman() -> int:
    """The command of this name; returns its exit code."""
    _begin()
    if sys.argv[1:3] == ["transfer", "--order"]:  # a DATA node's: it needs no other command
        from condor_pydagman.placement import data_node

        return data_node.main(*sys.argv[3:4])
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it silently
    from condor_pydagman.cli import pydagman

    return pydagman.main()


def _begin() -> None:
    own_modules_first()
    # Some daemons and shells pass an ignored SIGCHLD on; then no child could be waited for.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


class _OutputWithoutErrors(io.FileIO):
    """An output that ignores errors: the exit code has the result."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(data)


def own_modules_first() -> None:
    """Search the directories of PYTHONPATH after all others.  The variable itself stays as it is:
    jobs and scripts may want it."""
    named = os.environ.get("PYTHONPATH", "")
    if named and not sys.flags.ignore_environment:
        theirs = {os.path.abspath(path) for path in named.split(os.pathsep)}
        theirs.discard(os.path.abspath(os.path.join(os.path.dirname(__file__), "../..")))
        sys.path.sort(key=lambda path: os.path.abspath(path) in theirs)
