"""The store of nodes with a CACHE command, on the disk."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest
from pytest_mock import MockerFixture

from condor_pydagman.features.cache.adapters import store_file
from condor_pydagman.features.cache.adapters.store_file import CacheFile, read_records
from condor_pydagman.features.cache.store import HEAD, Record, began_line, done_line

A = Record("r1", {"description": "d"})


def add(store: CacheFile, *names: str) -> None:
    lines = [began_line(name, *A[:2]) for name in names]
    store.append(lines, dict.fromkeys(names, A), sync=True)


def test_what_is_added_is_there_for_the_next_one(tmp_path: Path) -> None:
    path = str(tmp_path / "x.dag.cache")
    store = CacheFile(path)
    assert store.records() == {}
    add(store, "A", "B")
    assert store.records() == CacheFile(path).records() == read_records(path) == {"A": A, "B": A}
    store.append([], {}, sync=True)
    assert not store.problems


def test_a_file_that_is_deleted_or_replaced_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "x.dag.cache"
    store = CacheFile(str(path))
    add(store, "A")
    path.unlink()
    assert store.records() == {}
    add(CacheFile(str(path)), "B")
    assert list(store.records()) == ["B"]
    assert not store.problems


def test_a_line_cut_short_does_not_spoil_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "x.dag.cache"
    add(CacheFile(str(path)), "A", "B")
    path.write_bytes(path.read_bytes()[:-7])
    store = CacheFile(str(path))
    assert list(store.records()) == ["A"]
    add(store, "C")
    assert list(read_records(str(path))) == ["A", "C"]
    assert not store.problems


def test_damage_is_told_and_what_stands_before_it_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "x.dag.cache"
    add(CacheFile(str(path)), "A", "B", "C")
    path.write_text(path.read_text().replace('"B"', '"X"'))
    store = CacheFile(str(path))
    assert list(store.records()) == ["C"]
    assert store.problems == [
        f"{path}: line 3 is damaged: what stands before it counts no more;"
        " nodes with a CACHE command may run again"
    ]
    assert list(read_records(str(path))) == ["C"]


def test_a_long_file_is_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_file, "FEW_LINES", 3)
    path = tmp_path / "x.dag.cache"
    store = CacheFile(str(path))
    for _ in range(7):
        add(store, "A")
    store.append([done_line("A", "r1", {})], {"A": A._replace(outputs={})}, sync=False)
    assert CacheFile(str(path)).records() == {"A": A._replace(outputs={})}
    assert len(path.read_text().splitlines()) == 3


def test_a_line_that_comes_while_the_file_is_written_anew_stays(
    tmp_path: Path, mocker: MockerFixture
) -> None:
    mocker.patch.object(store_file, "FEW_LINES", 3)
    path = str(tmp_path / "x.dag.cache")
    for _ in range(7):
        add(CacheFile(path, tidies=False), "A")
    read = store_file._read

    def late(name: str) -> bytes:
        """What has been read before another process adds a line."""
        patch.side_effect = read
        data = read(name)
        add(CacheFile(path, tidies=False), "C")
        return data

    patch = mocker.patch.object(store_file, "_read", side_effect=late)
    assert list(CacheFile(path).records()) == list(read_records(path)) == ["A", "C"]


def test_who_holds_the_lock_is_waited_for_once(tmp_path: Path, mocker: MockerFixture) -> None:
    """Who can read the file can lock it; each chain of nodes changes it as often as it is long."""
    mocker.patch.object(store_file, "LOCK_TRIES", 5)
    pauses = mocker.patch("time.sleep")
    path = str(tmp_path / "x.dag.cache")
    first, second = CacheFile(path), CacheFile(path)
    for _ in range(2):
        pauses.reset_mock()
        with first.alone():
            add(second, "A")
            add(first, "B")
            add(second, "C")
        assert pauses.call_count == 5 + 1
        add(second, "D")  # has it to itself
    assert list(first.records()) == list(second.records()) == ["A", "B", "C", "D"]


def test_a_file_that_is_replaced_while_one_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.dag.cache"
    add(CacheFile(str(path)), "A")

    def replaced(fd: int, how: int) -> None:
        monkeypatch.undo()
        (tmp_path / "new").write_bytes(path.read_bytes())
        (tmp_path / "new").rename(path)

    monkeypatch.setattr(fcntl, "flock", replaced)
    add(CacheFile(str(path)), "B")
    assert list(read_records(str(path))) == ["A", "B"]


def test_what_cannot_be_written_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.dag.cache"
    store = CacheFile(str(path))
    add(store, "A")

    def full(fd: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        add(store, "B")
    assert not path.exists()
    assert store.records() == {}
    assert "can't be written (No space left on device); it is removed" in store.problems[0]


def test_a_link_is_followed_and_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link, target = tmp_path / "x.dag.cache", tmp_path / "elsewhere"
    link.symlink_to(target)
    store = CacheFile(str(link))
    add(store, "A")
    assert store.problems == [
        f"{link}: can't be written (No such file or directory): it is a link to a file that is not"
        " there; nodes with a CACHE command may run again"
    ]
    assert link.is_symlink()
    target.touch()
    store = CacheFile(str(link))
    monkeypatch.setattr(store_file, "FEW_LINES", 2)
    for _ in range(9):
        add(store, "A")
    assert list(CacheFile(str(link)).records()) == ["A"]
    assert target.read_text().count("\n") == 2
    assert link.is_symlink()


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.dag.cache"
    path.write_text("mine\n")
    store = CacheFile(str(path))
    assert store.records() == {}
    add(store, "A")
    assert path.read_text() == "mine\n"
    assert "it is another file; move it away" in store.problems[0]
    path.unlink()
    os.mkfifo(path)
    assert store.records() == read_records(str(path)) == {}
    add(store, "A")
    assert path.is_fifo()


def test_a_file_that_is_too_large_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_file, "MAX_BYTES", 100)
    path = tmp_path / "x.dag.cache"
    path.write_text(HEAD + "\n" + "x" * 200)
    assert CacheFile(str(path)).records() == {}
    assert read_records(str(path)) == {}
