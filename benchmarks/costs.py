"""What a process costs, as the kernel tells (proc(5))."""

from __future__ import annotations

import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """CPU time that the process has used since it began; OSError if it is gone."""
    text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    fields = text.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def memory(pid: int) -> dict[str, float]:
    """`rss` and `pss` of the process in MB (10^6 bytes); OSError if it is gone.

    PSS counts a page that n processes share as 1/n: what one more such process costs.
    """
    sizes = {}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
        name, _, rest = line.partition(":")
        if name in ("Rss", "Pss"):
            sizes[name.lower()] = int(rest.split()[0]) * 1024 / 1e6
    return sizes
