"""Locks as DAGMans and workers hold them: of a DAG, and of files in directories that they share."""

from __future__ import annotations

import contextlib
import fcntl
import os
import struct
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


def prove_life(fd: int) -> None:
    """Lock a file in a shared directory as versions do since there are such files: that says that
    the process which made it lives."""
    fcntl.fcntl(fd, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))


def is_proven(fd: int) -> bool:
    """Whether they see that lock."""
    asked = struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)
    answer = fcntl.fcntl(fd, fcntl.F_OFD_GETLK, asked)
    return bool(struct.unpack("hhqqi4x", answer)[0] == fcntl.F_WRLCK)
