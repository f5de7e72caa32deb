"""The lock file: one DAGMan for one DAG, and the sign that a run is to be recovered."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from condor_pydagman.adapters.files import LockFile, interrupted_run
from condor_pydagman.errors import FileError

HOLD = """\
import sys
from condor_pydagman.adapters.files import LockFile, interrupted_run
lock = LockFile(sys.argv[1])
print(lock.acquire(), flush=True)
lock.write(int(sys.argv[2]))
print("written", flush=True)
sys.stdin.readline()
"""


def _holder(path: Path, cluster: int) -> subprocess.Popen[str]:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), str(cluster)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "None\n"
    assert holder.stdout.readline() == "written\n"
    return holder


def test_a_lock_is_taken_written_and_removed(tmp_path: Path) -> None:
    path = tmp_path / "t.dag.lock"
    lock = LockFile(str(path))
    assert lock.acquire() is None
    assert not lock.found_file
    lock.write(42)
    assert path.read_text() == "42\nrescue 0\n"
    assert path.stat().st_mode & 0o777 == 0o600
    lock.remove()
    assert not path.exists()
    lock.remove()


def test_a_lock_that_another_process_holds_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "t.dag.lock"
    with _holder(path, 42) as holder:
        lock = LockFile(str(path))
        assert lock.acquire() == 42
        assert path.read_text() == "42\nrescue 0\n"
        lock.remove()
        assert path.exists()
        holder.communicate("\n")


def test_a_lock_of_a_dead_process_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "t.dag.lock"
    with _holder(path, 4200) as holder:
        holder.kill()
        holder.communicate()
    lock = LockFile(str(path))
    assert lock.acquire() is None
    assert lock.found_file
    lock.write(7)
    assert path.read_text() == "7\nrescue 0\n"
    lock.remove()


@pytest.mark.parametrize("text", ["nonsense\n", "123456789012345678901234567890\n" * 9])
def test_a_lock_file_with_any_content_can_be_taken(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.dag.lock"
    path.write_text(text)
    lock = LockFile(str(path))
    assert lock.acquire() is None
    assert lock.found_file
    lock.write(1)
    assert path.read_text() == "1\nrescue 0\n"
    lock.remove()


def test_a_lock_file_that_somebody_has_deleted_is_made_anew(tmp_path: Path) -> None:
    lock = LockFile(str(tmp_path / "x.lock"))
    lock.acquire()
    lock.write(7, 2)
    assert not lock.restore()
    (tmp_path / "x.lock").unlink()
    assert lock.restore()
    assert (tmp_path / "x.lock").stat().st_mode & 0o777 == 0o600
    other = "import sys; from condor_pydagman.adapters.files import LockFile as L; "
    other += "print(L(sys.argv[1]).acquire())"
    command = [sys.executable, "-c", other, str(tmp_path / "x.lock")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "7\n"
    # Only now: whoever reads the file in this process gives the lock back.
    assert (tmp_path / "x.lock").read_text() == "7\nrescue 2\n"
    lock.remove()
    assert not (tmp_path / "x.lock").exists()


def full(fd: int, text: bytes) -> int:
    raise OSError(errno.ENOSPC, "No space left on device")


def half(fd: int, text: bytes) -> int:
    return os.pwrite(fd, text[: len(text) // 2], 0)


def broken(fd: int) -> None:
    raise OSError(errno.EIO, "Input/output error")


@pytest.mark.parametrize(("name", "fails"), [("write", full), ("write", half), ("fsync", broken)])
def test_while_the_disk_is_full_nothing_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, fails: Callable[..., object]
) -> None:
    """Not an empty one either, which says that nothing has begun."""
    lock = LockFile(str(tmp_path / "x.lock"))
    lock.acquire()
    lock.write(7, 2)
    (tmp_path / "x.lock").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(os, name, fails)
        assert not lock.restore()
    assert os.listdir(tmp_path) == []
    assert lock.restore()
    assert os.listdir(tmp_path) == ["x.lock"]
    lock.remove()


@pytest.mark.parametrize("there", [False, True])
def test_a_file_system_without_second_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    def link(*_: str) -> None:
        if there:
            (tmp_path / "x.lock").write_text("8\n")
        raise PermissionError(errno.EPERM, "Operation not permitted")

    lock = LockFile(str(tmp_path / "x.lock"))
    lock.acquire()
    lock.write(7, 2)
    (tmp_path / "x.lock").unlink()
    monkeypatch.setattr(os, "link", link)
    assert lock.restore() is not there
    assert (tmp_path / "x.lock").read_text() == ("8\n" if there else "7\nrescue 2\n")
    assert os.listdir(tmp_path) == ["x.lock"]
    lock.remove()


def test_an_empty_lock_file_beside_a_log_of_this_job(tmp_path: Path) -> None:
    """Somebody or a full disk has emptied it."""
    path = tmp_path / "x.lock"
    assert not LockFile(str(path), lambda: True).has_begun()
    new = LockFile(str(path), lambda: True)
    assert new.acquire() is None
    assert not new.found_file
    new.remove()
    path.touch()
    lock = LockFile(str(path), lambda: True)
    assert lock.has_begun()
    assert lock.acquire() is None
    assert lock.found_file
    lock.release()
    assert path.exists()


def test_a_lock_file_of_another_in_place_of_ours_is_left_alone(tmp_path: Path) -> None:
    lock = LockFile(str(tmp_path / "x.lock"))
    lock.acquire()
    lock.write(7)
    (tmp_path / "x.lock").unlink()
    (tmp_path / "x.lock").write_text("8\n")
    assert not lock.restore()
    lock.remove()
    assert (tmp_path / "x.lock").read_text() == "8\n"


def test_an_empty_lock_file_asks_for_no_recovery(tmp_path: Path) -> None:
    (tmp_path / "t.dag.lock").write_text("")
    lock = LockFile(str(tmp_path / "t.dag.lock"))
    assert lock.acquire() is None
    assert not lock.found_file
    lock.remove()


@pytest.mark.parametrize(("content", "begun"), [(None, False), ("", False), ("7\n", True)])
def test_whether_a_run_has_begun_is_seen_without_the_lock(
    tmp_path: Path, content: str | None, begun: bool
) -> None:
    if content is not None:
        (tmp_path / "t.dag.lock").write_text(content)
    assert LockFile(str(tmp_path / "t.dag.lock")).has_begun() is begun
    (tmp_path / "link").symlink_to("t.dag.lock")
    assert not LockFile(str(tmp_path / "link")).has_begun()


@pytest.mark.parametrize("before", ["", "42\n"])
def test_a_dagman_that_cannot_begin_leaves_what_it_found(tmp_path: Path, before: str) -> None:
    path = tmp_path / "t.dag.lock"
    if before:
        path.write_text(before)
    lock = LockFile(str(path))
    assert lock.acquire() is None
    lock.release()
    assert path.exists() == bool(before)
    assert not before or path.read_text() == before
    again = LockFile(str(path))
    assert again.acquire() is None
    again.release()


def test_a_fifo_in_place_of_a_lock_makes_nobody_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "lock")
    assert interrupted_run(str(tmp_path / "lock")) is None
    with pytest.raises(FileError, match="can't write lock file"):
        LockFile(str(tmp_path / "lock")).acquire()


def test_a_lock_that_cannot_be_made(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"can't write lock file .*: No such file"):
        LockFile(str(tmp_path / "nosuch" / "t.dag.lock")).acquire()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("7\nrescue 3\n", 3),
        ("7\nrescue 0\n", 0),
        ("7\n", None),  # stock DAGMan's
        ("", None),
        ("7\nrescue\n", None),
        ("x\nrescue 3\n", None),
    ],
)
def test_what_an_interrupted_run_began_with(
    tmp_path: Path, content: str, expected: int | None
) -> None:
    path = tmp_path / "t.dag.lock"
    path.write_text(content)
    assert interrupted_run(str(path)) == expected


def test_a_lock_file_says_what_the_run_began_with(tmp_path: Path) -> None:
    path = tmp_path / "t.dag.lock"
    assert interrupted_run(str(path)) is None
    lock = LockFile(str(path))
    lock.acquire()
    lock.write(42, 5)
    assert interrupted_run(str(path)) == 5
