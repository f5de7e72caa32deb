"""What has happened in a DAG, by the Python interface."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman import FileError, NodeStatus, UsageError, dag_events, read_run
from condor_pydagman.monitor import schedd_queries
from tests.dag_logs import DagLogs


@pytest.fixture
def logs(tmp_path: Path) -> DagLogs:
    (tmp_path / "t.dag").write_text("JOB A a.sub\nJOB B a.sub\nSCRIPT POST A x\n")
    made = DagLogs(tmp_path).start()
    made.submit("A", 7)
    made.terminate(7, value=3)
    return made


def test_a_run(logs: DagLogs) -> None:
    run = read_run(logs.log.with_name("t.dag"))
    assert {name: node.status for name, node in run.nodes.items()} == {
        "A": NodeStatus.POSTRUN, "B": NodeStatus.READY
    }  # fmt: skip
    assert [attempt.value for attempt in run.nodes["A"].attempts] == [3]


def test_events_at_once_and_followed(logs: DagLogs, monkeypatch: pytest.MonkeyPatch) -> None:
    dag = str(logs.log.with_name("t.dag"))
    events = list(dag_events(dag))
    assert [event.name for event in events] == [
        "dag.start", "job.submit", "node.state", "job.terminate", "node.state"
    ]  # fmt: skip
    waited: list[float] = []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        logs.end()

    monkeypatch.setattr("time.sleep", sleep)
    followed = dag_events(dag, follow=True, since=events[1].id, interval=9.0)
    assert [event.name for event in followed][-2:] == ["node.state", "dag.end"]
    assert waited == [9.0]


def test_a_dag_that_can_t_be_read_has_a_history(logs: DagLogs) -> None:
    logs.log.with_name("t.dag").unlink()
    assert read_run(logs.log.with_name("t.dag")).nodes["A"].status is NodeStatus.ERROR


def test_errors(logs: DagLogs, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="there is no DAG file"):
        dag_events(tmp_path / "x.dag")
    with pytest.raises(UsageError):
        dag_events(tmp_path / "t.dag", since="what")


def test_a_job_whose_logs_are_those_of_a_later_run(
    logs: DagLogs, monkeypatch: pytest.MonkeyPatch
) -> None:
    ad = {
        "ClusterId": 5,
        "Iwd": str(logs.log.parent),
        "Arguments": "-Dag t.dag",
        "JobStatus": 4,
        "ExitCode": 0,
        "CompletionDate": int(logs.now) - 50,
    }
    monkeypatch.setattr(schedd_queries, "dagman_ad", lambda cluster: ad)
    with pytest.raises(FileError, match="of a later run than job 5"):
        dag_events(5)
    removed = {"CompletionDate": 0, "JobStatus": 3, "EnteredCurrentStatus": int(logs.now) - 50}
    monkeypatch.setattr(schedd_queries, "dagman_ad", lambda cluster: {**ad, **removed})
    with pytest.raises(FileError, match="of a later run than job 5"):
        dag_events(5)
    monkeypatch.setattr(
        schedd_queries, "dagman_ad", lambda cluster: {**ad, "CompletionDate": logs.now + 9}
    )
    assert read_run(5).nodes["A"].attempts
