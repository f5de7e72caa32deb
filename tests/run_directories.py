"""Directories of test runs, `var/tests.N`, and what is left of runs that were killed.

A run holds a lock on a file in its directory as long as it lasts, so a directory whose lock is free
is a leftover: its pools are stopped and it is removed, when the next run begins.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

from condor_pydagman.errors import PoolError
from condor_pydagman.pool import Pool

_LOCK = "runs"
_NEEDED_MB = 500
_HELD: dict[Path, int] = {}  # descriptors of the locks of this process


def make(parent: Path) -> Path:
    """A new directory for this test run, locked."""
    number = os.getpid()
    while True:
        directory = parent / f"tests.{number}"
        with contextlib.suppress(FileExistsError):
            directory.mkdir(parents=True)
            lock = os.open(directory / "new", os.O_CREAT | os.O_WRONLY, 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
            (directory / "new").rename(directory / _LOCK)  # nobody sees it without the lock
            _HELD[directory] = lock
            return directory
        number += 1


def missing_space(checkout: Path) -> str:
    """What is said where the tests' files have too little space; '' if they have enough."""
    for path, advice in (
        (Path(tempfile.gettempdir()), "free some, or name another directory: TMPDIR=... "),
        (checkout, "free some"),
    ):
        free = shutil.disk_usage(path).free >> 20
        if free < _NEEDED_MB:
            return f"the tests need {_NEEDED_MB} MB in {path}, and {free} MB are free: {advice}"
    return ""


def remove(directory: Path) -> None:
    """Stop all pools in a directory, and remove it."""
    for path in directory.rglob("lock/master.pid"):
        with contextlib.suppress(PoolError):
            Pool(path.parents[1]).stop()
    for path in directory.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            with contextlib.suppress(OSError):
                path.chmod(0o755)  # some tests take the right to write away
    shutil.rmtree(directory, ignore_errors=True)
    if directory in _HELD:
        os.close(_HELD.pop(directory))


def remove_leftovers(parent: Path) -> list[Path]:
    """Remove the directories of test runs that are over; returns them."""
    found = [path for path in parent.glob("tests.*") if not _is_locked(path)]
    for path in found:
        remove(path)
    return found


def _is_locked(directory: Path) -> bool:
    """Whether a test run still goes on there, or is just making the directory."""
    try:
        lock = os.open(directory / _LOCK, os.O_WRONLY)
    except FileNotFoundError:
        return not any(directory.iterdir()) if directory.is_dir() else True
    except OSError:
        return True  # another user's
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False
