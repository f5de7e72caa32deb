"""Whether a process, or one that it has started, is connected to another machine or daemon."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from condor_pydagman.pool.processes import family

_ESTABLISHED = "01"


def has_connection(pid: int) -> bool:
    """Whether a process, or a descendant of it, has a TCP connection; `pid` is 0 for none."""
    if not pid:
        return False
    established = _established()
    return any(target in established for one in family(pid) for target in _open_files(one))


def _established() -> set[str]:
    """The sockets of all connections, as /proc calls them."""
    found = set()
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(FileNotFoundError):  # no IPv6
            for line in Path(f"/proc/net/{table}").read_text(encoding="ascii").splitlines()[1:]:
                words = line.split()
                if words[3] == _ESTABLISHED:
                    found.add(f"socket:[{words[9]}]")
    return found


def _open_files(pid: int) -> list[str]:
    found = []
    with contextlib.suppress(OSError):  # it has ended
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                found.append(os.readlink(entry.path))
    return found
