"""Logs that are larger, in one way or the other, than any that HTCondor writes."""

from __future__ import annotations

import contextlib
import gc
import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from condor_pydagman.adapters.inotify import DirectoryWatch
from condor_pydagman.adapters.joblog import MAX_BATCH_EVENTS, MAX_TEXT_CHARS, NodesLog
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.errors import FileError
from condor_pydagman.vocabulary import EventKind
from tests.waiting import ending, woken


def event(cluster: int, reason: str = "why") -> str:
    head = f"012 ({cluster:03}.000.000) 2026-11-21 11:56:29 Job was held.\n"
    return f"{head}\t{reason}\n\tCode 1 Subcode 0\n...\n"


def read(path: Path) -> list[LogEvent]:
    log = NodesLog(str(path))
    log.open(truncate=False)
    found: list[LogEvent] = []
    for events in log.to_end():
        assert len(events) <= MAX_BATCH_EVENTS + 1
        found += [event for event in events if isinstance(event, LogEvent)]
    return found


def test_a_reason_of_megabytes_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(event(1) + event(2, "x" * 5_000_000) + event(3))
    events = read(path)
    assert [found.cluster for found in events] == [1, 2, 3]
    assert [len(found.text) for found in events] == [3, MAX_TEXT_CHARS, 3]


def test_an_event_of_a_million_lines(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(event(1) + event(2, "why" + "\n\tz" * 1_000_000) + event(3))
    assert [found.cluster for found in read(path)] == [1, 2, 3]


def test_garbage_without_a_line_end_takes_neither_memory_nor_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with path.open("wb") as file:
        file.truncate(200_000_000)
        file.seek(0, 2)
        file.write(b"\n...\n" + event(7).encode())
    Path("/proc/self/clear_refs").write_text("5")  # tests before this one may have had more memory
    before = most_kilobytes()
    with ending("a read in more than linear time"):
        assert [found.cluster for found in read(path)][-1] == 7
    assert most_kilobytes() - before < 100_000


def most_kilobytes() -> int:
    """The most memory of this process so far."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])


def test_a_storm_of_names_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else's `touch` and `rm` in a loop costs a bounded time at each turn."""
    watch = woken(lambda: DirectoryWatch(str(tmp_path)))
    for _ in range(5000):
        (tmp_path / "x").touch()
        (tmp_path / "x").unlink()
    reads: list[int] = []
    read_some = os.read
    monkeypatch.setattr(os, "read", lambda *words: reads.append(1) or read_some(*words))
    watch.clear()
    assert 0 < len(reads) < 100
    watch.close()


def test_kinds_are_those_of_htcondor() -> None:
    assert event(1).startswith(f"{EventKind.JOB_HELD:03}")


@contextlib.contextmanager
def descriptors(free: int) -> Iterator[None]:
    """So many files more can be opened."""
    gc.collect()
    gc.disable()  # it would close files of tests before this one
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken: list[int] = []
    highest = max(map(int, os.listdir("/proc/self/fd")))  # tests before this one may have many open
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 50, limits[1]))
    try:
        with contextlib.suppress(OSError):
            while True:
                taken.append(os.open(os.devnull, os.O_RDONLY))
        for _ in range(free):
            os.close(taken.pop())
        yield
    finally:
        for fd in taken:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        gc.enable()


def test_no_descriptor_for_the_bindings_is_no_fault_of_the_log(tmp_path: Path) -> None:
    """They would say that the file is not there, and the DAG would end as if it were not."""
    path = tmp_path / "log"
    path.write_text(event(1))
    with descriptors(1), pytest.raises(OSError, match="Too many open files"):
        NodesLog(str(path)).open(truncate=False)
    with descriptors(0), pytest.raises(FileError, match="Too many open files") as caught:
        NodesLog(str(path)).open(truncate=False)
    assert caught.value.transient
    log = NodesLog(str(path))
    log.open(truncate=False)
    log.read()
    with path.open("a") as file:
        file.write(event(2))
        file.write("022 (003.000.000) 2026-11-21 11:56:29 Job disconnected\n    x\n    y\n...\n")
    with descriptors(0), pytest.raises(OSError, match="Too many open files"):
        log.read()


def test_numbers_that_are_too_long_for_python(tmp_path: Path) -> None:
    path = tmp_path / "log"
    long = "9" * 5000
    path.write_text(
        f"005 ({long}.000.000) 2026-11-21 11:56:29 Job terminated.\n\t(return value 0)\n...\n"
        f"005 (001.000.000) never Job terminated.\n\t(1) (return value {long})\n...\n" + event(2)
    )
    assert read(path)[-1].cluster == 2
