"""What is said of a file by its name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from condor_pydagman.monitor.file_facts import changed_at, shown, size_of


def test_a_file_and_none(tmp_path: Path) -> None:
    path = tmp_path / "a"
    assert (size_of(str(path)), changed_at(str(path))) == (0, 0.0)
    path.write_text("abc")
    os.utime(path, (7, 7))
    assert (size_of(str(path)), changed_at(str(path))) == (3, 7.0)


def test_names_are_relative_to_here_if_they_are_below(work_directory: Path) -> None:
    assert shown(str(work_directory / "d" / ".." / "a")) == "a"
    assert shown("/etc/../etc/passwd") == "/etc/passwd"


def test_names_where_the_working_directory_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert shown("/etc/../etc/passwd") == "/etc/passwd"
