"""Publishing after an edit of the job ad that failed, or has no reply yet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from condor_pydagman.adapters import files
from condor_pydagman.adapters.outlog import OutLog
from condor_pydagman.adapters.schedd_requests import EditOwnAd, Request
from condor_pydagman.config import Config
from condor_pydagman.daemon import publish
from condor_pydagman.daemon.publish import COST_FACTOR, Publisher, Timetable
from condor_pydagman.daemon.run import JobAd, OwnProcess
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.errors import PoolError
from condor_pydagman.timers import PUBLISH_DELAY_S
from condor_pydagman.vocabulary import EventKind
from tests import make
from tests.make import dag


class Schedd:
    """One that is away for a while."""

    def __init__(self) -> None:
        self.away = True
        self.told: dict[str, str] = {}

    def ask(self, request: Request, then: Callable[[Any], None]) -> None:
        assert isinstance(request, EditOwnAd)
        if self.away:
            then(PoolError("no answer", transient=True))
        else:
            self.told.update(request.attributes)
            then(None)


def publisher_of(path: Path, schedd: Any, now: list[float]) -> tuple[Publisher, Engine]:
    made = dag("A")
    engine = Engine(made, Config(), Throttles())
    engine.handle(inputs.Begin(recovering=False), 0.0)
    clock = SimpleNamespace(monotonic=lambda: now[0], time=lambda: now[0])
    run: Any = SimpleNamespace(
        dag=made,
        engine=engine,
        config=Config(),
        out=OutLog(str(path / "out")),
        schedd=schedd,
        job_ad=JobAd(schedd),
        process=OwnProcess(0.0, "", 1, "/", lambda: False),
        recovering=False,
        clock=clock,
        files=files,
    )
    return Publisher(run), engine


def test_a_failed_edit_is_retried_without_a_change(tmp_path: Path) -> None:
    now, schedd = [1000.0], Schedd()
    publisher, _ = publisher_of(tmp_path, schedd, now)
    publisher.begin()
    for _ in range(2):
        due = publisher.next_deadline()
        assert due is not None
        assert due - now[0] <= publish.AD_RETRY_S
        now[0] = max(due, now[0] + publish.AD_RETRY_S)
        publisher.publish_due()
        schedd.away = False
    assert schedd.told["DAG_NodesTotal"] == "1"


class SlowSchedd:
    """One that replies when it is told to."""

    def __init__(self) -> None:
        self.ad: dict[str, str] = {}
        self.requests: list[tuple[EditOwnAd, Callable[[Any], None]]] = []

    def ask(self, request: Request, then: Callable[[Any], None]) -> None:
        assert isinstance(request, EditOwnAd)
        self.requests.append((request, then))

    def reply(self) -> None:
        while self.requests:
            request, then = self.requests.pop(0)
            self.ad.update(request.attributes)
            then(None)


def test_a_value_that_changes_back_while_an_edit_is_under_way_is_published(tmp_path: Path) -> None:
    schedd = SlowSchedd()
    publisher, engine = publisher_of(tmp_path, schedd, [1000.0])
    publisher.publish_ad()
    schedd.reply()
    engine.handle(inputs.Submitted(0, 1, 1), 0.0)
    for event in (make.submit("A", 1), make.of_job(EventKind.JOB_HELD, 1)):
        engine.handle(event, 0.0)
    publisher.publish_ad()
    assert schedd.requests[0][0].attributes["DAG_JobsHeld"] == "1"
    engine.handle(make.of_job(EventKind.JOB_RELEASED, 1), 0.0)
    publisher.publish_ad()
    schedd.reply()
    assert schedd.ad["DAG_JobsHeld"] == "0"


@pytest.mark.parametrize("interval, tables", [(0, 0), (900, 2)])
def test_the_job_table_has_an_interval_of_its_own(
    interval: int, tables: int, tmp_path: Path
) -> None:
    now = [0.0]
    publisher, _ = publisher_of(tmp_path, Schedd(), now)
    publisher.run.config = Config(print_job_table_interval=interval)
    for now[0] in (0.0, 899.0, 901.0, 1800.0, 1802.0):
        publisher.say_status()
    publisher.run.out.flush()
    assert (tmp_path / "out").read_text().count("Total jobs placed") == tables


def test_the_first_change_is_due_at_once() -> None:
    table = Timetable()
    assert table.next() is None
    table.plan("file", 100.0, 60.0)
    assert table.next() == 100.0 + PUBLISH_DELAY_S
    assert table.pop_due(100.0) == []
    assert table.pop_due(100.0 + PUBLISH_DELAY_S) == ["file"]
    assert table.next() is None


@pytest.mark.parametrize(
    ("ended", "changes", "interval", "due"),
    [
        (100.0, (110.0, 150.0), 60.0, 160.0),
        (100.0, (500.0,), 60.0, 500.0 + PUBLISH_DELAY_S),
        (102.0, (102.0,), 0.0, 102.0 + 2.0 * COST_FACTOR),
    ],
    ids=["within the interval", "after it", "slow output has a longer one"],
)
def test_when_a_change_is_due(
    ended: float, changes: tuple[float, ...], interval: float, due: float
) -> None:
    table = Timetable()
    table.done("file", 100.0, ended)
    for change in changes:
        table.plan("file", change, interval)
    assert table.next() == due


@pytest.mark.parametrize(("cost", "expected"), [(0.0, 101.0), (2.0, 100.0 + 2.0 * COST_FACTOR)])
def test_a_reminder_does_not_change_a_planned_time(cost: float, expected: float) -> None:
    table = Timetable()
    table.done("file", 100.0 - cost, 100.0)
    table.remind("file", 100.0, 1.0)
    assert table.next() == expected
    table.plan("other", 90.0, 0.0)
    table.remind("other", 90.0, 50.0)
    assert table.next() == 90.0 + PUBLISH_DELAY_S


def test_each_kind_has_its_own_time_and_all_can_be_cleared() -> None:
    table = Timetable()
    table.plan("one", 100.0, 0.0)
    table.plan("two", 200.0, 0.0)
    assert table.pop_due(150.0) == ["one"]
    table.plan("three", 300.0, 0.0)
    table.drop("three")
    assert table.next() == 200.0 + PUBLISH_DELAY_S
    table.clear()
    assert table.next() is None
