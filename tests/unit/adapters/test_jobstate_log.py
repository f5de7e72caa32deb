"""jobstate.log: nothing twice, nothing lost, no chatter."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.adapters import jobstate_log
from condor_pydagman.adapters.jobstate_log import JobstateLog


def test_what_is_there_is_known(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("10 A SUBMIT 1.0 - - 4\n")
    log = JobstateLog(str(path))
    assert log.history.sequence == 4
    assert log.history.has("10 A SUBMIT 1.0 - - 4\n")
    log.add("11 A EXECUTE 1.0 - - 4\n")
    assert path.read_text() == "10 A SUBMIT 1.0 - - 4\n11 A EXECUTE 1.0 - - 4\n"


@pytest.mark.parametrize("odd", ["\v", "\f", "\x1c", "\x85", "\u2028", "\u2029"])
def test_a_line_ends_with_a_newline_only(tmp_path: Path, odd: str) -> None:
    path = tmp_path / "log"
    line = f"10 A{odd}B SUBMIT 1.0 - - 4\n"
    path.write_text(line, encoding="utf-8")
    log = JobstateLog(str(path))
    assert log.history.sequence == 4
    assert log.history.has(line)


def test_a_torn_last_line_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("10 A SUBM")
    JobstateLog(str(path)).add("11 B SUBMIT 1.0 - - 1\n")
    assert path.read_text() == "10 A SUBM\n11 B SUBMIT 1.0 - - 1\n"


def test_what_cannot_be_written_is_said_once_and_written_later(tmp_path: Path) -> None:
    path = tmp_path / "later" / "log"
    said: list[str] = []
    log = JobstateLog(str(path), said.append)
    log.add("one\n")
    log.add("two\n", "three\n")
    assert len(said) == 1
    assert "Warning: can't write" in said[0]
    assert "No such file or directory; its lines are kept" in said[0]
    path.parent.mkdir()
    log.add("four\n")
    assert not path.exists(), "not tried again at once: there may be many lines"
    log.write()
    log.add("five\n")
    assert path.read_text() == "one\ntwo\nthree\nfour\nfive\n"
    assert said[1:] == [f"{path} can be written again, and has been"]


def test_no_more_lines_are_kept_than_memory_allows(tmp_path: Path) -> None:
    path = tmp_path / "later" / "log"
    said: list[str] = []
    log = JobstateLog(str(path), said.append)
    log.add("first\n", *["x\n"] * jobstate_log.MAX_KEPT_LINES)
    path.parent.mkdir()
    log.add("last\n")
    log.write()
    assert path.read_text() == "x\n" * jobstate_log.MAX_KEPT_LINES + "last\n"
    assert "but for 1 lines that are lost" in said[1]
