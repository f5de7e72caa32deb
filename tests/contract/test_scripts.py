"""The contract of what runs scripts, kept by the real runner and the simulator's."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol

import pytest

from condor_pydagman.adapters.scripts import ScriptRunner
from condor_pydagman.engine.actions import KillScripts, RunScript
from condor_pydagman.engine.inputs import ScriptEnded
from condor_pydagman.graph.model import Script
from condor_pydagman.vocabulary import ScriptKind
from tests import make
from tests.contract import worlds
from tests.sim.fake_scripts import FakeScripts

PRE = ScriptKind.PRE


class Side(Protocol):
    """One of the two."""

    def start(self, status: int, *, missing: bool = False) -> ScriptEnded | None:
        """Start a PRE script of node 0 that will end so."""

    def wait(self) -> list[ScriptEnded]:
        """Let time pass until something has ended; what has."""

    def kill_all(self) -> None: ...

    def look(self) -> list[ScriptEnded]:
        """Let some time pass; what has ended."""


class FakeSide:
    """The simulator's."""

    def __init__(self) -> None:
        self._world, self._told = worlds.quiet()
        self._heard: deque[ScriptEnded] = deque()
        dag = self._world.workload.build()
        engine = make.Bench(dag).engine
        process: Any = SimpleNamespace(dag=dag, engine=engine, hear=self._heard.append)
        self._scripts = FakeScripts(self._world, process)

    def start(self, status: int, *, missing: bool = False) -> ScriptEnded | None:
        self._told.code = status
        calm = self._world.faults
        self._world.faults = replace(calm, no_script=1.0) if missing else calm
        answer = self._scripts.start(RunScript(0, PRE, ("script", "A", "0")))
        self._world.faults = calm
        return answer

    def wait(self) -> list[ScriptEnded]:
        worlds.until(self._world, lambda: bool(self._heard))
        return self._take()

    def look(self) -> list[ScriptEnded]:
        ends = self._world.now + 100
        self._world.at(ends, self._world.nothing)
        worlds.until(self._world, lambda: self._world.now >= ends)
        return self._take()

    def kill_all(self) -> None:
        self._scripts.kill_all(KillScripts())

    def _take(self) -> list[ScriptEnded]:
        found = list(self._heard)
        self._heard.clear()
        return found


class RealSide:
    """Processes."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._runner = ScriptRunner()
        script = directory / "script"
        script.write_text('#!/bin/sh\nsleep 0.05\ntest "$1" -ge 0 || kill "$1" $$\nexit "$1"\n')
        script.chmod(0o755)

    def start(self, status: int, *, missing: bool = False) -> ScriptEnded | None:
        words = ("nosuch" if missing else "script", str(status))
        action = RunScript(0, PRE, words)
        return self._runner.start(action, Script(" ".join(words)), "A", str(self._directory))

    def wait(self) -> list[ScriptEnded]:
        limit = time.monotonic() + 180
        while time.monotonic() < limit:
            found = self._runner.ended()
            if found:
                return found
            time.sleep(0.01)
        raise AssertionError("it does not end")

    def look(self) -> list[ScriptEnded]:
        time.sleep(0.2)
        return self._runner.ended()

    def kill_all(self) -> None:
        self._runner.kill_all()


@pytest.fixture(params=["fake", "real"])
def side(request: pytest.FixtureRequest, tmp_path: Path) -> Side:
    return FakeSide() if request.param == "fake" else RealSide(tmp_path)


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
