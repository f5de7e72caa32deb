"""Whatever has become of a DAG's logs: who follows it gets what can be read, and no error."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from condor_pydagman.monitor.dag_monitor import DagMonitor
from condor_pydagman.monitor.found_dag import find_dag
from condor_pydagman.monitor.plan import known_plan
from condor_pydagman.monitor.watched_dag import WatchedDag
from tests.old_runs.runs import all_runs, lay_out

RUNS = all_runs()
END = b"...\n"


@pytest.mark.parametrize("seed", range(80))
def test_damaged_logs(seed: int, work_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONDOR_CONFIG", os.devnull)
    rng = Random(seed)
    lay_out(rng.choice(RUNS), work_directory)
    monkeypatch.chdir(work_directory)
    for name, share in (("t.dag.nodes.log", 0.9), ("t.dag.dagman.out", 0.3)):
        if rng.random() < share:
            _damage(rng, work_directory / name)
    if rng.random() < 0.2:
        (work_directory / rng.choice(sorted(os.listdir(work_directory)))).rename("gone")
    found = find_dag("t.dag", ask=False)
    DagMonitor(found, read_plan=lambda: known_plan(found)).read()
    DagMonitor(found).poll()
    assert WatchedDag(found, schedd=lambda _: {}).look().dag


def _damage(rng: Random, path: Path) -> None:
    data = path.read_bytes() if path.exists() else b""
    for _ in range(rng.randint(1, 4)):
        data = rng.choice(_WAYS)(rng, data)
    path.write_bytes(data)


def _cut(rng: Random, data: bytes) -> bytes:
    return data[: rng.randint(0, len(data))]


def _lose_event(rng: Random, data: bytes) -> bytes:
    events = data.split(END)
    del events[rng.randrange(len(events))]
    return END.join(events)


def _repeat_event(rng: Random, data: bytes) -> bytes:
    events = data.split(END)
    events.insert(rng.randint(0, len(events)), rng.choice(events))
    return END.join(events)


def _shuffle(rng: Random, data: bytes) -> bytes:
    events = data.split(END)
    rng.shuffle(events)
    return END.join(events)


def _put_bytes(rng: Random, data: bytes) -> bytes:
    at, size = rng.randint(0, len(data)), rng.randint(1, 40)
    return data[:at] + rng.randbytes(size) + data[at + rng.choice((0, size)) :]


def _lose_line(rng: Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    del lines[rng.randrange(len(lines))]
    return b"\n".join(lines)


_WAYS = (_cut, _lose_event, _repeat_event, _shuffle, _put_bytes, _lose_line)


@pytest.mark.parametrize("kept", [kept for kept in RUNS if kept.name == "sites"], ids=str)
def test_without_the_end_of_a_job(
    kept: Path, work_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONDOR_CONFIG", os.devnull)
    lay_out(kept, work_directory)
    monkeypatch.chdir(work_directory)
    log = Path("t.dag.nodes.log")
    events, doubts = log.read_bytes().split(END), set()
    found = find_dag("t.dag", ask=False)
    for index, event in enumerate(events):
        if event.startswith((b"005", b"009")):
            log.write_bytes(END.join(events[:index] + events[index + 1 :]))
            monitor = DagMonitor(found, read_plan=lambda: known_plan(found))
            monitor.read()
            doubts.update(monitor.doubts)
    assert (
        "The nodes log tells what can't have happened to nodes of the DAG, as its files are now"
        in str(doubts)
    )
