"""The DAGs of a queue, by the ads of their DAGMans."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman.monitor import schedd_queries
from condor_pydagman.monitor.queued_dags import WANTED, queued_dag, queued_dags

OURS: dict[str, Any] = {
    "ClusterId": 7,
    "Owner": "ann",
    "Iwd": "/data/ann",
    "UserLog": "sub/q.dag.dagman.log",
    "JobStatus": 2,
    "DAG_Status": 0,
    "DAG_NodesTotal": 4,
    "DAG_NodesDone": 1,
    "DAG_JobsHeld": 1,
    "PYDAGMAN_HeldJobs": 2,
    "DAG_JobsCompleted": 6,
    "DAG_AdUpdateTime": 4700,
    "JobStartDate": 1100,
    "PYDAGMAN_Version": "9.8",
    "PYDAGMAN_WaitsFor": "job.held",
    "PYDAGMAN_WaitsForCount": 1,
    "PYDAGMAN_CpuSeconds": 0.43,
}


def test_of_ours() -> None:
    dag = queued_dag(OURS)
    assert (dag.owner, dag.dag, dag.state) == ("ann", "/data/ann/sub/q.dag", "running")
    assert (dag.program, dag.waits_for, dag.waits_for_count) == (
        "condor_pydagman 9.8", "job.held", 1
    )  # fmt: skip
    assert (dag.done, dag.total, dag.last_end, dag.cpu_s) == (1, 4, 0, 0.43)
    assert dag.jobs_an_hour == 6.0


def test_of_stock_before_and_after_it_has_published() -> None:
    ad = {
        "ClusterId": 8,
        "Owner": "bob",
        "UserLog": "/b/x.dag.dagman.log",
        "Iwd": "/b",
        "JobStatus": 2,
    }
    dag = queued_dag(ad)
    assert (dag.program, dag.dag, dag.total, dag.jobs_an_hour) == ("", "/b/x.dag", 0, 0.0)
    assert queued_dag({**ad, "DAG_Status": 1}).program == "condor_dagman"


@pytest.mark.parametrize("value", ["many", None, True, 1e300, float("nan"), [1]])
def test_what_a_user_has_set_to_something_else(value: object) -> None:
    dag = queued_dag({**OURS, "DAG_NodesDone": value, "UserLog": "?"})
    assert (dag.done, dag.dag) == (0, "/data/ann/?")


def test_the_query(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def answer(*arguments: object) -> list[dict[str, Any]]:
        asked.append(arguments)
        others = {"ClusterId": 5, "UserLog": "cron.log", "Iwd": "/", "JobStatus": 2}
        return [OURS, {**OURS, "ClusterId": 6, "DAGManJobId": 7}, others]

    monkeypatch.setattr(schedd_queries, "ads_in_queue", answer)
    dags = queued_dags('Owner == "ann"', name="s", pool="p")
    condition = 'JobUniverse == 7 && (Owner == "ann")'
    assert asked == [(condition, WANTED, "s", "p")]
    assert [dag.cluster for dag in dags] == [6, 7]


class Odd(dict[str, Any]):
    """An ad with a string that is not UTF-8, for which the bindings raise an error."""

    def get(self, name: str, default: Any = None) -> Any:
        if name in ("Iwd", "DAG_NodesDone"):
            raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")
        return super().get(name, default)


def test_what_the_bindings_can_not_read() -> None:
    dag = queued_dag(Odd(OURS, JobStatus="running"))
    assert (dag.dag, dag.done, dag.state) == ("?/sub/q.dag", 0, "unknown")


def test_what_counts_of_a_dagman_that_does_not_run() -> None:
    assert queued_dag({**OURS, "JobStatus": 5}).waits_for == "dagman.held"
    assert queued_dag({**OURS, "JobStatus": 1}).waits_for == "dagman.idle"
