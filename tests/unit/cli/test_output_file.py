"""The file that a command is told to write."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from condor_pydagman.cli.output_file import write_output
from condor_pydagman.errors import FileError


def test_a_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("old")
    os.link(tmp_path / "x", tmp_path / "y")
    write_output(str(tmp_path / "x"), ["new", "er"])
    assert (tmp_path / "x").read_text() == "newer"
    assert (tmp_path / "y").read_text() == "old"


def test_what_is_no_file_is_written_to_and_stays(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    reader.start()
    write_output(str(tmp_path / "pipe"), ["a", "b"])
    reader.join()
    assert read == ["ab"]
    assert (tmp_path / "pipe").is_fifo()


def test_errors(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="it is a directory"):
        write_output(str(tmp_path), ["x"])
    with pytest.raises(FileError, match="No such file or directory"):
        write_output(str(tmp_path / "no" / "x"), ["x"])
