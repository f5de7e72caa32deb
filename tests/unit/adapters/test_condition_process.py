"""The process that evaluates conditions: results, deaths, and what takes too long."""

from __future__ import annotations

import os
import select
import time
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.adapters import condition_process
from condor_pydagman.adapters.condition_process import (
    TIMEOUT_S,
    Condition,
    ConditionProcess,
    Evaluate,
    ReadPublished,
)
from tests.waiting import until

GOOD, BAD = Condition("n > 3", "[n=5;]", (("n", "n"),)), Condition("fatal", "[n=5;]")


class Asker:
    """Asks, and waits for what comes."""

    def __init__(self, hangs: Path | None = None) -> None:
        self.warned: list[str] = []
        self.now = 1000.0
        self.hangs = hangs  # a request that does makes this file
        self.process = ConditionProcess(select.epoll(), lambda: self.now, self.warned.append)
        self.results: list[Any] = []

    def ask(self, request: Evaluate | ReadPublished) -> Any:
        self.process.ask(request, self.results.append)
        until(self._answered, "an answer", pause_s=0)
        return self.results.pop(0)

    def _answered(self) -> bool:
        self.process._epoll.poll(0.02)
        if self.hangs is not None and self.hangs.exists():
            self.hangs.unlink()
            self.now += TIMEOUT_S
        for then, result in self.process.results():
            then(result)
        return bool(self.results)


def test_results_come_back(tmp_path: Path) -> None:
    asker = Asker()
    assert asker.ask(Evaluate((GOOD, GOOD._replace(expression="n > 9")))) == [
        (1, "n is 5"),
        (0, "n is 5"),
    ]
    (tmp_path / "a.ad").write_text("n = 3\n")
    assert asker.ask(ReadPublished(str(tmp_path / "a.ad"))) == [("n", "3")]
    assert asker.ask(ReadPublished(str(tmp_path / "b.ad"))) == "No such file or directory"
    assert not asker.process.busy
    assert asker.process.next_deadline() is None
    asker.process.end()


def break_down(monkeypatch: pytest.MonkeyPatch, what: Any) -> None:
    """An expression `fatal` does `what` in the process."""
    real = condition_process.evaluate

    def evaluate(expression: str, ad: str, shown: Any) -> tuple[int, str]:
        return what() if expression == "fatal" else real(expression, ad, shown)

    monkeypatch.setattr(condition_process, "evaluate", evaluate)


def test_one_that_kills_the_process_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    break_down(monkeypatch, os.abort)
    asker = Asker()
    good, bad, last = asker.ask(Evaluate((GOOD, BAD, GOOD)))
    assert good == last == (1, "n is 5")
    assert bad == (-1, "its process has died: it may take 256 MB of memory")
    asker.process.end()


def test_one_that_does_not_end_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asker = Asker(tmp_path / "hangs")

    def hang() -> None:
        asker.hangs.touch()
        time.sleep(600)

    break_down(monkeypatch, hang)
    assert asker.ask(Evaluate((BAD, GOOD))) == [
        (-1, f"it took more than {TIMEOUT_S:.0f} s"),
        (1, "n is 5"),
    ]
    asker.process.end()


def test_one_that_takes_all_memory_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy() -> tuple[int, str]:
        try:
            return len(b"x" * (1 << 30)), ""
        except MemoryError:
            os.abort()

    break_down(monkeypatch, greedy)
    asker = Asker()
    assert asker.ask(Evaluate((BAD,)))[0][0] == -1
    asker.process.end()


def test_it_is_given_up() -> None:
    asker = Asker()
    asker.process.ask(Evaluate((GOOD,)), asker.results.append)
    asker.process.end()
    assert not asker.process.busy
