"""Conditions are evaluated, and files read, in a process: results, deaths, what takes too long."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.config import Config
from condor_pydagman.feature_table import helpers_of
from condor_pydagman.features.publish.run import ReadResult, ResultRead
from condor_pydagman.features.run_if import helper
from condor_pydagman.features.run_if.commands import ConditionsOfDag
from condor_pydagman.features.run_if.helper import ConditionHelper, obstacle
from condor_pydagman.features.run_if.run import (
    ConditionResult,
    ConditionsEvaluated,
    ConditionWanted,
    EvaluateConditions,
)
from condor_pydagman.graph.stepwise import at_once
from tests import make
from tests.helping import Asker

GOOD = ConditionWanted(1, 7, "n > 3", "[n=5;]", (("n", "n"),))
BAD = ConditionWanted(2, 8, "fatal", "[n=5;]")
IS_5 = ConditionResult(1, 7, 1, "n is 5")


def asker(hangs: Path | None = None, **directories: str) -> Asker:
    dag = make.dag("A -> X")
    dag.directories = {dag.ids[name]: where for name, where in directories.items()}
    return Asker(ConditionHelper(dag), hangs)


def results(asker: Asker, *asked: ConditionWanted) -> list[ConditionResult]:
    """Those of conditions that are asked for together, in the order in which they come."""
    told = [*asker.ask(EvaluateConditions(asked)).results]
    while len(told) < len(asked):
        told += asker.reply().results
    assert not asker.process.busy
    asker.process.end()
    return told


def test_conditions_are_evaluated() -> None:
    it = asker()
    assert it.ask(EvaluateConditions((GOOD, GOOD._replace(expression="n > 9")))) == (
        ConditionsEvaluated([IS_5, IS_5._replace(value=0)])
    )
    assert not it.process.busy
    assert it.process.next_deadline() is None
    it.process.end()


def test_files_are_read_in_the_directory_of_the_node(tmp_path: Path) -> None:
    it = asker(A=str(tmp_path))
    (tmp_path / "a.ad").write_text("n = 3\n")
    assert it.ask(ReadResult(0, 2, "a.ad")) == ResultRead(0, 2, [("n", "3")])
    missing = "No such file or directory"
    assert it.ask(ReadResult(0, 2, "b.ad")) == ResultRead(0, 2, error=missing)
    it.process.end()


def break_down(monkeypatch: pytest.MonkeyPatch, what: Any) -> None:
    """An expression `fatal` does `what` in the process."""
    real = helper.evaluate

    def evaluate(expression: str, ad: str, shown: Any) -> tuple[int, str]:
        return what() if expression == "fatal" else real(expression, ad, shown)

    monkeypatch.setattr(helper, "evaluate", evaluate)


def test_one_that_kills_the_process_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    break_down(monkeypatch, os.abort)
    died = "its process has died: it may take 256 MB of memory"
    assert results(asker(), GOOD, BAD, GOOD) == [IS_5, ConditionResult(2, 8, -1, died), IS_5]


def test_one_that_does_not_end_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hangs = tmp_path / "hangs"

    def hang() -> None:
        hangs.touch()
        time.sleep(600)

    break_down(monkeypatch, hang)
    late = ConditionResult(2, 8, -1, "it took more than 10 s")
    assert results(asker(hangs), BAD, GOOD) == [late, IS_5]


def test_one_that_takes_all_memory_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy() -> tuple[int, str]:
        try:
            return len(b"x" * (1 << 30)), ""
        except MemoryError:
            os.abort()

    break_down(monkeypatch, greedy)
    assert results(asker(), BAD)[0].value == -1


def test_a_file_that_cannot_be_read_in_time_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hangs = tmp_path / "hangs"

    def hang(path: str) -> Any:
        hangs.touch()
        time.sleep(600)

    monkeypatch.setattr(helper, "read_result", hang)
    it = asker(hangs)
    assert it.ask(ReadResult(0, 2, "a.ad")) == ResultRead(0, 2, error="it took more than 10 s")
    it.process.end()


def test_what_htcondor_cannot_read_is_told_with_its_place() -> None:
    dag = make.dag("A -> X\nRUN_IF X 1 ; 2")
    ConditionsOfDag.of(dag).lines_at[dag.ids["X"]] = "d.dag:5"
    assert at_once(obstacle(dag, Config())).startswith("d.dag:5: RUN_IF of node X: 1 ; 2: ")
    good = make.dag("A -> X\nRUN_IF X true")
    assert at_once(obstacle(good, Config())) == ""


def test_which_dags_decide() -> None:
    assert not helpers_of(make.dag("A -> X"))
    assert helpers_of(make.dag("A -> X\nRUN_IF X true")) == ["run_if"]
    assert helpers_of(make.dag("A -> X\nPUBLISH A FILE a")) == ["run_if"]
