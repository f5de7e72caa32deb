"""Numbers of existing DOT files."""

from __future__ import annotations

from pathlib import Path

from condor_pydagman.daemon import status_files
from condor_pydagman.daemon.status_files import FileOutput


def test_numbers_are_taken_from_existing_dot_files(work_directory: Path) -> None:
    for name in ("t.dot.0", "t.dot.12", "t.dot.\u00b2", "t.dot.x", "t.dot", "u.dot.3"):
        Path(name).touch()
    assert sorted(status_files._numbers("t.dot")) == [0, 12]


def test_an_error_is_reported_once_until_it_is_over(tmp_path: Path) -> None:
    said: list[str] = []
    output = FileOutput(said.append)
    place = tmp_path / "later"
    for number in range(3):
        output.replace("DOT file", f"{place}/dot.{number}", ["x"])
    output.replace("node status file", f"{place}/status", ["x"])
    assert [line.split(": ", 1)[1] for line in said] == [
        f"can't write {place}/dot.0: No such file or directory"
        " (DOT file; the DAG goes on without it)",
        f"can't write {place}/status: No such file or directory"
        " (node status file; the DAG goes on without it)",
    ]
    place.mkdir()
    output.replace("DOT file", f"{place}/dot.3", ["x"])
    output.replace("DOT file", f"{place}/dot.3", ["y"])
    assert said[2:] == [f"{place}/dot.3 can be written again (DOT file)"]
    assert (place / "dot.3").read_text() == "y"


def test_a_different_error_is_reported_again(tmp_path: Path) -> None:
    said: list[str] = []
    output = FileOutput(said.append)
    place = tmp_path / "later"
    output.replace("status", f"{place}/status", ["x"])
    place.mkdir()
    (place / "status").mkdir()
    output.replace("status", f"{place}/status", ["x"])
    assert len(said) == 2
    assert "Is a directory" in said[1]
