"""Questions to a schedd and a collector that do not answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import classad2
import htcondor2
import pytest

from condor_pydagman.errors import PoolError
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.monitor.dagman_job_commands import act_on


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: schedd_queries.dagman_ad(7), "can't ask the schedd for job 7: away"),
        (lambda: schedd_queries.queued_dagman_ad(7), "can't ask the schedd: away"),
        (lambda: schedd_queries.my_dagman_ads(), "can't ask the schedd: away"),
        (
            lambda: schedd_queries.ads_in_history("true", [], 5, "", ""),
            "can't ask the schedd for its history: away",
        ),
        (lambda: schedd_queries.jobs_of_dag(7, ["JobStatus"]), "can't ask the schedd: away"),
        (schedd_queries.machine_ads, "can't ask the collector for machines: away"),
    ],
)
def test_no_answer(ask: Callable[[], Any], words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any) -> Any:
        raise htcondor2.HTCondorException("away")

    monkeypatch.setattr(htcondor2, "Schedd", away)
    monkeypatch.setattr(htcondor2, "Collector", away)
    with pytest.raises(PoolError, match=words) as caught:
        ask()
    assert caught.value.transient


def test_daemons_that_are_older_than_the_bindings(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "FS:1004:Directory name doesn't match server's network address"

    def refuse(*_: Any) -> Any:
        raise htcondor2.HTCondorException(said)

    monkeypatch.setattr(htcondor2, "Schedd", refuse)
    for ask in (schedd_queries.my_dagman_ads, lambda: act_on(7, "Hold")):
        with pytest.raises(PoolError, match="install bindings that are no newer"):
            ask()


def test_a_job_that_the_schedd_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    class Empty:
        def query(self, *_: Any, **__: Any) -> list[Any]:
            return []

        history = query

    monkeypatch.setattr(htcondor2, "Schedd", Empty)
    assert schedd_queries.queued_dagman_ad(7) == {}
    with pytest.raises(PoolError, match="has no DAGMan job 7"):
        schedd_queries.dagman_ad(7)


def test_other_jobs_of_the_scheduler_universe_are_no_dags(monkeypatch: pytest.MonkeyPatch) -> None:
    logged = {"ClusterId": 1, "JobUniverse": 7, "UserLog": "t.dag.dagman.log"}
    published = {"ClusterId": 2, "JobUniverse": 7, "DAG_NodesTotal": 4}
    others = [{"ClusterId": 3, "JobUniverse": 7, "UserLog": "cron.log"}, {"JobUniverse": 7}]
    held = {"ClusterId": 5, "JobUniverse": 5}

    class Schedd:
        def query(self, *_: Any, **__: Any) -> list[Any]:
            return [logged, *others, published, held]

    monkeypatch.setattr(htcondor2, "Schedd", Schedd)
    assert schedd_queries.my_dagman_ads(also="held") == [logged, published, held]
    condition = classad2.ExprTree(schedd_queries.IS_DAGMAN)
    found = [condition.eval(classad2.ClassAd(ad)) for ad in (logged, published, held)]
    assert found == [True, True, False]


def test_a_job_of_a_node(monkeypatch: pytest.MonkeyPatch) -> None:
    class Schedd:
        def query(self, condition: str, *_: Any, **__: Any) -> list[Any]:
            ad = {"DAGManJobId": 3, "DAGNodeName": "A"}
            return [] if "JobUniverse" in condition else [ad]

        def history(self, *_: Any, **__: Any) -> list[Any]:
            return []

    monkeypatch.setattr(htcondor2, "Schedd", Schedd)
    with pytest.raises(PoolError, match="a job of node A of the DAG of job 3"):
        schedd_queries.dagman_ad(7)


def test_the_history_is_searched_beyond_jobs_that_left_the_queue_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A job that ended before another was submitted may leave the queue after that one's end."""
    asked = []

    class Schedd:
        def query(self, *_: Any, **__: Any) -> list[Any]:
            return []

        def history(self, *_: Any, since: str, **__: Any) -> list[Any]:
            asked.append(classad2.ExprTree(since))
            return []

    monkeypatch.setattr(htcondor2, "Schedd", Schedd)
    assert schedd_queries.ended_job(7, 0, ["Out"], 100_000.5) == {}
    assert schedd_queries.jobs_of_node(7, 0, 1, ["Out"], 100_000.5) == []
    ended = {"ClusterId": 6, "JobStatus": 4, "LeaveJobInQueue": False}
    for stops in asked:
        just_before = classad2.ClassAd({**ended, "EnteredCurrentStatus": 99_999})
        assert stops.eval(just_before) is False
        assert stops.eval(classad2.ClassAd({**ended, "EnteredCurrentStatus": 90_000})) is True
