"""Which jobs a removal leaves out because they have ended by the log; placements forgotten."""

from __future__ import annotations

from collections import deque
from types import SimpleNamespace
from typing import Any

import pytest
from pytest_mock import MockerFixture

from condor_pydagman.daemon.perform import Performer
from condor_pydagman.engine.actions import ForgetPlacements
from condor_pydagman.engine.inputs import QueuedJob
from condor_pydagman.vocabulary import EventKind
from tests import make


def test_an_end_counts_as_soon_as_it_has_been_read() -> None:
    harness = make.EngineHarness("A; B").begin()
    harness.take("A", 5, procs=5)
    harness.tell(make.terminated(5, 0, value=3))
    run: Any = SimpleNamespace(engine=harness.engine)
    performer = Performer.__new__(Performer)
    performer.run = run
    performer._answers = deque(
        [
            make.terminated(5, 1),
            make.of_job(EventKind.EXECUTE, 5, 4),
            make.terminated(5, 2),
            make.of_job(EventKind.JOB_ABORTED, 5, 3),
        ]
    )
    jobs = [QueuedJob(5, proc, "A", 0) for proc in range(5)]
    assert performer._ended(jobs) == [(5, 0), (5, 1), (5, 2), (5, 3)]
    assert performer._ended([]) == []


@pytest.mark.parametrize("are_gone", [False, True])
def test_a_group_that_leaves_has_its_placements_forgotten(
    are_gone: bool, mocker: MockerFixture
) -> None:
    performer = Performer.__new__(Performer)
    performer.run = mocker.Mock()
    performer._forget_placements(ForgetPlacements((1,), are_gone))
    calls = [mocker.call.forget((1,)), *[mocker.call.leave((1,))] * are_gone]
    assert performer.run.placements.mock_calls == calls
