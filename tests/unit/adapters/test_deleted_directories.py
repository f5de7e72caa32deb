"""Directories that are deleted where others, or jobs, may have put something else."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from condor_pydagman.adapters import files
from condor_pydagman.adapters.deleted_directories import MAX_DEPTH, delete_directory


def test_all_that_is_in_it_is_deleted(tmp_path: Path) -> None:
    place, other = tmp_path / "d", tmp_path / "other"
    (place / "a/b/c").mkdir(parents=True)
    other.mkdir()
    (other / "kept").touch()
    for directory in (place, place / "a/b/c"):
        (directory / "file").touch()
        (directory / "link").symlink_to(other)
        os.mkfifo(directory / "fifo")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(place / "socket"))
    assert delete_directory(str(place)) == ""
    assert os.listdir(tmp_path) == ["other"]
    assert os.listdir(other) == ["kept"]
    assert delete_directory(str(place)) == ""


def test_what_is_no_directory_is_left_without_waiting(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    place = tmp_path / "d"
    for make in (os.mkfifo, Path.touch, lambda path: path.symlink_to(kept)):
        make(place)
        assert delete_directory(str(place)) == "Not a directory"
        place.unlink()
    assert kept.exists()


def test_what_takes_the_place_of_a_directory_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between a look at its name and its opening."""
    place = tmp_path / "d"
    (place / "a").mkdir(parents=True)
    (place / "file").touch()
    opened = os.open

    def replaced(path: str, flags: int, **more: int) -> int:
        if path == "a":
            (place / "a").rmdir()
            os.mkfifo(place / "a")
        return opened(path, flags, **more)

    monkeypatch.setattr(os, "open", replaced)
    assert delete_directory(str(place)) == "Not a directory"
    assert os.listdir(place) == ["a"]


def test_a_directory_of_another_user_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "d"
    place.mkdir()
    (place / "file").touch()
    monkeypatch.setattr(files, "_is_foreign", lambda fd: True)
    tmp_path.chmod(0o1777)
    assert "belongs to user" in delete_directory(str(place))
    assert (place / "file").exists()


def test_directories_that_are_too_deep_are_left(tmp_path: Path) -> None:
    """A job may make any depth."""
    deep = os.open(tmp_path, os.O_RDONLY)
    for _ in range(MAX_DEPTH + 2):
        os.mkdir("d", dir_fd=deep)
        inner = os.open("d", os.O_RDONLY, dir_fd=deep)
        os.close(deep)
        deep = inner
    os.close(deep)
    assert delete_directory(str(tmp_path / "d")) == "its directories are too deep"
    assert delete_directory(str(tmp_path / "d/d/d")) == ""
    assert delete_directory(str(tmp_path / "d")) == ""
