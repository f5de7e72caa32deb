"""Where the four commands begin: our own modules first, then the command itself.

People and their environments set PYTHONPATH for their jobs, and DAGMan inherits it.  What lies
there (bindings of another version, a module that is called like one of Python's, the working
directory because of a stray colon) must not change what DAGMan itself runs: it is searched last.

The installed commands, in `scripts/`, see to that before they import anything at all; here it is
done for whoever calls these functions in another way.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from typing import Any, NoReturn


def condor_submit_dag() -> NoReturn:
    """The command of this name; ends the process."""
    _begin()
    from condor_pydagman.cli import submit_dag

    submit_dag.run_and_leave()


def condor_dagman() -> NoReturn:
    """The command of this name; ends the process."""
    _begin()
    from condor_pydagman.cli import dagman

    dagman.run_and_leave()


def condor_dag_checker() -> int:
    """The command of this name; returns its exit code, which a full disk does not change."""
    _begin()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as the stock checker: `| head` ends it
    from condor_pydagman.cli import dag_checker

    if sys.stdout is not None:
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(_Unheard(1, "wb", closefd=False)))
    return dag_checker.main()


def condor_pydagman() -> int:
    """The command of this name; returns its exit code."""
    _begin()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it, without a word
    from condor_pydagman.cli import pydagman

    return pydagman.main()


def _begin() -> None:
    own_modules_first()
    # Who ignores the ends of children (daemons, some shells) hands that on: none of ours could be
    # waited for.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


class _Unheard(io.FileIO):
    """An output whose errors nobody needs to know of: what the command found is its exit code."""

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
