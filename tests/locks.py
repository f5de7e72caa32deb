"""A process that holds a DAG's lock file, as a DAGMan does that runs it."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

HOLD = """\
import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
os.write(fd, sys.argv[2].encode())
print("held", flush=True)
sys.stdin.readline()
"""


@contextlib.contextmanager
def held(lock: str | Path, text: str) -> Iterator[subprocess.Popen[str]]:
    """Within, a process holds the lock file; `text` is what it says of its DAGMan in it."""
    argv = [sys.executable, "-c", HOLD, str(lock), text]
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()
