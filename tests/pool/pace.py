"""Lets DAGs begin one after the other, and none while the machine has more to do than it can.

Pool tests mostly wait, so many go on side by side.  But each DAG begins with a burst of work; with
dozens at once everything takes so long that waits end in vain, and what stock DAGMan does first is
decided by the load.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

MAX_RUNNABLE = 4 * (os.cpu_count() or 1)  # processes of the machine that run, or want to
LOOKS, PAUSE_S = 4, 0.05  # so often in turn there must be no more: the load comes in bursts
MAX_WAIT_S = 1.0  # of one whose turn it is: the load may be of others, and stay


def wait_for_room() -> None:
    """Wait for the turn of this process among those of the test run, and for a CPU."""
    with open(__file__, "rb") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        limit, quiet = time.monotonic() + MAX_WAIT_S, 0
        while quiet < LOOKS and time.monotonic() < limit:
            quiet = quiet + 1 if _runnable() <= MAX_RUNNABLE else 0
            time.sleep(PAUSE_S)


def _runnable() -> int:
    return int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
