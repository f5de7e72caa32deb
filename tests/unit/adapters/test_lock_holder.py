"""Who holds a lock file, looked at without taking it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from condor_pydagman.adapters.files import LockFile
from condor_pydagman.adapters.lock_holder import Holder, living_holder

# As a DAGMan does, stock or ours.
HOLD = """\
import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
os.write(fd, sys.argv[2].encode())
print("held", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / "t.dag.lock"


@pytest.fixture(params=["42\n", "42\nrescue 0\n"], ids=["stock", "ours"])
def holder(lock: Path, request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the lock of job 42."""
    argv = [sys.executable, "-c", HOLD, str(lock), request.param]
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_holder_is_named_and_not_disturbed(lock: Path, holder: subprocess.Popen[str]) -> None:
    for _ in range(2):
        assert living_holder(str(lock)) == Holder(42, holder.pid)
    assert LockFile(str(lock)).take() == 42


def test_what_a_crash_leaves_has_no_holder(lock: Path, holder: subprocess.Popen[str]) -> None:
    holder.kill()
    holder.wait()
    assert lock.read_text().startswith("42\n")
    assert living_holder(str(lock)) is None


def test_no_file_and_what_is_none(lock: Path) -> None:
    assert living_holder(str(lock)) is None
    lock.write_text("")
    assert living_holder(str(lock)) is None
    lock.unlink()
    os.mkfifo(lock)
    assert living_holder(str(lock)) is None
    lock.unlink()
    lock.mkdir()
    assert living_holder(str(lock)) is None
