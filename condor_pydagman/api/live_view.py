"""A run that stays live in the cell of a notebook.

A process looks at it (`glance_process`), and a thread of the kernel hands on what it prints.  Both
end with the run, with the kernel, or when the view is closed.  The first look at a small run is the
kernel's own: it is there at once, in copies of the notebook, too.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

from condor_pydagman.adapters.python_child import python_command
from condor_pydagman.api.run_glance import Glance, is_large
from condor_pydagman.api.run_identity import RunIdentity
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.printable import printable

_READING = "its files are being read; what they tell will stand here"
_STALE = "(this view has broken down and is no longer updated; show() begins a new one)"


class LiveView:
    """A cell that shows a run.

    Args:
        run: which run.
        found: its DAG, as it is now.
        interval: seconds between two looks; None for one look only.
        display: `IPython.display.display`.

    Raises:
        PydagmanError: the run can't be looked at.
        OSError: no process can be started.
    """

    def __init__(
        self,
        run: RunIdentity,
        found: FoundDag,
        interval: float | None,
        display: Callable[..., Any],
    ) -> None:
        glance = None if is_large(found) else Glance(found)
        first = glance.look() if glance else {"text/plain": f"{printable(found.name)}: {_READING}"}
        cell = display(first, raw=True, display_id=True)
        self._process: subprocess.Popen[str] | None = None
        if glance is None or not glance.over:
            self._process = _started(run, interval)
            threading.Thread(target=_hand_on, args=(self._process, cell), daemon=True).start()

    def close(self) -> None:
        """The cell stays as it is now."""
        if self._process is not None:
            # To close its standard input is not enough: children of the kernel may have that too.
            self._process.terminate()


def display_of_kernel() -> Callable[..., Any] | None:
    """What shows things in the cell that runs; None where there are no cells, as in a terminal."""
    ipython: Any = sys.modules.get("IPython")  # a kernel has imported it
    shell = ipython.get_ipython() if ipython is not None else None
    if not hasattr(shell, "kernel"):
        return None
    from IPython.display import display

    show: Callable[..., Any] = display
    return show


def _started(run: RunIdentity, interval: float | None) -> subprocess.Popen[str]:
    process = subprocess.Popen(  # noqa: S603  (a module of this package)
        python_command("from condor_pydagman.api.glance_process import main; sys.exit(main())"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,  # interrupting a cell does not end the view
    )
    assert process.stdin is not None
    dag = run.job if run.job is not None else run.path
    order = {"dag": dag, "interval": interval, "kernel": os.getpid()}
    process.stdin.write(json.dumps(order) + "\n")
    process.stdin.flush()
    return process


def _hand_on(process: subprocess.Popen[str], cell: Any) -> None:
    """Show what the process prints, until it ends or the front end has gone."""
    assert process.stdout is not None
    last = ""
    with process.stdout, contextlib.suppress(OSError, ValueError, RuntimeError):
        for line in process.stdout:
            bundle = json.loads(line)
            cell.update(bundle, raw=True)
            last = bundle["text/plain"]
    assert process.stdin is not None
    with contextlib.suppress(OSError):
        process.stdin.close()
    if process.wait() not in (0, -signal.SIGTERM):
        with contextlib.suppress(OSError, RuntimeError):
            cell.update({"text/plain": f"{last}\n{_STALE}"}, raw=True)
