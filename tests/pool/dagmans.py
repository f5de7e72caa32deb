"""Which DAGMans, and other processes, run on this machine, by /proc."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import NamedTuple

from condor_pydagman.pool import processes


class RunningDagman(NamedTuple):
    """A DAGMan, the directory in which it runs, and the name of its lock file."""

    pid: int
    directory: str
    lock: str


def running_dagmans() -> list[RunningDagman]:
    """Every DAGMan; the processes that one has forked, which look the same, are not counted."""
    found = {}
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if b"-Lockfile" in words:
                lock = words[words.index(b"-Lockfile") + 1].decode()
                found[pid] = RunningDagman(pid, os.readlink(f"/proc/{pid}/cwd"), lock)
    return [one for one in found.values() if processes.stat_of(one.pid).parent not in found]


def dagmans_in(directory: Path) -> dict[int, str]:
    """DAGMans that run in a directory: process id -> lock file."""
    return {one.pid: one.lock for one in running_dagmans() if one.directory == str(directory)}


def processes_in(directory: Path) -> list[int]:
    """Processes whose working directory it is, or one below it."""
    found = []
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
        with contextlib.suppress(OSError):
            if Path(os.readlink(f"/proc/{pid}/cwd")).is_relative_to(directory):
                found.append(pid)
    return found


def send(pid: int, number: int = signal.SIGKILL) -> None:
    """Send a signal to one process.

    A process id of 0 stands for no process here; the kernel takes it for all of this test run.
    """
    assert pid > 0, "there is no process to send a signal to"
    os.kill(pid, number)
