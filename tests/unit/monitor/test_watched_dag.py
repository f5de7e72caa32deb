"""A DAG that is looked at again and again."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.engine.actions import AppendJournalRecord
from condor_pydagman.errors import FileError
from condor_pydagman.features.growth.adapters import kept_pieces
from condor_pydagman.features.growth.piece import PieceText
from condor_pydagman.follow.run_model import DagState
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.graph.stepwise import at_once
from condor_pydagman.monitor import plan, schedd_queries, watched_dag
from condor_pydagman.monitor.found_dag import find_dag
from condor_pydagman.monitor.found_state import StateOfFiles, state_of_files
from condor_pydagman.monitor.watched_dag import WatchedDag
from condor_pydagman.names import DagPaths
from condor_pydagman.records.own_events import record_event
from tests import locks, make
from tests.dag_logs import BEGIN, DagLogs

PIECE = "JOB X x.sub\nJOB Y x.sub\nRETRY X 1\n"
DAG = "JOB A a.sub\nJOB B a.sub\nSUBDAG EXTERNAL S inner.dag\n"


@pytest.fixture
def logs(tmp_path: Path) -> DagLogs:
    return started(tmp_path)


def started(tmp_path: Path) -> DagLogs:
    """The logs of a DAG that has just been started, and its files."""
    (tmp_path / "t.dag").write_text(DAG)
    (tmp_path / "inner.dag").write_text("JOB I a.sub\n")
    made = DagLogs(tmp_path).start()
    return made


def watched(logs: DagLogs, **how: Any) -> WatchedDag:
    return WatchedDag(find_dag(str(logs.log.with_name("t.dag")), ask=False), **how)


def test_an_end_that_comes_during_a_look(logs: DagLogs, monkeypatch: pytest.MonkeyPatch) -> None:
    dag = watched(logs)
    logs.submit("A", 7)

    def after_the_end(paths: DagPaths) -> StateOfFiles:
        logs.terminate(7, value=2)
        logs.end(1)
        return state_of_files(paths)

    monkeypatch.setattr(watched_dag, "state_of_files", after_the_end)
    seen = dag.look()
    assert (seen.state, seen.exit_code, seen.counts["failed"]) == ("failed", 1, 1)


def test_a_dag_that_grows(logs: DagLogs, tmp_path: Path) -> None:
    (tmp_path / "t.dag").write_text("JOB A a.sub\nJOB B a.sub\nPARENT A CHILD B\n")
    dag = watched(logs)
    assert dag.look().counts["total"] == 2
    logs.submit("A", 7)
    logs.terminate(7)
    text = PieceText("p", {"p": PIECE}, BuildOptions(), "", "", "A", ("B",), True)
    paths = DagPaths(str(tmp_path / "t.dag"))
    digest = at_once(kept_pieces.of(make.dag("A -> B"), paths)._file.keep(text))
    record = AppendJournalRecord("GROWN", 0, 0, 1, text=digest)
    with open(logs.log, "a") as log:
        log.write(record_event(time.strftime("%Y-%m-%d %H:%M:%S"), "A", record))
    logs.submit("X", 8)
    counts = {name: count for name, count in dag.look().counts.items() if count}
    assert counts == {"total": 4, "done": 1, "idle": 1, "waiting": 1, "ready": 1}
    logs.terminate(8, value=1)
    assert dag.look().counts["failed"] == 0
    grown = dag.dag
    assert grown is not None
    assert grown.retries[grown.ids["X"]].limit == 1


def test_sub_dags_that_are_in_the_queue(logs: DagLogs, tmp_path: Path) -> None:
    dag = watched(logs)
    assert not dag.look().subdags
    logs.submit("S", 8)
    inner = DagLogs(tmp_path, "inner.dag").start()
    inner.submit("I", 9)
    (seen,) = dag.look().subdags
    assert (seen.dag, seen.counts["idle"]) == ("S: inner.dag", 1)
    logs.terminate(8)
    assert not dag.look().subdags


def test_what_changes_though_the_logs_tell_nothing_new(logs: DagLogs, tmp_path: Path) -> None:
    logs.submit("S", 8)
    logs.counts(3, 1, 0, 2, 0, 0, 0, 0, 0)
    with locks.held(tmp_path / "t.dag.lock", "7\n"):
        dag = watched(logs)
        seen = dag.look()
        assert (seen.state, seen.counts["done"], seen.subdags[0].begun) == ("running", 0, 0.0)
        (tmp_path / "t.dag.halt").touch()
        DagLogs(tmp_path, "inner.dag").start()
        seen = dag.look()
        assert (seen.state, seen.subdags[0].begun) == ("halted", BEGIN)
        assert [one.cause for one in seen.notices] == ["dag.halted"]
        (tmp_path / "t.dag.halt").unlink()
        logs.log.rename(tmp_path / "moved")
        seen = dag.look()
        assert (seen.state, seen.counts["done"]) == ("running", 1), "DAGMan's counts are left"
        (tmp_path / "moved").rename(logs.log)
        assert dag.look().counts["done"] == 0


def test_what_was_read_when_a_look_failed_is_seen_at_the_next(
    logs: DagLogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    dag = watched(logs)
    dag.look()
    logs.submit("A", 7)

    def unreadable(paths: DagPaths) -> None:
        raise FileError("can't be read")

    with monkeypatch.context() as patch, pytest.raises(FileError):
        patch.setattr(watched_dag, "state_of_files", unreadable)
        dag.look()
    assert dag.look().counts["idle"] == 1


def test_a_dag_that_is_its_own_sub_dag(logs: DagLogs, tmp_path: Path) -> None:
    (tmp_path / "t.dag").write_text(DAG.replace("inner.dag", "t.dag"))
    dag = watched(logs)
    logs.submit("S", 8)
    assert not dag.look().subdags


def test_dagmans_counts_of_a_dag_that_is_too_big_to_be_read(
    logs: DagLogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "MAX_SMALL_BYTES", 10)
    monkeypatch.setattr(watched_dag, "MAX_LOG_BYTES", 100)
    monkeypatch.setattr(watched_dag, "TAIL_BYTES", 1000)
    for cluster in range(9):
        logs.submit("A", cluster)
    logs.counts(1000, 10, 0, 5, 0, 0, 985, 0, 0)
    counts = watched(logs).look().counts
    assert (counts["total"], counts["done"], counts["idle"]) == (1000, 10, 5)


def test_the_end_of_a_dag_whose_log_is_too_big_to_be_read(
    logs: DagLogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watched_dag, "MAX_LOG_BYTES", 100)
    monkeypatch.setattr(watched_dag, "TAIL_BYTES", 1000)
    for cluster in range(20):
        logs.submit("A", cluster)
        logs.terminate(cluster)
        logs.counts(1000, cluster, 0, 5, 0, 0, 995 - cluster, 0, 0)
    found = find_dag(str(logs.log.with_name("t.dag")), ask=False)
    dag = WatchedDag(found._replace(cluster=7, submitted=BEGIN - 5))
    logs.end(1)
    seen = dag.look()
    assert (seen.state, seen.exit_code, dag.over) == ("failed", 1, True)


def test_a_dag_that_nobody_runs_is_over(logs: DagLogs, monkeypatch: pytest.MonkeyPatch) -> None:
    logs.log.with_name("t.dag.lock").write_text("7\n")
    monkeypatch.setattr(schedd_queries, "queued_dagman_ad", lambda cluster: {})
    dag = watched(logs)
    seen = dag.look()
    assert (seen.state, dag.over, dag.exit_code) == ("interrupted", True, None)
    assert seen.note == "no DAGMan is running it, and none is in the queue"


def test_an_earlier_job_of_a_dag_that_has_run_again(
    logs: DagLogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs.end(0)
    found = find_dag(str(logs.log.with_name("t.dag")), ask=False)
    ad = {"JobStatus": 4, "ExitCode": 1, "CompletionDate": BEGIN - 100}
    monkeypatch.setattr(schedd_queries, "queued_dagman_ad", lambda cluster: {})
    dag = WatchedDag(found._replace(cluster=3, ad=ad, state=DagState.FAILED, exit_code=1))
    seen = dag.look()
    assert (seen.state, seen.exit_code, dag.over) == ("failed", 1, True)


def test_an_earlier_job_of_a_dag_that_runs_again(logs: DagLogs) -> None:
    found = find_dag(str(logs.log.with_name("t.dag")), ask=False)
    ad = {"JobStatus": 3, "EnteredCurrentStatus": BEGIN - 100, "DAG_NodesTotal": 3}
    past = found._replace(cluster=3, ad=ad, state=DagState.REMOVED)
    with locks.held(logs.log.with_name("t.dag.lock"), "7\n"):
        seen = WatchedDag(past).look()
    assert (seen.state, seen.cluster, seen.counts["total"]) == ("removed", 3, 3)
    assert seen.note == "the logs are of a later run than job 3"
