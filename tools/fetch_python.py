"""Fetch a Python that this machine lacks from Debian's newest suites, without installing it.

    python -m tools.fetch_python 3.14 DIRECTORY

Its packages are unpacked below DIRECTORY and made to run there, as the pool's HTCondor is.  The
interpreter is then DIRECTORY/usr/bin/python3.14.  It needs no root; Python 3.14 takes 60 MB.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from condor_pydagman.errors import PoolError
from condor_pydagman.pool import apt, elf
from condor_pydagman.pool.fetch import (
    ELSEWHERE,
    SUITES,
    alone,
    debian_or_ubuntu,
    keyring,
    source_line,
)

NEWER = [f"3.{minor}" for minor in range(9, 20)]
ADDED = ["patchelf", "python3-pip-whl"]  # a venv of this Python has no pip of its own


def interpreter(directory: Path, version: str) -> Path:
    """Where the Python of `directory` is, whether it has been fetched or not."""
    return directory / f"usr/bin/python{version}"


def fetch(version: str, directory: Path) -> Path:
    """The interpreter of Python `version`, such as 3.14; fetched first if it is not there.

    Raises:
        PoolError: no suite of this machine's distribution has it, or it does not run here.
    """
    found = interpreter(directory, version)
    if _runs(found):
        return found
    if not apt.available():
        raise PoolError("this machine has no apt-get to fetch it with", transient=False)
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        with alone(directory.parent):
            if not _runs(found):  # else another process was first
                _fetch_anew(version, directory)
    except OSError as error:
        raise PoolError(
            f"{error.filename or directory}: {error.strerror}; {ELSEWHERE} and that has 300 MB"
            " free",
            transient=False,
        ) from None
    return found


def _fetch_anew(version: str, directory: Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    try:
        _unpack(version, directory)
        if not _runs(interpreter(directory, version)):
            raise PoolError(f"the fetched Python in {directory} does not run here", transient=False)
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise


def _unpack(version: str, directory: Path) -> None:
    work = directory / "work"
    work.mkdir(parents=True)
    archive = apt.Apt(work)
    _choose_suite(archive, version)
    python = f"python{version}"
    parts = [python, f"{python}-minimal", f"lib{python}-stdlib", f"lib{python}-minimal"]
    archive.unpack(archive.libraries([*parts, *ADDED]), directory)
    elf.make_runnable(directory)
    shutil.rmtree(work)


def _choose_suite(archive: apt.Apt, version: str) -> None:
    """Point `archive` at the first suite that has Python `version`."""
    system, codename = debian_or_ubuntu()
    problems = []
    for mirror in apt.mirrors(apt.archives(), codename):
        for suite in SUITES[system]:
            try:
                archive.use(source_line(system, mirror, suite, keyring(system)))
                if archive.version(f"python{version}"):
                    return
                have = [name for name in NEWER if archive.version(f"python{name}")]
                problems.append(f"{system}'s suite {suite} has {', '.join(have) or 'none'}")
            except PoolError as error:
                problems.append(error.reason)
    raise PoolError("; ".join(problems) or "apt's own sources name no archive", transient=True)


def _runs(python: Path) -> bool:
    """Whether `python` starts and has the modules that need libraries of their own."""
    command = [str(python), "-c", "import bz2, ctypes, lzma, sqlite3, ssl, zlib"]
    return os.access(python, os.X_OK) and subprocess.run(command, check=False).returncode == 0


if __name__ == "__main__":
    try:
        print(fetch(sys.argv[1], Path(sys.argv[2]).absolute()))
    except PoolError as error:
        sys.exit(error.reason)
