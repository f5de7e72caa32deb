"""The directories of test runs: which are leftovers, and what becomes of these."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import run_directories
from tests.installation import CHECKOUT

ELSEWHERE = """\
import sys
from pathlib import Path
from tests import run_directories
print(run_directories.make(Path(sys.argv[1])), flush=True)
sys.stdin.read()
"""


@contextmanager
def another_run(parent: Path) -> Iterator[tuple[Path, subprocess.Popen[str]]]:
    """A process that has made its directory there."""
    with subprocess.Popen(
        [sys.executable, "-c", ELSEWHERE, str(parent)],
        cwd=CHECKOUT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield Path(process.stdout.readline().strip()), process


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Path]:
    """The directory of this process, below one for test runs."""
    directory = run_directories.make(tmp_path / "var")
    yield directory
    run_directories.remove(directory)


def test_a_run_removes_its_own_directory(tmp_path: Path) -> None:
    directory = run_directories.make(tmp_path / "var")
    (directory / "main/closed").mkdir(parents=True)
    (directory / "main/closed/file").touch()
    (directory / "main/closed").chmod(0o500)
    run_directories.remove(directory)
    assert list((tmp_path / "var").iterdir()) == []


def test_runs_at_the_same_time_have_directories_of_their_own(made: Path) -> None:
    second = run_directories.make(made.parent)
    with another_run(made.parent) as (third, _):
        assert len({made, second, third}) == 3
        assert run_directories.remove_leftovers(made.parent) == []
        assert {made, second, third} == set(made.parent.iterdir())
    run_directories.remove(second)


def test_what_a_killed_run_has_left_is_removed(made: Path) -> None:
    with another_run(made.parent) as (directory, process):
        (directory / "main").mkdir()
        process.kill()
        process.wait()
        assert run_directories.remove_leftovers(made.parent) == [directory]
    assert list(made.parent.iterdir()) == [made]


def test_other_files_are_no_leftovers(made: Path) -> None:
    others = {made.with_name(name) for name in ("pool", "corpus.txt")}
    for path in others:
        path.mkdir()
    assert run_directories.remove_leftovers(made.parent) == []
    assert set(made.parent.iterdir()) == {made, *others}


def test_the_directory_of_another_user_is_let_alone(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = made.with_name("tests.1")
    other.mkdir()
    (other / "lock").touch()
    really = os.open

    def refused(path: Path, flags: int, *mode: int) -> int:
        """As the kernel does; the tests may run as root, whom it refuses nothing."""
        if path == other / "lock":
            raise PermissionError(13, "Permission denied", str(path))
        return really(path, flags, *mode)

    monkeypatch.setattr(os, "open", refused)
    assert run_directories.remove_leftovers(made.parent) == []
    assert other.exists()


def test_what_a_test_has_started_for_a_pool_is_ended(made: Path) -> None:
    def sleeper(config: Path) -> subprocess.Popen[bytes]:
        variables = {**os.environ, "CONDOR_CONFIG": str(config)}
        return subprocess.Popen(["sleep", "100000"], env=variables)

    leftover = made.with_name("tests.1")
    leftover.mkdir()
    configs = (leftover / "pool/condor_config", made / "pool/condor_config")
    with sleeper(configs[0]) as theirs, sleeper(configs[1]) as ours:
        run_directories.remove_leftovers(made.parent)
        assert theirs.wait() == -9
        assert ours.poll() is None
        ours.kill()


def test_a_run_says_why_it_can_not_begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_directories.obstacle(tmp_path) == ""
    monkeypatch.setattr(run_directories, "_NEEDED_MB", 1 << 60)
    said = run_directories.obstacle(tmp_path)
    assert "MB are free: free some, or name another directory: TMPDIR=" in said
    assert "clone to another place" in run_directories.obstacle(tmp_path / "with a blank")
