"""The process that asks the schedd's history."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from condor_pydagman.errors import PoolError
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.web import ended_answers
from condor_pydagman.web.ended_answers import MOST, EndedAnswers, main


def test_what_the_child_asks_and_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def history(condition: str, wanted: Any, most: int, *where: str, since: str) -> list[Any]:
        asked.extend((condition, most, *where, since))
        return [{"ClusterId": 7, "Iwd": "/x", "Requirements": object()}]

    monkeypatch.setattr(schedd_queries, "ads_in_history", history)
    monkeypatch.setattr(schedd_queries, "user", lambda: "ann")
    assert main([]) == 0
    assert json.loads(capsys.readouterr().out) == [{"ClusterId": 7, "Iwd": "/x"}]
    condition, most, name, pool, since = asked
    assert (most, name, pool) == (MOST, "", "")
    for part in ('Owner == "ann"', "DAGManJobId =?= undefined", "EnteredCurrentStatus >= "):
        assert part in condition
    assert since.endswith('Owner == "ann"') and "EnteredCurrentStatus < " in since


async def test_nobody_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[str | PoolError] = ['[{"ClusterId": 7}]', PoolError("away", transient=True), "["]
    asked = asyncio.Event()

    async def output(*arguments: object) -> str:
        await asked.wait()
        answer = answers.pop(0)
        if isinstance(answer, PoolError):
            raise answer
        return answer

    monkeypatch.setattr(ended_answers, "output_of", output)
    monkeypatch.setattr(ended_answers, "FRESH_S", 0.0)
    monkeypatch.setattr(ended_answers, "SHARE", 0)
    found = EndedAnswers()
    for problem in ("", "away", "can't read the answer of the schedd"):
        found.refresh_soon()
        found.refresh_soon()
        asked.set()
        assert found._asking is not None
        await found._asking
        assert (list(found.ads), found.problem) == ([{"ClusterId": 7}], problem)
        assert found.as_of
