"""Whether a nodes log tells of a run of this DAGMan job."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from condor_pydagman.adapters import joblog
from condor_pydagman.adapters.joblog import has_submit_events

EVENT = "{kind:03d} ({cluster:03d}.000.000) 2026-11-22 06:45:08.000 Job ...\n    DAG Node: A\n...\n"


def written(place: Path, *events: tuple[int, int]) -> str:
    text = "".join(EVENT.format(kind=kind, cluster=cluster) for kind, cluster in events)
    (place / "log").write_text(text)
    return str(place / "log")


@pytest.mark.parametrize(
    ("events", "cluster", "shows"),
    [
        ([], 7, False),
        ([(0, 8)], 7, True),
        ([(0, 5), (5, 5), (0, 12)], 7, True),
        ([(0, 5), (5, 5)], 7, False),  # of an earlier DAGMan job
        ([(0, 0), (5, 0), (8, 12)], 7, False),  # NOOP nodes, and records
        ([(0, 8)], 0, False),  # a DAGMan that is no job has no number to compare
    ],
)
def test_what_it_shows(
    tmp_path: Path, events: list[tuple[int, int]], cluster: int, shows: bool
) -> None:
    assert has_submit_events(written(tmp_path, *events), cluster) is shows


def test_a_head_between_two_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, (1, 3), (0, 123456))
    for size in range(1, 90):
        monkeypatch.setattr(joblog, "BLOCK_BYTES", size)
        assert has_submit_events(path, 7)
        assert not has_submit_events(path, 200_000)


def test_a_run_of_the_same_job_that_has_ended(tmp_path: Path) -> None:
    path = written(tmp_path, (0, 8))
    os.utime(path, (1000.0, 1000.0))
    assert not has_submit_events(path, 7, since=1000.0)
    assert has_submit_events(path, 7, since=999.0)


def test_no_log(tmp_path: Path) -> None:
    assert not has_submit_events(str(tmp_path / "nosuch"), 7)
    (tmp_path / "directory").mkdir()
    assert not has_submit_events(str(tmp_path / "directory"), 7)
    os.mkfifo(tmp_path / "fifo")
    assert not has_submit_events(str(tmp_path / "fifo"), 7)
