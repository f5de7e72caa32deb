"""Find and end the processes of a pool, even if their parents have ended.

Processes of a pool carry a mark in their environment, which children inherit.  Without it the
daemons of a master that died, and what jobs left in the background, could not be told from others.
Descendants are searched too: the environment of a process in another user namespace can't be read.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time

from condor_pydagman.named_tuple import NamedTuple

MARK = "PYDAGMAN_POOL_MEMBER"


class Stat(NamedTuple):
    """What the kernel says of a process; `name` is '' if there is none."""

    name: str
    state: str
    parent: int
    started: int

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return bool(self.name) and self.state not in ("Z", "X")


def running(mark: str) -> list[int]:
    """Processes of the pool with that mark, zombies and this process not counted."""
    return [pid for pid in _all() if pid != os.getpid() and belongs(_environ(pid), mark)]


def belongs(environ: bytes, mark: str) -> bool:
    """Whether a process with this environment, as in /proc, is of the pool with that mark.

    Scheduler universe jobs, DAGMan among them, get an environment without the mark, but with the
    path of their job ad in the pool's spool.
    """
    own = f"{MARK}={mark}".encode()
    job = f"_CONDOR_JOB_AD={mark}/spool/".encode()
    return any(entry == own or entry.startswith(job) for entry in environ.split(b"\0"))


def is_master(pid: int, mark: str) -> bool:
    """Whether `pid` is the condor_master of the pool with that mark, not a reused number."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as stream:
            return belongs(stream.read(), mark)
    except PermissionError:
        return stat_of(pid).name == "condor_master"
    except OSError:
        return False


def family(root: int) -> dict[int, int]:
    """`root` and all its descendants that are alive: process id -> start time, which tells a
    process from a later one with the same id."""
    children: dict[int, list[int]] = {}
    stats = {pid: stat_of(pid) for pid in _all()}
    for pid, stat in stats.items():
        if stat.alive:
            children.setdefault(stat.parent, []).append(pid)
    found: dict[int, int] = {}
    waiting = [root] if root in stats and stats[root].alive else []
    while waiting:
        pid = waiting.pop()
        found[pid] = stats[pid].started
        waiting += children.get(pid, [])
    return found


def send(pids: list[int], number: int) -> None:
    """Send a signal to each; those that have ended already are skipped."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def end(mark: str, master: int, grace_s: float) -> list[int]:
    """End a pool's processes: the master in its own fast way, then by force what is left.

    Args:
        mark: the pool's mark.
        master: process id of its condor_master, 0 if that is not running.
        grace_s: seconds the master gets.

    Returns:
        The processes that could not be ended; empty if all went well.
    """
    known: dict[int, int] = {}
    left = running(mark)
    if master:
        known = family(master)
        send([master], signal.SIGQUIT)
        left = _wait(mark, known, grace_s)
    deadline = time.monotonic() + 10
    while left and time.monotonic() < deadline:
        # All are stopped before the first is killed, so that none starts another meanwhile.
        send(left, signal.SIGSTOP)
        send(left, signal.SIGKILL)
        left = _wait(mark, known, 0.5)
    return left


def parse_stat(text: str) -> Stat:
    """The text of /proc/PID/stat (proc(5)).

    The name may hold blanks and parentheses, so the last parenthesis counts.
    """
    head, _, tail = text.rpartition(")")
    fields = tail.split()
    return Stat(head.partition("(")[2], fields[0], int(fields[1]), int(fields[19]))


def stat_of(pid: int) -> Stat:
    """What the kernel says of a process that may have ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stream:
            return parse_stat(stream.read())
    except OSError:
        return Stat("", "", 0, 0)


def _wait(mark: str, known: dict[int, int], seconds: float) -> list[int]:
    """Processes of the pool that are left once all are gone or the time is over."""
    deadline = time.monotonic() + seconds
    while True:
        still = [pid for pid, started in known.items() if _is_still(pid, started)]
        left = sorted({*running(mark), *still})
        if not left or time.monotonic() >= deadline:
            return left
        time.sleep(0.1)


def _all() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _is_still(pid: int, started: int) -> bool:
    stat = stat_of(pid)
    return stat.alive and stat.started == started


def _environ(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/environ", "rb") as stream:
            return stream.read()
    except OSError:
        return b""
