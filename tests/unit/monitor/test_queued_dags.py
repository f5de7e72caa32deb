"""The DAGs of a queue, by the ads of their DAGMans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import classad2
import pytest

from condor_pydagman.errors import PoolError
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.monitor.queued_dags import (
    CHANGING,
    SHOWN,
    WANTED,
    Looks,
    queued_dag,
    queued_dags,
)

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


def test_shared_limits_that_are_full() -> None:
    dag = queued_dag({**OURS, "PYDAGMAN_WaitsFor": "limit.full disk, tape"})
    assert (dag.waits_for, dag.waits_for_names) == ("limit.full", "disk, tape")


def test_what_counts_of_a_dagman_that_does_not_run() -> None:
    held = queued_dag({**OURS, "JobStatus": 5, "PYDAGMAN_WaitsFor": "limit.full tape"})
    assert (held.waits_for, held.waits_for_names) == ("dagman.held", "")
    assert queued_dag({**OURS, "JobStatus": 5, "PYDAGMAN_WaitsForCount": 8}).waits_for_count == 1
    assert queued_dag({**OURS, "JobStatus": 1}).waits_for == "dagman.idle"


class Queue:
    """A schedd's queue: answers queries, and counts the ads of each with their attributes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ads: dict[int, dict[str, Any]] = {}
        self.answered: list[tuple[int, int]] = []
        self.is_away = False
        monkeypatch.setattr(schedd_queries, "ads_in_queue", self._answer)

    def put(self, cluster: int, **more: Any) -> None:
        log = f"sub/{cluster}.dag.dagman.log"
        self.ads[cluster] = {**OURS, "ClusterId": cluster, "JobUniverse": 7, "UserLog": log, **more}

    def _answer(self, condition: str, wanted: Sequence[str], *_: str) -> list[dict[str, Any]]:
        if self.is_away:
            raise PoolError("away", transient=True)
        expression = classad2.ExprTree(condition)
        met = [ad for ad in self.ads.values() if expression.eval(classad2.ClassAd(ad)) is True]
        self.answered.append((len(met), len(wanted)))
        return [{name: ad[name] for name in wanted if name in ad} for ad in met]


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Queue:
    return Queue(monkeypatch)


def test_looks_again_see_what_a_whole_look_sees(queue: Queue) -> None:
    looks = Looks('Owner == "ann"', "", "")

    def look(*answered: tuple[int, int]) -> None:
        del queue.answered[:]
        seen = looks.look()
        assert queue.answered == list(answered)
        assert seen == queued_dags('Owner == "ann"', wanted=SHOWN)

    every, less = len(SHOWN), len(CHANGING)
    look((0, every))
    for cluster in (5, 7, 9):
        queue.put(cluster)
    queue.put(6, UserLog="cron.log")  # no DAGMan's
    del queue.ads[6]["DAG_NodesTotal"]
    look((4, every))
    look((4, less))
    queue.ads[7].update(JobStatus=5, DAG_NodesDone=3, PYDAGMAN_WaitsFor="")
    queue.ads[9]["Owner"] = "bob"
    look((3, less))
    queue.ads[9]["Owner"] = "ann"
    queue.put(12, QDate=80)
    del queue.ads[5]
    look((4, less), (2, every))
    queue.ads[6]["DAG_NodesTotal"] = 2
    look((4, less), (4, every))


def test_a_look_without_an_answer_forgets_what_may_be_another_queue(queue: Queue) -> None:
    looks = Looks("true", "", "")
    queue.put(7)
    looks.look()
    queue.is_away = True
    with pytest.raises(PoolError):
        looks.look()
    queue.is_away = False
    queue.put(7, Owner="bob")
    assert [dag.owner for dag in looks.look()] == ["bob"]
