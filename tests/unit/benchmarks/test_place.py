"""The benchmark waits for what a DAG brings about, and no longer than its DAGMan lives."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from benchmarks import dags, events
from benchmarks.place import Failed, log_tail, wait_while_it_runs

SUBMITTED = "000 (012.000.000) 2026-01-02 03:04:05 Job submitted from host: <1.2.3.4:5>\n...\n"
ENDED = (
    "005 (012.000.000) 2026-01-02 03:04:06 Job terminated.\n"
    "\t(1) Normal termination (return value 1)\n...\n"
)
REMOVED = "009 (012.000.000) 2026-01-02 03:04:06 Job was aborted.\n...\n"


def files(directory: Path, dagman_log: str, out: str = "") -> None:
    """What condor_submit_dag and a DAGMan leave."""
    (directory / f"{dags.NAME}.dagman.log").write_text(dagman_log)
    if out:
        (directory / f"{dags.NAME}.dagman.out").write_text(out)


@pytest.mark.parametrize("end", [ENDED, REMOVED])
def test_a_dagman_that_has_ended_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    files(tmp_path, SUBMITTED + end, "ERROR: the nodes log is in /tmp\n")
    monkeypatch.setattr(time, "sleep", pytest.fail)
    with pytest.raises(Failed, match=r"(?s)has ended without jobs; .*the nodes log is in /tmp"):
        wait_while_it_runs(tmp_path, lambda: 0, "jobs", timeout_s=900)


def test_what_was_there_before_its_end_counts(tmp_path: Path) -> None:
    files(tmp_path, SUBMITTED + ENDED)
    assert wait_while_it_runs(tmp_path, lambda: 7, "jobs", timeout_s=900) == 7


def test_one_that_runs_gets_the_whole_time(tmp_path: Path) -> None:
    files(tmp_path, SUBMITTED)
    answers = [0, 0, 5]
    found = wait_while_it_runs(
        tmp_path, lambda: answers.pop(0), "jobs", timeout_s=900, interval_s=0.01
    )
    assert found == 5
    with pytest.raises(Failed, match=r"0 s have passed without jobs; there is no \.dagman\.out"):
        wait_while_it_runs(tmp_path, lambda: 0, "jobs", timeout_s=0.1, interval_s=0.05)


def test_its_last_words_are_the_end_of_a_long_text(tmp_path: Path) -> None:
    files(tmp_path, "", "x" * 100_000 + "\nEXITING WITH STATUS 1\n")
    assert log_tail(tmp_path).endswith("EXITING WITH STATUS 1")
    assert len(log_tail(tmp_path)) < 2000
    assert events.read(tmp_path / "none") == []
