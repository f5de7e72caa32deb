"""dag_status: by files, and by a job's ad."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import htcondor2
import pytest

from condor_pydagman import DagState, DagStatus, FileError, NodeCounts, PoolError, dag_status
from condor_pydagman.engine.report import Deferrals, Report
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.records.banner import exit_line
from condor_pydagman.records.status_table import status_lines
from condor_pydagman.vocabulary import DagStatus as Number
from tests import locks

COUNTS = NodeCounts(9, 1, 1, 1, 1, 2, 1, 1, 1)
REPORT = Report(
    **COUNTS._asdict(), hold_scripts=0, dag_status=Number.OK, in_recovery=False, procs_submitted=0,
    procs_idle=0, procs_held=0, procs_running=0, procs_completed=0, deferrals=Deferrals(),
)  # fmt: skip
TABLE = status_lines(REPORT)


@pytest.fixture(autouse=True)
def dag_directory(work_directory: Path) -> Path:
    Path("t.dag").write_text("JOB A a.sub\n")
    return work_directory


def log(*lines: str) -> None:
    stamped = [f"11/22/26 09:46:15 {line}\n" for line in lines]
    Path("t.dag.dagman.out").write_text("".join(stamped))


@pytest.mark.parametrize(
    ("code", "state"),
    [(0, DagState.SUCCEEDED), (1, DagState.FAILED), (2, DagState.FAILED), (77, DagState.FAILED)],
)
def test_a_dag_that_has_ended(code: int, state: DagState) -> None:
    log(*TABLE, exit_line(12, code))
    Path("t.dag.rescue002").touch()
    found = dag_status("t.dag")
    assert (found.state, found.counts, found.exit_code) == (state, COUNTS, code)
    assert found.rescue == 2
    assert found.updated


def test_a_removed_dag_whose_final_node_succeeded() -> None:
    log(*status_lines(REPORT._replace(dag_status=Number.RM)), exit_line(12, 0))
    found = dag_status("t.dag")
    assert (found.state, found.exit_code) == (DagState.REMOVED, 0)


def test_a_removed_dag_whose_state_is_not_told() -> None:
    log(exit_line(12, 2))
    assert dag_status("t.dag").state is DagState.REMOVED


def test_a_dag_that_was_never_started(dag_directory: Path) -> None:
    assert dag_status(dag_directory / "t.dag") == DagStatus(DagState.NOT_STARTED, rescue=0)


@pytest.mark.parametrize("halted", [False, True])
def test_a_dag_that_runs(halted: bool) -> None:
    log(exit_line(12, 1), "** condor_dagman (CONDOR_DAGMAN) STARTING UP", *TABLE)
    if halted:
        Path("t.dag.halt").touch()
    with locks.held("t.dag.lock", "42\n"):
        found = dag_status("t.dag")
    assert found.state is (DagState.HALTED if halted else DagState.RUNNING)
    assert (found.cluster, found.exit_code, found.counts) == (42, None, COUNTS)


def test_a_lock_that_nobody_holds_is_of_a_run_to_be_recovered() -> None:
    log(*TABLE)
    Path("t.dag.lock").write_text("42\n")
    assert dag_status("t.dag").state is DagState.INTERRUPTED
    Path("t.dag.lock").write_text("")
    assert dag_status("t.dag").state is DagState.UNKNOWN


def test_the_log_may_be_in_another_directory() -> None:
    Path("logs").mkdir()
    log(*TABLE, exit_line(12, 0))
    Path("t.dag.dagman.out").rename("logs/t.dag.dagman.out")
    assert dag_status("t.dag", outfile_dir="logs").state is DagState.SUCCEEDED


def test_no_such_dag_file() -> None:
    with pytest.raises(FileError, match=r"there is no DAG file nosuch\.dag"):
        dag_status("nosuch.dag")


class Schedd:
    """A schedd with some ads in its queue and in its history."""

    queue: tuple[dict[str, Any], ...] = ()
    past: tuple[dict[str, Any], ...] = ()

    def query(
        self, constraint: str, projection: list[str], limit: int = -1
    ) -> tuple[dict[str, Any], ...]:
        if constraint == "ClusterId == 7":
            return ()  # it is no job of a node
        assert constraint == "ClusterId == 7 && ProcId == 0 && JobUniverse == 7"
        return self.queue

    def history(
        self, constraint: str, projection: list[str], match: int
    ) -> tuple[dict[str, Any], ...]:
        return self.past


def with_ad(monkeypatch: pytest.MonkeyPatch, where: str, **ad: Any) -> DagStatus:
    whole = {"ClusterId": 7, "Arguments": "-Dag t.dag", **ad}
    monkeypatch.setattr(Schedd, where, (whole,))
    monkeypatch.setattr(htcondor2, "Schedd", Schedd)
    return dag_status(7)


@pytest.mark.parametrize(
    ("where", "ad", "state", "code"),
    [
        ("queue", {"JobStatus": 1}, DagState.IDLE, None),
        ("queue", {"JobStatus": 2, "DAG_Status": 0}, DagState.RUNNING, None),
        ("queue", {"JobStatus": 2, "DAG_Status": 6}, DagState.HALTED, None),
        ("queue", {"JobStatus": 5}, DagState.HELD, None),
        ("queue", {"JobStatus": 2, "ExitCode": 3}, DagState.RUNNING, None),
        ("past", {"JobStatus": 4, "ExitCode": 0}, DagState.SUCCEEDED, 0),
        ("past", {"JobStatus": 4, "ExitCode": 1}, DagState.FAILED, 1),
        ("past", {"JobStatus": 4, "ExitCode": 2}, DagState.FAILED, 2),
        ("past", {"JobStatus": 3}, DagState.REMOVED, None),
    ],
)
def test_the_state_of_a_job(
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    ad: dict[str, Any],
    state: DagState,
    code: int | None,
) -> None:
    assert with_ad(monkeypatch, where, **ad) == DagStatus(state, None, None, 7, code)


def test_the_counts_of_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    found = with_ad(
        monkeypatch, "queue", JobStatus=2, DAG_NodesTotal=9, DAG_NodesDone=1, DAG_NodesPrerun=1,
        DAG_NodesQueued=1, DAG_NodesPostrun=1, DAG_NodesReady=2, DAG_NodesUnready=1,
        DAG_NodesFailed=1, DAG_NodesFutile=1, DAG_AdUpdateTime=1795253067,
    )  # fmt: skip
    assert (found.counts, found.updated) == (COUNTS, 1795253067)


def test_a_job_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(htcondor2, "Schedd", Schedd)
    with pytest.raises(PoolError, match="has no DAGMan job 7") as caught:
        dag_status(7)
    assert not caught.value.transient


def test_a_schedd_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent() -> None:
        raise htcondor2.HTCondorException("no answer")

    monkeypatch.setattr(htcondor2, "Schedd", silent)
    with pytest.raises(PoolError, match="can't ask the schedd for job 7: no answer") as caught:
        dag_status(7)
    assert caught.value.transient


def test_a_dag_that_is_submitted_again(
    dag_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log(*TABLE, exit_line(12, 0))
    os.utime("t.dag.dagman.out", (1, 1))
    Path("t.dag.condor.sub").touch()
    Path("t.dag.rescue001").touch()
    ad = {"ClusterId": 7, "JobStatus": 1, "Iwd": str(dag_directory), "Arguments": "-Dag t.dag"}
    others = [{**ad, "Arguments": "-Dag u.dag"}, {**ad, "Arguments": "-nosuch"}]
    monkeypatch.setattr(schedd_queries, "my_dagman_ads", lambda: [*others, ad])
    assert dag_status("t.dag") == DagStatus(DagState.IDLE, cluster=7, rescue=1)

    def silent() -> list[Any]:
        raise PoolError("no answer", transient=True)

    monkeypatch.setattr(schedd_queries, "my_dagman_ads", silent)
    assert dag_status("t.dag").state is DagState.SUCCEEDED
