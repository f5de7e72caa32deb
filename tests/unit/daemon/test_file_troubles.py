"""Files that can't be written: said once, and when it is over."""

from __future__ import annotations

from pathlib import Path

from condor_pydagman.daemon.file_troubles import FileTroubles


def test_a_trouble_is_said_once_until_it_is_over(tmp_path: Path) -> None:
    said: list[str] = []
    troubles = FileTroubles(said.append)
    place = tmp_path / "later"
    for number in range(3):
        troubles.replace("DOT file", f"{place}/dot.{number}", ["x"])
    troubles.replace("node status file", f"{place}/status", ["x"])
    assert [line.split(": ", 1)[1] for line in said] == [
        f"can't write {place}/dot.0: No such file or directory"
        " (DOT file; the DAG goes on without it)",
        f"can't write {place}/status: No such file or directory"
        " (node status file; the DAG goes on without it)",
    ]
    place.mkdir()
    troubles.replace("DOT file", f"{place}/dot.3", ["x"])
    troubles.replace("DOT file", f"{place}/dot.3", ["y"])
    assert said[2:] == [f"{place}/dot.3 can be written again (DOT file)"]
    assert (place / "dot.3").read_text() == "y"


def test_another_trouble_is_said_anew(tmp_path: Path) -> None:
    said: list[str] = []
    troubles = FileTroubles(said.append)
    place = tmp_path / "later"
    troubles.replace("status", f"{place}/status", ["x"])
    place.mkdir()
    (place / "status").mkdir()
    troubles.replace("status", f"{place}/status", ["x"])
    assert len(said) == 2
    assert "Is a directory" in said[1]
