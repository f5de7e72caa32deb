"""condor_pydagman ls."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.cli import ls, pydagman
from condor_pydagman.cli.dag_table import LISTED
from condor_pydagman.cli.text_table import table
from condor_pydagman.errors import PoolError
from condor_pydagman.monitor import schedd_queries
from tests import locks
from tests.dag_logs import DagLogs


@pytest.fixture(autouse=True)
def logs(work_directory: Path) -> DagLogs:
    (work_directory / "t.dag").write_text("JOB A a.sub\nJOB B a.sub\n")
    made = DagLogs(work_directory).start()
    made.submit("A", 7)
    made.terminate(7, value=3)
    made.now += 2
    made.counts(2, 0, 0, 0, 0, 0, 0, 1, 1)
    made.end(1)
    return made


def ad(cluster: int, place: Path, **more: Any) -> dict[str, Any]:
    return {
        "ClusterId": cluster, "Iwd": str(place), "Arguments": "-Dag q.dag", "JobStatus": 2,
        "DAG_NodesDone": 1, "DAG_NodesTotal": 4, "DAG_NodesFailed": 0, "QDate": 5, **more
    }  # fmt: skip


def schedd_has(
    monkeypatch: pytest.MonkeyPatch,
    queued: Sequence[dict[str, Any]],
    ended: Sequence[dict[str, Any]] = (),
) -> None:
    """Its queue and its history have these jobs of the user's."""

    def without_subdags(condition: str, ads: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        wants_all = "DAGManJobId is undefined" not in condition
        return [one for one in ads if wants_all or "DAGManJobId" not in one]

    for name, ads in (("ads_in_queue", queued), ("ads_in_history", ended)):
        monkeypatch.setattr(
            schedd_queries, name, lambda condition, *_, ads=ads: without_subdags(condition, ads)
        )


def listed(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> list[dict[str, Any]]:
    assert pydagman.main(["ls", "--json", *words]) == code
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_queue_history_and_directory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = {"PYDAGMAN_WaitsFor": "limit.full disk, tape"}
    queued = [ad(4, tmp_path, DAGManJobId=3), ad(3, tmp_path, **limit)]
    ended = [ad(cluster, tmp_path / "h", JobStatus=4, ExitCode=1) for cluster in (2, 1)]
    schedd_has(monkeypatch, queued, ended)
    rows = listed(capsys)
    assert [(row["cluster"], row["state"], row["place"]) for row in rows] == [
        (3, "running", "queue"), (2, "failed (1)", "history"), (0, "failed (1)", "directory")
    ]  # fmt: skip
    assert (rows[0]["done"], rows[0]["total"]) == (1, 4)
    assert [row["waits_for"] for row in rows] == [["disk", "tape"], [], []]
    assert (rows[2]["dag"], rows[2]["failed"], rows[2]["total"]) == ("t.dag", 1, 2)
    assert len(listed(capsys, "--subdags")) == 4
    assert pydagman.main(["ls"]) == 0
    head, first, *_ = capsys.readouterr().out.splitlines()
    assert head.split() == ["JOB", "STATE", "DONE", "FAILED", "AGE", "DAG"]
    assert first.split()[:7] == ["3", "running,", "waiting", "for", "disk,", "tape", "1/4"]


def test_without_a_schedd(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(*_: object) -> list[Any]:
        raise PoolError("no answer", transient=True)

    monkeypatch.setattr(schedd_queries, "ads_in_queue", silent)
    assert [row["dag"] for row in listed(capsys, code=1)] == ["t.dag"]
    assert pydagman.main(["ls"]) == 1
    assert "no answer; showing only the DAGs of this directory" in capsys.readouterr().err


def test_a_narrow_terminal() -> None:
    rows = [ls.Row(7, "running", 1, 20, 0, 0.0, "/data/someone/studies/2026/run.dag", "queue")]
    columns = list(LISTED.values())
    assert max(map(len, table(columns, rows, 10.0, 60))) == 60
    assert table(columns, rows, 10.0, 60)[1].endswith(" ...one/studies/2026/run.dag")
    for width in (0, 30, 200):
        assert table(columns, rows, 10.0, width)[1].endswith(" /data/someone/studies/2026/run.dag")


def test_a_dag_that_has_succeeded_though_nodes_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its FINAL node, or ABORT-DAG-ON with RETURN 0."""
    ended = [ad(n, tmp_path / str(n), JobStatus=4, ExitCode=0, DAG_NodesFailed=n) for n in range(2)]
    schedd_has(monkeypatch, [], ended)
    assert [row["state"] for row in listed(capsys)][:2] == ["succeeded"] * 2
    assert pydagman.main(["ls"]) == 0
    _, all_well, in_part, *_ = capsys.readouterr().out.splitlines()
    assert "succeeded  " in all_well
    assert "succeeded, although nodes failed  " in in_part


def test_a_dag_that_lives_is_what_its_files_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Removed, it runs its FINAL node; the stock program's ad is minutes old."""
    logs = DagLogs(tmp_path, "q.dag").start()
    logs.counts(4, 1, 0, 1, 0, 0, 0, 1, 1)
    for own, failed in (({}, 1), ({"PYDAGMAN_Version": "1"}, 0)):
        removed = ad(42, tmp_path, JobStatus=3, **own)
        schedd_has(monkeypatch, [removed])
        with locks.held(tmp_path / "q.dag.lock", "42\n"):
            row, *_ = listed(capsys)
            assert (row["state"], row["failed"]) == ("running", failed)
            (tmp_path / "q.dag.halt").touch()
            assert listed(capsys)[0]["state"] == "halted"
        (tmp_path / "q.dag.halt").unlink()
        assert listed(capsys)[0]["state"] == "removed"


def test_a_dag_that_a_command_has_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its job was not removed, but has ended, as the DAG's last status says."""
    schedd_has(monkeypatch, [], [ad(3, tmp_path, JobStatus=4, ExitCode=2, DAG_Status=4)])
    assert listed(capsys)[0]["state"] == "removed (2)"
