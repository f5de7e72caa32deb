"""The file with the last delivered event: who has it, and what the next process finds in it."""

from __future__ import annotations

import io
import json
import os
import time
from pathlib import Path

import pytest

from condor_pydagman.monitor import notifier
from condor_pydagman.monitor.notifier import DeliveredFile, lock
from tests import locks

FIRST, LAST = "0000000a.1-0000000b.2", "0000000a.30-0000000b.40"


@pytest.fixture
def delivered_file(tmp_path: Path) -> str:
    return str(tmp_path / "t.dag.notify.1")


def taken(path: str, patience: float = 1.0) -> DeliveredFile:
    file = lock(path, patience)
    assert file is not None
    return file


def test_the_next_process_begins_behind_the_last_event(delivered_file: str) -> None:
    file = taken(delivered_file)
    assert file.id == ""
    file.write(LAST)
    file.write(FIRST)
    assert taken(delivered_file).id == FIRST
    file.delete()
    file.delete()
    assert not os.path.exists(delivered_file)
    assert taken(delivered_file).id == ""


@pytest.mark.parametrize("text", ["", "\0" * 101, "nonsense", "é" * 300])
def test_what_is_no_id_counts_as_none(delivered_file: str, text: str) -> None:
    Path(delivered_file).write_text(text)
    assert taken(delivered_file).id == ""


def test_a_full_disk_leaves_what_was_there(
    delivered_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = taken(delivered_file)
    file.write(FIRST)

    def full(*_: object) -> int:
        raise OSError

    monkeypatch.setattr(os, "pwrite", full)
    file.write(LAST)
    assert file.id == FIRST
    assert taken(delivered_file).id == FIRST


def test_another_process_keeps_it(delivered_file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    lives = [True, True, True]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: now.__setitem__(0, now[0] + 50))
    monkeypatch.setattr(notifier, "dagman_lives", lambda: bool(lives and lives.pop()))
    with locks.held(delivered_file, "x"):
        assert lock(delivered_file, 80) is None
    assert now[0] == 250.0  # as long as DAGMan lives, and 80 s more


def test_who_stands_by_makes_no_file(delivered_file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All is delivered if there is none."""
    order = {"dag": delivered_file[: -len(".notify.1")], "number": 1, "kinds": "*"}
    text = json.dumps({**order, "program": ["x"], "url": "", "stands_by": True})
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert notifier.main() == 0
    assert not os.path.exists(delivered_file)


def test_the_file_of_a_process_that_has_ended_meanwhile(
    delivered_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It delivers the last event and deletes the file while the next one waits for it: that one
    must not deliver everything again."""
    with locks.held(delivered_file, LAST) as holder:

        def end(_: float) -> None:
            os.unlink(delivered_file)
            holder.kill()
            holder.wait()

        monkeypatch.setattr(time, "sleep", end)
        assert taken(delivered_file).id == LAST
    assert Path(delivered_file).read_text().strip() == LAST


def test_a_link_is_not_followed(delivered_file: str, tmp_path: Path) -> None:
    os.symlink(tmp_path / "elsewhere", delivered_file)
    with pytest.raises(OSError):
        lock(delivered_file, 1)


def test_a_fifo_is_refused(delivered_file: str) -> None:
    os.mkfifo(delivered_file)
    with pytest.raises(OSError):
        lock(delivered_file, 1)
