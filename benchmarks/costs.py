"""What processes cost, as the kernel tells (proc(5))."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from condor_pydagman.pool import processes

_SIZES = {"Rss": "rss", "Pss": "pss", "Private_Clean": "uss", "Private_Dirty": "uss"}


def cpu_seconds(pid: int) -> float:
    """CPU time of all threads of a process since they began; OSError if it is gone.

    From the scheduler's own count in nanoseconds: the usual one is in ticks of 10 ms, which is more
    than an idle process uses in a minute.
    """
    threads = Path(f"/proc/{pid}/task").iterdir()
    return (
        sum(int((one / "schedstat").read_text(encoding="ascii").split()[0]) for one in threads)
        / 1e9
    )


def spent(pid: int) -> float:
    """The same with that of the children that have ended, which is in ticks."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return cpu_seconds(pid) + (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


class Family:
    """CPU seconds of a process and of its descendants, as they were when last looked at.

    Attributes:
        root: its process id.
    """

    def __init__(self, root: int) -> None:
        self.root = root
        self._used: dict[tuple[int, int], float] = {}  # by process id and start time

    def look(self) -> None:
        """Look at all that run now; what one uses after the last look is not seen."""
        for one in processes.family(self.root).items():
            with contextlib.suppress(OSError):  # it has just ended
                self._used[one] = cpu_seconds(one[0])

    @property
    def alone(self) -> float:
        """Of the process itself."""
        return sum(seconds for (pid, _), seconds in self._used.items() if pid == self.root)

    @property
    def all(self) -> float:
        """With its descendants."""
        return sum(self._used.values())


def wake_ups(pid: int) -> int:
    """How often a process has been woken since it began; OSError if it is gone."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    return int(text.partition("\nvoluntary_ctxt_switches:")[2].split()[0])


def memory(pid: int) -> dict[str, float]:
    """`rss`, `pss` and `uss` of a process in MB (10^6 bytes); OSError if it is gone.

    PSS counts a page that n processes share as 1/n; USS only what no other process shares, which is
    what its end would give back.
    """
    return sizes(Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii"))


def sizes(rollup: str) -> dict[str, float]:
    """The three sizes in the text of a `smaps_rollup`."""
    found = dict.fromkeys(_SIZES.values(), 0.0)
    for line in rollup.splitlines():
        name, _, rest = line.partition(":")
        if name in _SIZES:
            found[_SIZES[name]] += int(rest.split()[0]) * 1024 / 1e6
    return found


def memory_sum(pids: Iterable[int]) -> dict[str, float]:
    """The sizes of `memory` of several processes, added up."""
    total = dict.fromkeys(_SIZES.values(), 0.0)
    for pid in pids:
        for name, size in memory(pid).items():
            total[name] += size
    return total


def available() -> float:
    """Memory that the machine could give to new programs, in MB (10^6 bytes)."""
    text = Path("/proc/meminfo").read_text(encoding="ascii")
    return int(text.partition("MemAvailable:")[2].split()[0]) * 1024 / 1e6
