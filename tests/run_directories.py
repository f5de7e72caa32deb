"""Directories of test runs, `var/tests.N`, and what is left of runs that were killed.

A run holds a lock on a file in its directory as long as it lasts, so a directory whose lock is free
is a leftover: its processes are ended and it is removed, when the next run begins.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

from condor_pydagman.errors import PoolError
from condor_pydagman.pool import Pool

_LOCK = "lock"
_NEEDED_MB = 500
_HELD: dict[Path, int] = {}  # descriptors of the locks of this process


def make(parent: Path) -> Path:
    """A new directory for this test run, locked.

    Raises:
        OSError: it can't be made.
    """
    parent.mkdir(parents=True, exist_ok=True)
    number = os.getpid()
    with _alone(parent):
        while (directory := parent / f"tests.{number}").exists():
            number += 1
        directory.mkdir()
        lock = os.open(directory / _LOCK, os.O_CREAT | os.O_WRONLY, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
    _HELD[directory] = lock
    return directory


def obstacle(checkout: Path) -> str:
    """Why no tests can run here, and what to do; '' if they can."""
    if " " in str(checkout):
        return f"{checkout} has a blank in it, where no HTCondor can live: clone to another place"
    for path, advice in (
        (Path(tempfile.gettempdir()), "free some, or name another directory: TMPDIR=..."),
        (checkout, "free some"),
    ):
        free = shutil.disk_usage(path).free >> 20
        if free < _NEEDED_MB:
            return f"the tests need {_NEEDED_MB} MB in {path}, and {free} MB are free: {advice}"
    return ""


def remove(directory: Path) -> None:
    """End all processes of a directory, and remove it."""
    with _alone(directory.parent):
        _remove(directory)
    if directory in _HELD:
        os.close(_HELD.pop(directory))


def remove_leftovers(parent: Path) -> list[Path]:
    """Remove the directories of test runs that are over; returns them."""
    if not parent.is_dir():
        return []
    with _alone(parent):
        found = [path for path in parent.glob("tests.*") if not _is_locked(path)]
        for path in found:
            _remove(path)
    return found


@contextlib.contextmanager
def _alone(parent: Path) -> Iterator[None]:
    """While no other test run makes or removes a directory there."""
    lock = os.open(parent, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _remove(directory: Path) -> None:
    for path in directory.rglob("start.lock"):
        with contextlib.suppress(PoolError):
            Pool(path.parent).stop()
    _end_users_of_pools(directory)
    for path in directory.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            with contextlib.suppress(OSError):
                path.chmod(0o755)  # some tests take the right to write away
    shutil.rmtree(directory, ignore_errors=True)


def _end_users_of_pools(directory: Path) -> None:
    """End what tests have started with the configuration of a pool, such as a server."""
    mark = b"\0" + os.fsencode(f"CONDOR_CONFIG={directory}/")
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in b"\0" + (path / "environ").read_bytes():
                os.kill(int(path.name), signal.SIGKILL)


def _is_locked(directory: Path) -> bool:
    """Whether a test run still goes on there."""
    try:
        lock = os.open(directory / _LOCK, os.O_WRONLY)
    except FileNotFoundError:
        return False
    except OSError:
        return True  # another user's
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False
