"""The process that makes rounds: results, errors, deaths."""

from __future__ import annotations

import os
import select
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.errors import FileError
from condor_pydagman.matchmaking.match_process import FindSites, MatchProcess
from condor_pydagman.matchmaking.matcher import Matcher, Round
from condor_pydagman.sites.choice import Wanted
from tests.unit.matchmaking.test_matcher import Bench
from tests.waiting import until

REQUEST = FindSites((), (Wanted(0, 0), Wanted(1, 0, "", ("north",), ("x",))), ())


class Asker:
    """Asks, and waits for what comes."""

    def __init__(self, make: Any) -> None:
        self.epoll = select.epoll()
        self.warned: list[str] = []
        self.process = MatchProcess(make, self.epoll, 60.0, time.monotonic, self.warned.append)
        self.results: list[Any] = []

    def ask(self, request: FindSites = REQUEST) -> Any:
        self.process.ask(request, self.results.append)
        return self.wait()

    def wait(self) -> Any:
        until(self._answered, "an answer", pause_s=0)
        return self.results.pop(0)

    def _answered(self) -> bool:
        self.epoll.poll(0.1)
        for then, result in self.process.results():
            then(result)
        return bool(self.results)


def matcher(tmp_path: Path) -> Matcher:
    directory = tmp_path / "claims"
    directory.mkdir(exist_ok=True)
    directory.chmod(0o1777)
    return Bench(directory).matcher


def test_rounds_come_back_as_they_were_made(tmp_path: Path) -> None:
    asker = Asker(lambda: matcher(tmp_path))
    found = asker.ask()
    assert isinstance(found, Round)
    assert found == matcher(tmp_path).round((), REQUEST.wanted, ())
    assert not asker.process.busy
    assert asker.process.next_deadline() is None
    asker.process.end()


def test_errors_are_told(tmp_path: Path) -> None:
    def refuse() -> Matcher:
        raise FileError("the directory is gone")

    asker = Asker(refuse)
    assert asker.ask() == "the directory is gone"
    asker.process.end()


def test_a_bug_is_told_too(tmp_path: Path) -> None:
    asker = Asker(lambda: 1 / 0)
    assert asker.ask() == "division by zero"
    asker.process.end()


def test_a_process_that_dies(tmp_path: Path) -> None:
    asker = Asker(lambda: os.kill(os.getpid(), signal.SIGKILL))
    assert asker.ask() == "the process that looks for sites has died"
    asker.process.end()


def test_a_process_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("condor_pydagman.matchmaking.match_process.TIMEOUT_S", 0.2)
    asker = Asker(lambda: time.sleep(600))
    assert "no answer within" in asker.ask()
    asker.process.end()


def test_several_requests_are_made_one_after_another(tmp_path: Path) -> None:
    asker = Asker(lambda: matcher(tmp_path))
    asker.process.ask(REQUEST, asker.results.append)
    asker.process.ask(FindSites((), (), ()), asker.results.append)
    assert len(asker.wait().matches) == 2
    assert asker.wait().matches == []
    asker.process.end()
