"""Searches of the schedd's history: their results, and what becomes of those that fail or hang."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import pytest

from condor_pydagman.adapters import job_history, schedd_process
from condor_pydagman.adapters.schedd_requests import Accepted, Listing, ListQueue
from condor_pydagman.engine.inputs import EndedJob, QueuedJob
from condor_pydagman.errors import PoolError
from tests.unit.adapters.test_schedd_process import ENDED, SUBMIT, Bench, bench
from tests.waiting import LIMIT_S

__all__ = ["bench"]


def test_a_listing_with_the_history(bench: Bench) -> None:
    bench.adapter.history = lambda: ENDED
    listing = bench.result(ListQueue(history=True))
    assert listing == Listing([QueuedJob(41, 0, "A", 1)], ENDED, {"DAGMan_MaxJobs": 3})


def test_a_history_that_hangs_holds_up_nothing_else(bench: Bench) -> None:
    bench.adapter.history = lambda: time.sleep(600) or []  # type: ignore[func-returns-value]
    listing = bench.ask(ListQueue(history=True))
    assert bench.result(SUBMIT).outcome == Accepted(41, 2)
    assert bench.result(ListQueue()).jobs
    assert not listing
    bench.schedd.close()


def fails() -> list[EndedJob]:
    raise RuntimeError("Failed to receive\nhistory ad.")


def dies() -> list[EndedJob]:
    os._exit(1)


def hangs() -> list[EndedJob]:
    time.sleep(600)
    return []


@pytest.mark.parametrize(
    ("history", "reason"),
    [(fails, "Failed to receive history ad."), (dies, "in the middle"), (hangs, "no answer")],
)
def test_no_history(
    bench: Bench,
    history: Callable[[], list[EndedJob]],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    children: list[Any] = []

    class Noted(schedd_process.Child):
        def __init__(self, *words: Any, **named: Any) -> None:
            super().__init__(*words, **named)
            children.append(self)

    monkeypatch.setattr(schedd_process, "Child", Noted)
    monkeypatch.setattr(
        schedd_process, "HISTORY_TIMEOUT_S", LIMIT_S if history is not hangs else 0.1
    )
    bench.adapter.history = history
    error = bench.result(ListQueue(history=True))
    assert isinstance(error, PoolError)
    assert reason in error.reason
    assert error.transient
    with pytest.raises(ProcessLookupError):
        os.kill(children[-1].pid, 0)


def test_without_a_history_the_run_goes_on_by_queue_and_log(bench: Bench) -> None:
    bench.adapter.history = fails
    results = [bench.result(ListQueue(history=True)) for _ in range(job_history.MAX_TRIES)]
    assert [type(result) for result in results] == [PoolError] * 4 + [Listing]
    assert results[-1].ended == []
    assert bench.adapter.warned == [
        "can't ask for the schedd's history (Failed to receive history ad.); going by log and queue"
    ]


def test_searches_follow_one_another(bench: Bench) -> None:
    bench.adapter.history = lambda: ENDED[:1]
    answers = [bench.ask(ListQueue(history=True)) for _ in range(3)]
    bench.wait(*answers)
    assert [answer[0].ended for answer in answers] == [ENDED[:1]] * 3
