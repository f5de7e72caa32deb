"""condor_pydagman metrics: what its readers make of it, and what reads it that we ship."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as prometheus_text

from condor_pydagman.cli import metrics_command, pydagman
from condor_pydagman.errors import PoolError
from condor_pydagman.monitor.queue_metrics import FAMILIES
from condor_pydagman.monitor.queued_dags import QueuedDag, queued_dag
from tests.installation import CHECKOUT

NOW = 10_000.0
SHIPPED = CHECKOUT / "share" / "monitoring"


def dag(owner: str = "ann", **more: Any) -> QueuedDag:
    return queued_dag({"ClusterId": 1, "Owner": owner, "JobStatus": 2, "QDate": 1000, **more})


OURS = {"PYDAGMAN_Version": "1.0"}
DAGS = [
    dag(DAG_NodesTotal=9, DAG_NodesReady=2, PYDAGMAN_LastNodeEnd=2000, JobRunCount=4, **OURS),
    dag(DAG_NodesTotal=5, DAG_JobsIdle=2, DAG_JobsRunning=1, PYDAGMAN_MemoryKB=3, **OURS),
    dag("bob", DAG_NodesTotal=1, DAG_NodesReady=1, PYDAGMAN_LastNodeEnd=9000, JobRunCount=2),
    dag("bob", JobStatus=5, DAG_NodesReady=1, PYDAGMAN_Version="x" * 99),
    dag("bob", DAG_Status=0, DAG_JobsIdle=1, QDate=1, PYDAGMAN_WaitsFor="anything"),
    dag(DAG_NodesReady=1, PYDAGMAN_LastNodeEnd=1000, JobCurrentStartDate=9900, **OURS),
    dag(DAG_NodesReady=1, QDate=1001, PYDAGMAN_WaitsFor="node.retry", **OURS),
    dag(DAG_NodesReady=1, QDate=1001, PYDAGMAN_WaitsFor="limit.full tape", **OURS),
]


def samples(text: str, read: Any = open_metrics) -> dict[str, float]:
    return {
        " ".join([sample.name, *sample.labels.values()]): sample.value
        for family in read(text)
        for sample in family.samples
    }


def test_the_figures() -> None:
    text = metrics_command.open_metrics(DAGS, NOW)
    found = samples(text)
    assert (
        found.items()
        >= {
            "dagman_schedd_up": 1.0,
            "dagman_dags running": 7,
            "dagman_dags held": 1,
            "dagman_programs condor_pydagman 1.0": 5,
            "dagman_programs condor_dagman": 1,
            "dagman_programs unknown": 2,
            "dagman_waiting unknown": 5,
            "dagman_waiting dagman.held": 1,
            "dagman_waiting limit.full": 1,
            "dagman_nodes total": 15,
            "dagman_nodes ready": 7,
            "dagman_jobs idle": 3,
            "dagman_stalled": 1,
            "dagman_longest_without_end_seconds": 9000,
            "dagman_restarts": 4,
            "dagman_most_restarts": 3,
            "dagman_memory_bytes": 3072,
        }.items()
    )
    assert samples(text, prometheus_text) == found, "node_exporter reads the older format"
    assert "ann" not in text


def test_by_user() -> None:
    found = samples(metrics_command.open_metrics(DAGS, NOW, by_user=True))
    assert (found["dagman_nodes total ann"], found["dagman_nodes total bob"]) == (14, 1)
    assert found["dagman_most_restarts ann"] == 3


def test_an_empty_queue_and_no_schedd() -> None:
    assert samples(metrics_command.open_metrics([], NOW))["dagman_stalled"] == 0
    assert samples(metrics_command.open_metrics(None, NOW)) == {"dagman_schedd_up": 0.0}


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers: list[Sequence[QueuedDag] | PoolError] = [DAGS, PoolError("silent", transient=True)]

    def look(*_: str, **__: str) -> Sequence[QueuedDag]:
        answer = answers.pop(0)
        if isinstance(answer, PoolError):
            raise answer
        return answer

    monkeypatch.setattr(metrics_command, "queued_dags", look)
    assert pydagman.main(["metrics"]) == 0
    assert samples(capsys.readouterr().out)["dagman_schedd_up"] == 1
    assert pydagman.main(["metrics", "--output", str(tmp_path / "d.prom")]) == 1
    assert samples((tmp_path / "d.prom").read_text()) == {"dagman_schedd_up": 0.0}
    assert "silent" in capsys.readouterr().err


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    with pytest.raises(Exception, match=r"needs the Python package prometheus_client: .*install"):
        metrics_command.open_metrics([], NOW)


@pytest.mark.parametrize("name", ["alerts.yml", "dashboard.json"])
def test_what_we_ship_names_figures_that_there_are(name: str) -> None:
    text = (SHIPPED / name).read_text(encoding="utf-8")
    named = set(re.findall(r"\bdagman_\w+", text))
    assert named and named <= {*FAMILIES, "dagman_schedd_up"}
    if name.endswith(".json"):
        json.loads(text)
