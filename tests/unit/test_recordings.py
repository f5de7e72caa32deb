"""Recordings: which is the newest, which cases are kept, and that what varies is not recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests import recordings
from tools import recording

LONG = "x" * 90
SAID = {
    "t/b": {"exit": 1, "said": [LONG, "y\udcff\ufeff"], "nodes": [{"name": "A"}]},
    "t/a": {"exit": 0, "said": [], "deep": {"json": [{"one": LONG, "two": [1, None]}]}},
    "t/c": "text",
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(recordings, "HERE", tmp_path)
    return tmp_path


def put(home: Path, version: str, file: str, text: str) -> None:
    (home / version).mkdir(exist_ok=True)
    (home / version / file).write_text(text)


def test_the_newest_version_that_was_recorded_counts(home: Path) -> None:
    put(home, "9.12.0", "a.json", "9")
    put(home, "25.9.1", "a.json", "25.9")
    put(home, "25.14.1", "a.json", "25.14")
    put(home, "26.0.1", "b.json", "26")
    assert recordings.load("a.json") == 25.14
    assert recordings.newest("b.json") == home / "26.0.1" / "b.json"


@pytest.mark.parametrize("recorded", [SAID, {}, {"a": {}}])
def test_a_recording_is_read_as_it_was_written(home: Path, recorded: dict[str, Any]) -> None:
    put(home, "25.14.1", "a.json", recordings.text_of(recorded))
    assert recordings.load("a.json") == recorded


def test_the_version_of_htcondor() -> None:
    said = "$CondorVersion: 25.14.1 2026-10-16 PackageID: 25.14.1-1 $\n$CondorPlatform: x $\n"
    assert recordings.version_in(said) == "25.14.1"
    with pytest.raises(ValueError, match="no version of HTCondor: 'command not found'"):
        recordings.version_in("command not found")


def test_a_case_that_is_not_there_is_told_with_those_like_it() -> None:
    assert recording.chosen([], SAID) == ["t/b", "t/a", "t/c"]
    assert recording.chosen(["t/a"], SAID) == ["t/a"]
    with pytest.raises(SystemExit, match=r"^there is no case t/aa; t/a\?$"):
        recording.chosen(["t/aa"], SAID)


def test_a_case_that_varies_is_named_and_nothing_written(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def once(number: int) -> dict[str, Any]:
        late = {"t/late": {"said": []}} if number == 2 else {}
        return {"t/same": {"exit": 0}, "t/other": {"exit": number // 2}, **late}

    assert recording.keep("a.json", "25.14.1", once, times=3) == 1
    said = capsys.readouterr().out
    assert "t/other varies:\n--- first\n+++ number 3\n" in said
    assert '- "exit": 0\n+ "exit": 1\n' in said
    assert "t/late varies" in said and "t/same" not in said
    assert not list(home.iterdir())
    assert recording.keep("a.json", "25.14.1", once, times=2) == 0
    assert recordings.load("a.json") == once(0)


def test_cases_that_are_not_named_are_left(home: Path) -> None:
    put(home, "25.14.1", "a.json", '{"a": 1, "b": 2}')
    assert recording.keep("a.json", "25.14.1", lambda _: {"b": 3}, 1, ["b"]) == 0
    assert recordings.load("a.json") == {"a": 1, "b": 3}
    assert recording.keep("a.json", "25.14.1", lambda _: {"c": 4}, 1) == 0
    assert recordings.load("a.json") == {"c": 4}


def test_the_difference_of_two_recordings() -> None:
    first = {"a": {"lines": ["one", "two"]}, "b": ["x"], "c": 1}
    other = {"a": {"lines": ["one", "three"]}, "b": ["x"]}
    told = recordings.difference(first, other, ("stock", "ours"))
    assert '- "lines": ["one", "two"]' in told and '+ "lines": ["one", "three"]' in told
    assert '-"c": 1' in told and '"b"' not in told
    assert recordings.difference(first, first, ("stock", "ours")) == ""
