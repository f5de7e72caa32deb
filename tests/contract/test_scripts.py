"""The contract of what runs scripts, kept by the real runner and the simulator's."""

from __future__ import annotations

import errno
import os
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol

import pytest

from condor_pydagman.adapters.script_runner import ScriptRunner
from condor_pydagman.engine.actions import RunScript
from condor_pydagman.engine.inputs import ScriptEnded
from condor_pydagman.graph.model import Script
from condor_pydagman.vocabulary import ScriptKind
from tests import make
from tests.contract import worlds
from tests.sim.fake_scripts import FakeScripts
from tests.waiting import until

PRE = ScriptKind.PRE


class Side(Protocol):
    """One of the two."""

    def start(self, status: int, *, missing: bool = False) -> ScriptEnded | None:
        """Start a PRE script of node 0 that will end so."""

    def wait(self) -> list[ScriptEnded]:
        """Let time pass until something has ended; what has."""

    def shortage(self, *, begins: bool) -> None:
        """From now on there is no process for a script, or there is again."""

    def kill_all(self, *, answered: bool = False) -> None: ...

    def look(self) -> list[ScriptEnded]:
        """Let some time pass; what has ended."""


class FakeSide:
    """The simulator's."""

    def __init__(self) -> None:
        self._world, self._told = worlds.quiet()
        dag = self._world.workload.build()
        engine = make.EngineHarness(dag).engine
        process: Any = SimpleNamespace(dag=dag, engine=engine)
        self._scripts = FakeScripts(self._world, process)

    def start(self, status: int, *, missing: bool = False) -> ScriptEnded | None:
        self._told.code = status
        calm = self._world.faults
        self._world.faults = replace(calm, no_script=1.0) if missing else calm
        action = RunScript(0, PRE, ("script", "A", "0"))
        answer = self._scripts.start(action, Script("script A 0"), "A", "")
        self._world.faults = calm
        return answer

    def wait(self) -> list[ScriptEnded]:
        found: list[ScriptEnded] = []

        def some() -> bool:
            found.extend(self._work())
            return bool(found)

        worlds.until(self._world, some)
        return found

    def look(self) -> list[ScriptEnded]:
        ends = self._world.now + 100
        self._world.at(ends, self._world.nothing)
        found: list[ScriptEnded] = []

        def over() -> bool:
            found.extend(self._work())
            return self._world.now >= ends

        worlds.until(self._world, over)
        return found

    def _work(self) -> list[ScriptEnded]:
        due = self._scripts.next_deadline()
        answers = self._scripts.work() if due is not None and due <= self._world.now else []
        due = self._scripts.next_deadline()
        if due is not None:
            self._world.at(due, self._world.nothing)
        return answers + self._scripts.ended()

    def shortage(self, *, begins: bool) -> None:
        rate = 1.0 if begins else 0.0
        self._world.faults = replace(self._world.faults, short_machine=rate)

    def kill_all(self, *, answered: bool = False) -> None:
        self._scripts.kill_all(answered=answered)


class RealSide:
    """Processes."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._directory = directory
        self._short = False
        real = subprocess.Popen

        def popen(*words: Any, **more: Any) -> Any:
            if self._short:
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
            return real(*words, **more)

        monkeypatch.setattr(subprocess, "Popen", popen)
        self._runner = ScriptRunner()
        script = directory / "script"
        script.write_text('#!/bin/sh\nsleep 0.05\ntest "$1" -ge 0 || kill "$1" $$\nexit "$1"\n')
        script.chmod(0o755)

    def start(self, status: int, *, missing: bool = False) -> ScriptEnded | None:
        words = ("nosuch" if missing else "script", str(status))
        action = RunScript(0, PRE, words)
        return self._runner.start(action, Script(" ".join(words)), "A", str(self._directory))

    def wait(self) -> list[ScriptEnded]:
        found: list[ScriptEnded] = until(self._work, "the end of a script")
        return found

    def look(self) -> list[ScriptEnded]:
        time.sleep(0.2)
        return self._work()

    def _work(self) -> list[ScriptEnded]:
        due = self._runner.next_deadline()
        answers = self._runner.work() if due is not None and due <= time.monotonic() else []
        return answers + self._runner.ended()

    def shortage(self, *, begins: bool) -> None:
        self._short = begins

    def kill_all(self, *, answered: bool = False) -> None:
        self._runner.kill_all(answered=answered)


@pytest.fixture(params=["fake", "real"])
def side(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Side:
    return FakeSide() if request.param == "fake" else RealSide(tmp_path, monkeypatch)


@pytest.mark.parametrize("status", [0, 1, 3, -9, -15])
def test_exit_code_or_signal(side: Side, status: int) -> None:
    assert side.start(status) is None
    assert side.wait() == [ScriptEnded(0, PRE, status)]
    assert side.look() == []


def test_a_script_that_cannot_start_says_so_at_once(side: Side) -> None:
    answer = side.start(0, missing=True)
    assert answer is not None
    assert (answer.node, answer.kind, answer.status) == (0, PRE, 1)
    assert "no such file" in answer.error.lower()
    assert side.look() == []


def test_nothing_is_heard_of_scripts_that_were_killed(side: Side) -> None:
    side.start(0)
    side.kill_all()
    assert side.look() == []
    side.start(3)
    assert side.wait() == [ScriptEnded(0, PRE, 3)]


def test_a_script_starts_when_a_shortage_of_processes_is_over(side: Side) -> None:
    side.shortage(begins=True)
    assert side.start(3) is None
    side.shortage(begins=False)
    assert side.wait() == [ScriptEnded(0, PRE, 3)]
    assert side.look() == []


def test_a_script_fails_when_a_shortage_of_processes_lasts(side: Side) -> None:
    side.shortage(begins=True)
    assert side.start(3) is None
    (answer,) = side.wait()
    assert (answer.node, answer.kind, answer.status) == (0, PRE, 1)
    assert "Resource temporarily unavailable" in answer.error
    assert side.look() == []


@pytest.mark.parametrize("short", [False, True])
def test_the_end_of_a_killed_script_is_told_if_that_is_wanted(side: Side, short: bool) -> None:
    side.shortage(begins=short)
    assert side.start(3) is None
    side.kill_all(answered=True)
    assert side.wait() == [ScriptEnded(0, PRE, -9)]
    side.shortage(begins=False)
    assert side.look() == []


def test_a_script_that_was_killed_before_its_start_does_not_run(side: Side) -> None:
    side.shortage(begins=True)
    assert side.start(3) is None
    side.kill_all()
    side.shortage(begins=False)
    assert side.look() == []
