"""The program of a FEEDER: it is run, and what it writes becomes a piece, or a reason why not."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.features.feeder.commands import Feeder, FeederOfDag
from condor_pydagman.features.feeder.helper import FeederHelper, is_empty
from condor_pydagman.features.feeder.run import Fed, RunFeeder
from condor_pydagman.features.growth.adapters import kept_pieces
from condor_pydagman.features.growth.commands import Feeding
from tests.features.growth.test_helper import Bench
from tests.waiting import LIMIT_S, until


class FeedingBench(Bench):
    """A helper for a DAG with a FEEDER."""

    def __init__(self, directory: Path, script: str, **how: Any) -> None:
        super().__init__(directory, **how)
        self.run.out.flush = lambda: None
        self.run.clock = time  # that of its program
        program = directory / "feed"
        program.write_text("#!/bin/sh\n" + script)
        program.chmod(0o755)
        FeederOfDag.put(self.dag).feeder = Feeder(
            0, 1, 0, round(LIMIT_S), 0, "feed", str(directory)
        )
        self.feeder = FeederHelper(self.run, self.helper.read_feeding)

    def begin(self, number: int = 1) -> None:
        action = RunFeeder(number, ("feed",), (("PYDAGMAN_FEEDING", str(number)),))
        self.feeder.ask(action, self.told.append)

    def next_deadline(self) -> float | None:
        times = (self.feeder.next_deadline(), self.helper.next_deadline())
        return min((time for time in times if time is not None), default=None)

    def step(self) -> None:
        self.feeder.work(time.monotonic())
        self.helper.work(time.monotonic())

    def until_told(self) -> Fed:
        while not self.told:
            due = self.next_deadline()
            assert due is not None
            time.sleep(max(0.0, min(due - time.monotonic(), 0.1)))
            self.step()
        told = self.told.pop()
        assert isinstance(told, Fed)
        return told

    def fed(self, number: int = 1) -> Fed:
        self.begin(number)
        return self.until_told()


def test_a_piece(tmp_path: Path) -> None:
    bench = FeedingBench(tmp_path, "echo JOB X$PYDAGMAN_FEEDING x; echo PARENT A CHILD X1")
    told = bench.fed()
    assert told.piece is not None
    assert told.piece.dag.names[:1] == ["X1"]
    assert told.piece.feeding == Feeding(1)
    again = kept_pieces.of(bench.dag, bench.paths)[told.piece.digest]
    assert (again.feeding, again.known) == (Feeding(1), (0,))
    assert bench.next_deadline() is None


def test_no_more_with_and_without_nodes(tmp_path: Path) -> None:
    told = FeedingBench(tmp_path, "echo JOB X x; exit 3").fed(4)
    assert told.piece is not None
    assert told.piece.feeding == Feeding(4, last=True)
    told = FeedingBench(tmp_path, "exit 3").fed(5)
    assert told.piece is not None
    assert (told.piece.feeding, told.piece.size) == (Feeding(5, last=True), 0)


def test_nothing_now(tmp_path: Path) -> None:
    assert FeedingBench(tmp_path, "echo; echo '  # none'").fed() == Fed(1)
    assert not (tmp_path / "t.dag.grown").exists()


def test_what_is_refused(tmp_path: Path) -> None:
    error = (
        FeedingBench(tmp_path, "echo JOB A x; echo FOO; echo FEEDER BELOW 1 PROGRAM f").fed().error
    )
    assert error.startswith("what it has written is refused: ")
    assert "<feeding 1>:1" in error
    assert "Node A already exists in DAG" in error
    assert "<feeding 1>:2" in error
    error = FeedingBench(tmp_path, "echo FEEDER BELOW 1 PROGRAM f").fed().error
    assert "FEEDER can't be added to a DAG that runs" in error


def test_a_failure(tmp_path: Path) -> None:
    assert FeedingBench(tmp_path, "exit 9").fed().error == "feed ended with exit code 9"
    bench = FeedingBench(tmp_path, "")
    (tmp_path / "feed").unlink()
    assert bench.fed().error == "can't run feed: No such file or directory"
    assert bench.next_deadline() is None
    bench = FeedingBench(tmp_path, "")
    (tmp_path / "feed").chmod(0o644)
    assert bench.fed().error.endswith("Permission denied (it is not executable: use chmod +x)")


def test_too_much(tmp_path: Path) -> None:
    told = FeedingBench(tmp_path, "exec yes", max_piece_mb=1).fed()
    assert "has written more than 1,000,000 bytes (PYDAGMAN_MAX_PIECE_MB)" in told.error


def test_one_that_is_stopped_tells_nothing(tmp_path: Path) -> None:
    bench = FeedingBench(tmp_path, "sleep 1000")
    bench.feeder.kill_programs()  # before the first one
    bench.begin()
    bench.feeder.kill_programs()
    bench.step()
    assert bench.next_deadline() is None
    assert not bench.told


def test_while_the_disk_is_full_a_feeding_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = FeedingBench(tmp_path, "echo JOB X x")

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full)
        bench.begin()

        def complains() -> bool:
            bench.step()
            return bool(bench.said)

        until(complains, "a word about the disk")
        assert not bench.told
    due = bench.next_deadline()
    assert due is not None
    bench.work(due)
    assert bench.told.pop().piece.size == 1


@pytest.mark.parametrize(
    ("text", "empty"), [("", True), ("\n \t\n# x\n  # y", True), ("# x\nJOB A a", False)]
)
def test_what_is_empty(text: str, empty: bool) -> None:
    assert is_empty(text) is empty
