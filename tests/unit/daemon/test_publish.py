"""Publishing after an edit of the job ad that failed, or has no reply yet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from condor_pydagman.adapters import files
from condor_pydagman.adapters.outlog import OutLog
from condor_pydagman.adapters.schedd_requests import EditOwnAd, Request
from condor_pydagman.config import Config
from condor_pydagman.daemon import publish
from condor_pydagman.daemon.job_ad import JobAd
from condor_pydagman.daemon.publish import Publisher
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.errors import PoolError
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
