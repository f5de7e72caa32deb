"""The kernel tells of changes to one file, and only while we watch."""

from __future__ import annotations

import ctypes
import os
import select
import struct
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from condor_pydagman.adapters import inotify
from condor_pydagman.adapters.inotify import DirectoryWatch, FileWatch, HaltFile, is_remote
from tests.waiting import woken


def told(watch: FileWatch) -> bool:
    poll = select.poll()
    poll.register(watch.fileno(), select.POLLIN)
    return bool(poll.poll(0))


@pytest.fixture
def watched_log(tmp_path: Path) -> Path:
    file = tmp_path / "log"
    file.write_text("")
    return file


@pytest.fixture
def watch(watched_log: Path) -> Iterator[FileWatch]:
    """Watches it."""
    made = woken(lambda: FileWatch(str(watched_log)))
    yield made
    made.close()


def test_a_write_wakes_and_clear_ends_it(watched_log: Path, watch: FileWatch) -> None:
    assert not told(watch)
    with watched_log.open("a") as file:
        file.write("x")
    assert told(watch)
    watch.clear()
    assert not told(watch)
    with watched_log.open("a") as file:
        file.write("y")
    assert told(watch)


def test_what_a_file_has_wakes_nobody_who_watches_its_directory(watched_log: Path) -> None:
    watch = woken(lambda: DirectoryWatch(str(watched_log.parent)))
    watched_log.write_text("x")
    assert not told(watch)
    watch.close()


def test_reading_the_file_does_not_wake(watched_log: Path, watch: FileWatch) -> None:
    watched_log.read_text()
    assert not told(watch)


@pytest.mark.parametrize("how", ["unlink", "rename", "truncate"])
def test_what_else_happens_to_the_file_wakes(watched_log: Path, watch: FileWatch, how: str) -> None:
    watched_log.write_text("x")
    watch.clear()
    if how == "unlink":
        watched_log.unlink()
    elif how == "rename":
        watched_log.rename(watched_log.with_name("other"))
    else:
        watched_log.write_text("")
    assert told(watch)


def test_many_writes_are_one_matter(watched_log: Path, watch: FileWatch) -> None:
    for _ in range(3000):
        with watched_log.open("a") as file:
            file.write("x")
    watch.clear()
    assert not told(watch)


def test_a_file_that_is_not_there_cannot_be_watched(tmp_path: Path) -> None:
    watch = FileWatch(str(tmp_path / "nosuch"))
    assert watch.fileno() == -1
    watch.clear()
    watch.close()


def test_close_twice(watch: FileWatch) -> None:
    watch.close()
    watch.close()
    assert watch.fileno() == -1


def test_what_only_this_machine_writes_is_not_remote() -> None:
    assert not is_remote("/proc/self")
    assert not is_remote("/nonexistent")


def test_file_systems_that_other_machines_write_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """By their numbers in Linux's magic.h, and in what Lustre and GPFS publish."""
    remote = {
        "NFS": 0x6969, "SMB": 0x517B, "CIFS": 0xFF534D42, "SMB2": 0xFE534D42, "Lustre": 0x0BD00BD0,
        "GPFS": 0x47504653, "Ceph": 0x00C36400, "FUSE": 0x65735546, "AFS": 0x5346414F,
        "9p": 0x01021997,
    }  # fmt: skip
    local = {"ext4": 0xEF53, "tmpfs": 0x01021994, "XFS": 0x58465342, "Btrfs": 0x9123683E}

    def statfs(path: bytes, buffer: Any) -> int:
        struct.pack_into("=q", buffer, 0, {**remote, **local}[path.decode()])
        return 0

    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: SimpleNamespace(statfs=statfs))
    assert [name for name in (*remote, *local) if is_remote(name)] == [*remote]


def test_a_deletion_is_told_though_somebody_has_the_file_open(
    watched_log: Path, watch: FileWatch
) -> None:
    with watched_log.open():
        watched_log.unlink()
        assert told(watch)


pytestmark = pytest.mark.usefixtures("work_directory")


def is_woken(halt: HaltFile) -> bool:
    poll = select.poll()
    poll.register(halt.fileno(), select.POLLIN)
    return bool(poll.poll(0))


def test_one_watch_for_the_log_and_the_halt_file(work_directory: Path) -> None:
    Path("t.dag.nodes.log").touch()
    log = FileWatch("t.dag.nodes.log")
    halt = HaltFile("t.dag.halt", log)
    assert halt.fileno() == log.fileno() >= 0
    Path("t.dag.halt").touch()
    assert is_woken(halt)
    assert halt.look() is True
    assert is_woken(halt), "there may be news of the log, which has not been read yet"
    log.clear()
    assert not is_woken(halt)


def test_it_is_told_once_when_it_appears_and_once_when_it_vanishes() -> None:
    halt = HaltFile("t.dag.halt")
    assert halt.look() is None
    Path("t.dag.halt").touch()
    assert (halt.look(), halt.look()) == (True, None)
    os.unlink("t.dag.halt")
    assert (halt.look(), halt.look()) == (False, None)


def test_one_that_was_there_before() -> None:
    Path("t.dag.halt").touch()
    assert HaltFile("t.dag.halt").look() is True


def test_one_that_comes_and_goes_between_two_looks_is_none() -> None:
    halt = woken(lambda: HaltFile("t.dag.halt"))
    Path("t.dag.halt").touch()
    os.unlink("t.dag.halt")
    assert halt.look() is None
    assert not is_woken(halt)


@pytest.mark.parametrize("name", ["t.dag.halt", "sub/t.dag.halt"])
def test_the_kernel_wakes_us(name: str) -> None:
    Path("sub").mkdir()
    halt = woken(lambda: HaltFile(name))
    assert not is_woken(halt)
    Path(name).touch()
    assert is_woken(halt)
    assert halt.look() is True
    assert not is_woken(halt)
    os.replace(name, name + ".off")
    assert is_woken(halt)
    assert halt.look() is False


def test_without_help_from_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inotify, "is_remote", lambda path: True)
    halt = HaltFile("t.dag.halt")
    assert halt.fileno() == -1
    Path("t.dag.halt").touch()
    assert halt.look() is True


def test_its_directory_is_gone() -> None:
    Path("sub").mkdir()
    halt = HaltFile("sub/t.dag.halt")
    os.rmdir("sub")
    assert halt.look() is None
