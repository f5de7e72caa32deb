"""Who holds a lock file, looked at without taking it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from condor_pydagman.adapters.files import Holder, LockFile, living_holder
from tests import locks


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / "t.dag.lock"


@pytest.fixture(params=["42\n", "42\nrescue 0\n"], ids=["stock", "ours"])
def holder(lock: Path, request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the lock of job 42."""
    with locks.held(lock, request.param) as process:
        yield process


def test_a_holder_is_named_and_not_disturbed(lock: Path, holder: subprocess.Popen[str]) -> None:
    for _ in range(2):
        assert living_holder(str(lock)) == Holder(42, holder.pid)
    assert LockFile(str(lock)).acquire() == 42


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
