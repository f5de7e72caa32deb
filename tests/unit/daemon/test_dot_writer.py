"""Numbers of existing DOT files."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.daemon import dot_writer


def test_numbers_are_taken_from_existing_dot_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("t.dot.0", "t.dot.12", "t.dot.\u00b2", "t.dot.x", "t.dot", "u.dot.3"):
        Path(name).touch()
    assert sorted(dot_writer._numbers("t.dot")) == [0, 12]
