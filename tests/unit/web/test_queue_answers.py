"""The process that asks the schedd."""

from __future__ import annotations

import json

import pytest

from condor_pydagman.errors import PoolError
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.vocabulary import MORE_HELD
from condor_pydagman.web import queue_answers
from condor_pydagman.web.queue_answers import QueueAnswers, main, output_of
from tests.waiting import LIMIT_S


def test_what_the_child_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    dagman = {"ClusterId": 7, "JobUniverse": 7, "Iwd": "/x/\udcff", "Requirements": object()}
    held = [{"DAGManJobId": cluster, "JobUniverse": 5} for cluster in (7, 8, 7)]
    monkeypatch.setattr(schedd_queries, "my_dagman_ads", lambda also: [dagman, *held])
    assert main([]) == 0
    said = {"ClusterId": 7, "JobUniverse": 7, "Iwd": "/x/\udcff", MORE_HELD: 2}
    assert json.loads(capsys.readouterr().out) == [said]


async def test_a_schedd_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[str | PoolError] = [
        '[{"ClusterId": 7, "JobStatus": 2}]',
        PoolError("no schedd", transient=True),
        "[{}]",
    ]

    async def output(*arguments: object) -> str:
        answer = answers.pop(0)
        if isinstance(answer, PoolError):
            raise answer
        return answer

    monkeypatch.setattr(queue_answers, "output_of", output)
    monkeypatch.setattr(queue_answers, "FRESH_S", 0.0)
    found = QueueAnswers()
    with pytest.raises(PoolError, match="not been asked"):
        found.ad(7)
    await found.refresh()
    assert (found.ad(7)["JobStatus"], found.ad(8)) == (2, {})
    await found.refresh()
    with pytest.raises(PoolError, match="no schedd"):
        found.ad(7)
    await found.refresh()
    assert "can't read" in found.problem


async def test_a_child_that_hangs_is_killed() -> None:
    with pytest.raises(PoolError, match=r"no answer in 0\.2 s"):
        await output_of("tests.unit.web.hanging_child", [], 0.2)


async def test_a_child_that_fails() -> None:
    with pytest.raises(PoolError, match="there is no DAG file"):
        await output_of("condor_pydagman.cli.pydagman", ["explain", "/nowhere.dag"], LIMIT_S)
