"""The process that asks for shared limits."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from condor_pydagman.errors import PoolError
from condor_pydagman.features.shared_limits import cli as limits_command
from condor_pydagman.features.shared_limits import page as limit_answers
from condor_pydagman.features.shared_limits.page import LimitAnswers
from tests import locks
from tests.dag_logs import DagLogs
from tests.features.shared_limits.test_outside import ROW, a_dag
from tests.page_logs import DAG
from tests.unit.web.page_client import a_page, event

ANSWER = json.dumps([limits_command._json(ROW)])


class Child:
    """Stands for the processes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answer: str | PoolError = ANSWER
        self.asked = 0
        monkeypatch.setattr(limit_answers, "output_of", self.output)
        monkeypatch.setattr(limit_answers, "SHARE", 0)

    async def output(self, *arguments: object) -> str:
        self.asked += 1
        if isinstance(self.answer, PoolError):
            raise self.answer
        return self.answer


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch) -> Child:
    return Child(monkeypatch)


async def test_nothing_is_asked_unless_somebody_wants_it(child: Child) -> None:
    limits = LimitAnswers()
    limits.refresh_soon()
    assert limits.facts.of(a_dag(), 7) == ()
    limits.refresh_soon()
    await asyncio.sleep(0)
    assert not child.asked


async def test_what_is_asked_for_is_there_at_a_later_look(
    child: Child, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("condor_pydagman.features.shared_limits.outside.FRESH_S", 0.0)
    monkeypatch.setattr("condor_pydagman.features.shared_limits.outside.SHARE", 0)
    monkeypatch.setattr(limit_answers, "FRESH_S", 0.0)

    async def look(limits: LimitAnswers) -> list[str]:
        found = [part.name for part in limits.facts.of(a_dag("tape"), 7)]
        limits.refresh_soon()
        await asyncio.sleep(0.01)
        return found

    limits = LimitAnswers()
    assert await look(limits) == []
    assert await look(limits) == ["Tape"]
    child.answer = PoolError("no answer", transient=True)
    assert await look(limits) == ["Tape"]
    assert await look(limits) == []
    child.answer = "[{}]"
    assert await look(limits) == []
    assert child.asked == 5


@pytest.mark.parametrize("line", ["", "SHARED_LIMIT tape ALL_NODES\n"])
async def test_the_page_is_told(
    logs: DagLogs, dag_file: Path, child: Child, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setattr("condor_pydagman.features.shared_limits.outside.FRESH_S", 0.0)
    dag_file.write_text(DAG + line)
    with locks.held(f"{dag_file}.lock", "7\n"):
        async with a_page(dag_file) as page:
            stream = await page.follow()
            seen = await event(stream, "overview")
            if not line:
                assert "shared_limits" not in await page.get("")
                assert not child.asked
                return
            while not seen["shared_limits"]:
                seen = await event(stream, "overview")
            (limit,) = seen["shared_limits"]
            assert limit == {
                "name": "Tape", "kind": "JOBS", "most": 9, "what": "jobs", "taken": 9,
                "own": 5, "waiting": 4, "waits": "node", "ahead": 0, "applied": False
            }  # fmt: skip
