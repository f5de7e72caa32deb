"""What is published when the schedd could not be told."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from condor_pydagman.adapters.outlog import OutLog
from condor_pydagman.config import Config
from condor_pydagman.daemon import publish
from condor_pydagman.daemon.publish import Publisher
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.errors import PoolError
from tests.make import dag


class Schedd:
    """One that is away for a while."""

    def __init__(self) -> None:
        self.away = True
        self.told: dict[str, str] = {}

    def publish(self, attributes: dict[str, str]) -> None:
        if self.away:
            raise PoolError("no answer", transient=True)
        self.told.update(attributes)


def test_a_schedd_that_was_away_is_told_though_nothing_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [time.monotonic()]
    monkeypatch.setattr(publish.time, "monotonic", lambda: clock[0])
    made, schedd = dag("A"), Schedd()
    engine = Engine(made, Config(), Throttles())
    engine.handle(inputs.Begin(recovering=False), 0.0)
    out = OutLog(str(tmp_path / "out"))
    run: Any = SimpleNamespace(
        dag=made, engine=engine, config=Config(), out=out, schedd=schedd, recovering=False
    )
    publisher = Publisher(cast(Any, run))
    publisher.begin()
    for _ in range(2):
        due = publisher.next_deadline()
        assert due is not None
        assert due - clock[0] <= publish.AGAIN
        clock[0] = max(due, clock[0] + publish.AGAIN)
        publisher.publish_due()
        schedd.away = False
    assert schedd.told["DAG_NodesTotal"] == "1"
