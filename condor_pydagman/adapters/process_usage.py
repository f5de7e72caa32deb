"""What a process uses, by the kernel."""

from __future__ import annotations

import os
import time

_KB = 1 << 10


def memory_kb(pid: int) -> tuple[int, int]:
    """How much memory a process has, in KB: all, and what it may share with others.

    Raises:
        OSError: there is no such process.
    """
    with open(f"/proc/{pid}/statm", "rb") as file:
        _, resident, shared, *_ = map(int, file.read().split())
    page_kb = os.sysconf("SC_PAGE_SIZE") // _KB
    return resident * page_kb, shared * page_kb


def own_usage() -> tuple[int, int]:
    """This process's own memory, in KB, without what it may share with others, and its CPU time in
    seconds; 0 KB where nothing tells."""
    try:
        resident, shared = memory_kb(os.getpid())
    except OSError:
        resident = shared = 0
    return resident - shared, int(time.process_time())
