"""A log that grows, shrinks, goes away, or is too big to be read whole."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from condor_pydagman.monitor import followed_file
from condor_pydagman.monitor.followed_file import FollowedFile


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def test_whole_entries_are_read_once(log: Path) -> None:
    file = FollowedFile(str(log), b"\n")
    assert file.read(100) == b""
    assert "there is no" in file.problem
    log.write_bytes(b"one\ntwo\nthr")
    assert (file.read(100), file.problem, file.more) == (b"one\ntwo\n", "", True)
    assert (file.read(100), file.more) == (b"", False)
    log.write_bytes(b"one\ntwo\nthree\n")
    assert file.read(100) == b"three\n"


def test_blocks(log: Path) -> None:
    log.write_bytes(b"one\ntwo\nthree\n")
    file = FollowedFile(str(log), b"\n")
    assert [file.read(9), file.read(9), file.read(9)] == [b"one\ntwo\n", b"three\n", b""]


def test_what_has_no_end_is_passed_over(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed_file, "MAX_ENTRY_BYTES", 4)
    log.write_bytes(b"garbage without an end\nright\n")
    file = FollowedFile(str(log), b"\n")
    assert b"".join(file.read(8) for _ in range(6)).endswith(b"right\n")


def test_a_file_that_was_emptied_begins_anew(log: Path) -> None:
    log.write_bytes(b"one\ntwo\n")
    file = FollowedFile(str(log), b"\n")
    file.read(100)
    mark = file.mark()
    log.write_bytes(b"new\n")
    assert file.read(100) == b"new\n"
    assert file.mark() != mark
    log.unlink()
    assert (file.read(100), file.offset, file.mark()) == (b"", 0, 0)


def test_a_longer_file_in_its_place_is_read_from_its_beginning(log: Path) -> None:
    log.write_text("a\n")
    file = FollowedFile(str(log), b"\n")
    assert file.read(100) == b"a\n"
    other = log.with_name("other")
    other.write_text("b\nc\n")
    other.rename(log)
    assert file.read(100) == b"b\nc\n"


@pytest.mark.parametrize(
    ("make", "problem"),
    [(os.mkdir, "can't read {}: Is a directory"), (os.mkfifo, "{} is not a regular file")],
)
def test_what_is_no_file_is_not_waited_for(
    log: Path, make: Callable[[Path], None], problem: str
) -> None:
    make(log)
    file = FollowedFile(str(log), b"\n")
    assert file.read(100) == b""
    assert file.problem == problem.format(log)
    assert (file.mark(), file.skip_to_last(5), file.line_of_last(b"x")) == (0, False, 0)


def test_a_file_that_can_t_be_read(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(followed_file, "open_ordinary", refuse)
    file = FollowedFile(str(log), b"\n")
    assert file.read(100) == b""
    assert file.problem == f"can't read {log}: Permission denied"
    assert (file.mark(), file.skip_to_last(5), file.line_of_last(b"x")) == (0, False, 0)


def test_the_end_of_a_big_file(log: Path) -> None:
    log.write_bytes(b"one\ntwo\nthree\n")
    file = FollowedFile(str(log), b"\n")
    assert not file.skip_to_last(100)
    assert file.skip_to_last(8)
    assert file.read(100) == b"three\n"


def test_the_line_of_the_last_start(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log.write_bytes(b"\n".join([b"1 start", b"new", b"2 start", b"new", b"3 start", b""]))
    file = FollowedFile(str(log), b"\n")
    assert log.read_bytes()[file.line_of_last(b"new", b"start") :].startswith(b"2 start")
    assert file.line_of_last(b"old") == 0
    monkeypatch.setattr(followed_file, "BLOCK_BYTES", 3)
    assert log.read_bytes()[file.line_of_last(b"new", b"start") :].startswith(b"2 start")
    assert file.line_of_last(b"old") == 0
    log.write_bytes(b"")
    assert file.line_of_last(b"new") == 0
    assert os.path.getsize(log) == 0
