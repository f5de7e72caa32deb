"""What is kept of several recordings of the stock program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import recordings
from tools.record_stock import keep


@pytest.fixture
def rounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Writes the files of two recordings, which have one value each; gives their directories."""
    monkeypatch.setattr(recordings, "HERE", tmp_path / "recordings")

    def write(name: str, *values: str) -> list[Path]:
        directories = [tmp_path / str(number) for number in range(len(values))]
        for directory, value in zip(directories, values):
            file = directory / "25.1.0" / name
            file.parent.mkdir(parents=True)
            file.write_text(json.dumps({"one": value}))
        return directories

    return write


def test_what_was_the_same_each_time_is_kept(rounds: Any) -> None:
    assert keep(rounds("pool/knobs.json", "a", "a"))
    assert recordings.load("pool/knobs.json") == {"one": "a"}


def test_what_varies_is_told_and_not_kept(rounds: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert not keep(rounds("pool/knobs.json", "a", "b"))
    assert "one varies" in capsys.readouterr().out
    assert not list(recordings.HERE.glob("*/pool/knobs.json"))


def test_files_that_stock_left_are_not_compared(rounds: Any) -> None:
    assert keep(rounds("left/t.json", "a", "b"))
    assert recordings.load("left/t.json") == {"one": "a"}
