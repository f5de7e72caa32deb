"""The process that makes rounds, and the socket that wakes DAGMan."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.errors import FileError
from condor_pydagman.limit_claims.directory import LimitsDirectory, open_directory, wake
from condor_pydagman.limit_claims.limit_process import (
    LimitProcess,
    Places,
    Rounds,
    TakePlaces,
    WaitForWake,
)
from condor_pydagman.limit_claims.own_file import OwnFile, file_name
from condor_pydagman.shared_limits.definitions import Kind, Limit
from condor_pydagman.shared_limits.rounds import Demand, Grant
from tests.waiting import until


class Side:
    """DAGMan's side of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.epoll = select.epoll()
        self.found: list[Any] = []
        self.woken = 0
        name = file_name("here", 5)
        self.own = OwnFile(open_directory(str(path), lambda text: None), name)
        self.keep_error: FileError | None = None
        self.process = LimitProcess(
            self.rounds, self.keep, self.epoll, time.monotonic, lambda text: None
        )

    def rounds(self) -> Rounds:
        directory = open_directory(str(self.path), lambda text: None)
        seen = LimitsDirectory(directory, "here", self.own.name, lambda clusters: {})
        return Rounds(seen, lambda: ({"tape": Limit("Tape", {Kind.JOBS: 3})}, []), "/x.dag")

    def keep(self) -> str:
        if self.keep_error is not None:
            raise self.keep_error
        return self.own.keep()

    def hear(self) -> None:
        self.woken += 1

    def until(self, what: Any) -> None:
        def there() -> bool:
            self.epoll.poll(0.05)
            for then, result in self.process.results():
                then(result)
            return bool(what())

        if not what():
            until(there, "what the process does", pause_s=0)


@pytest.fixture
def dagman_side(tmp_path: Path) -> Iterator[Side]:
    path = tmp_path / "limits"
    path.mkdir()
    path.chmod(0o1777)
    found = Side(path)
    yield found
    found.process.end()
    found.own.close()
    found.epoll.close()


def test_a_round_is_made_in_another_process(dagman_side: Side) -> None:
    dagman_side.process.ask(
        TakePlaces((Demand(("tape",), nodes=5), Demand(("none",)))), dagman_side.found.append
    )
    assert dagman_side.process.busy
    dagman_side.until(lambda: dagman_side.found)
    (places,) = dagman_side.found
    assert places == Places(
        [Grant((3, -1, -1, -1), -1, ("Tape", Kind.JOBS)), Grant((-1, -1, -1, -1), -1)],
        False,
        None,
        [],
    )
    assert not dagman_side.process.busy


def test_what_can_not_be_done_is_told(dagman_side: Side) -> None:
    dagman_side.keep_error = FileError("no place")
    dagman_side.process.ask(TakePlaces(()), dagman_side.found.append)
    assert dagman_side.process.next_deadline() is not None
    dagman_side.until(lambda: dagman_side.found)
    assert dagman_side.found == ["no place"]


def test_a_process_that_dies_is_told_and_another_one_is_made(dagman_side: Side) -> None:
    dagman_side.process.ask(TakePlaces((Demand(("tape",), nodes=1),)), dagman_side.found.append)
    assert dagman_side.process._child is not None
    os.kill(dagman_side.process._child.pid, 9)
    dagman_side.until(lambda: dagman_side.found)
    if isinstance(dagman_side.found[0], str):
        assert "has died" in dagman_side.found[0]
    dagman_side.process.ask(TakePlaces((Demand(("tape",), nodes=1),)), dagman_side.found.append)
    dagman_side.until(lambda: len(dagman_side.found) == 2)
    assert dagman_side.found[1].grants[0].places[Kind.JOBS] == 1


def test_others_wake_it(dagman_side: Side) -> None:
    dagman_side.process.ask(WaitForWake(), lambda _: dagman_side.hear())
    wake([dagman_side.process.address, "ffffffffffffffff"])
    dagman_side.until(lambda: dagman_side.woken)
    wake([dagman_side.process.address])
    dagman_side.until(lambda: dagman_side.woken == 2)
