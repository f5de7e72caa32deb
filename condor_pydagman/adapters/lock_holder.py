"""Finds the holder of a DAG's lock file without locking it: condor_submit_dag must not touch the
files of a DAG that runs.

DAGMan, stock or ours, holds a POSIX record lock on the file for as long as it lives (`LockFile`).
The kernel (for NFS the server's) knows the holder; a file that a crash has left behind has none.
"""

from __future__ import annotations

import fcntl
import os
import struct

from condor_pydagman.adapters import own_files
from condor_pydagman.named_tuple import NamedTuple

_FLOCK = struct.Struct("hhqqi4x")  # type, whence, start, length, pid


class Holder(NamedTuple):
    """Who holds a lock.

    Attributes:
        cluster: of the DAGMan job, by the file; 0 if it has none.
        pid: of the process; 0 or less if it is on another machine or in another namespace.
    """

    cluster: int
    pid: int


def living_holder(path: str) -> Holder | None:
    """The process that holds the lock; None if there is none, or if that is unknown.

    A process that may hold the lock itself must not call this: closing the file would release it.
    """
    try:
        fd = own_files.open_own(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        asked = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, pid = _FLOCK.unpack(fcntl.fcntl(fd, fcntl.F_GETLK, asked))
        if kind == fcntl.F_UNLCK:
            return None
        return Holder(_cluster(fd), pid)
    except OSError:
        return None
    finally:
        os.close(fd)


def named_cluster(path: str) -> int:
    """The cluster of the DAGMan job in the lock file, 0 if there is none or it can't be read.

    That job may have ended.  A process that may hold the lock itself must not call this.
    """
    try:
        fd = own_files.open_own(path, os.O_RDONLY)
    except OSError:
        return 0
    try:
        return _cluster(fd)
    except OSError:
        return 0
    finally:
        os.close(fd)


def _cluster(fd: int) -> int:
    number = os.pread(fd, 32, 0).partition(b"\n")[0].strip()
    return int(number) if number.isdigit() else 0
