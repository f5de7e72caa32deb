"""What is found out of a DAG: files here, a schedd that answers as the test wants."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.explain import fact_collection
from condor_pydagman.explain.dagman_job_state import rescue_findings
from condor_pydagman.explain.explain_node import explain_node
from condor_pydagman.explain.fact_collection import collect_facts
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.follow.run_model import DagState
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.monitor.found_dag import find_dag
from condor_pydagman.vocabulary import NodeStatus
from tests.dag_logs import DagLogs

TEXT = "JOB A a.sub\nSUBDAG EXTERNAL X in.dag\n"


@pytest.fixture
def logs(work_directory: Path) -> DagLogs:
    Path("t.dag").write_text(TEXT)
    Path("in.dag").write_text("JOB I i.sub\n")
    Path("a.sub").write_text("error = err\nqueue\n")
    return DagLogs(work_directory)


def failed(logs: DagLogs) -> None:
    """A has failed, and so has X."""
    logs.start()
    logs.submit("A", 7)
    logs.terminate(7, value=3)
    logs.submit("X", 8)
    logs.terminate(8, value=1)
    logs.say("ERROR: something is wrong")
    logs.end(1)


def facts(**changes: Any) -> Facts:
    found = find_dag("t.dag", ask=False)
    return collect_facts(found._replace(**changes))


def test_a_failed_dag_with_a_failed_sub_dag(logs: DagLogs, tmp_path: Path) -> None:
    failed(logs)
    inner = DagLogs(tmp_path, "in.dag").start()
    inner.submit("I", 9)
    inner.terminate(9, value=2)
    inner.end(1)
    Path("err").write_text("bad\n")
    Path("t.dag.rescue001").write_text("# x\nDONE B\n")
    found = facts()
    assert (found.state, found.exit_code, found.out) == (DagState.FAILED, 1, "t.dag.dagman.out")
    assert found.excerpts["A"].lines == ("bad",)
    assert tuple(found.run.errors) == ("ERROR: something is wrong",)
    assert found.rescue is not None
    assert (found.rescue.path, found.rescue.done) == ("t.dag.rescue001", 1)
    assert found.submit_command == "condor_submit_dag t.dag"
    assert found.inner["X"].run.nodes["I"].status is NodeStatus.ERROR
    assert found.inner["X"].submit_command == ""
    assert found.unknown == ()


def test_a_rescue_file_without_any_log(work_directory: Path) -> None:
    Path("t.dag").write_text("JOB A a.sub\nJOB B b.sub\nPARENT A CHILD B\n")
    Path("t.dag.rescue002").write_text("DONE A\n")
    found = facts()
    assert found.state is DagState.NOT_STARTED
    assert found.run.nodes["A"].status is NodeStatus.DONE
    assert "since an earlier run: t.dag.rescue002, or" in explain_node(found, "A").headline
    (rescue,) = rescue_findings(found)
    assert "continues from t.dag.rescue002: 1 of 2 nodes is done" in rescue.sentence
    assert rescue.advice == ("To continue it: condor_submit_dag t.dag",)


def test_only_the_sub_dag_of_the_node_that_is_asked_for(logs: DagLogs) -> None:
    failed(logs)
    found = find_dag("t.dag", ask=False)
    assert collect_facts(found, node="A").inner == {}
    assert list(collect_facts(found, node="X").inner) == ["X"]


def test_logs_are_gone(logs: DagLogs) -> None:
    logs.log.unlink()
    logs.out.unlink()
    Path("t.dag.lock").write_text("3\n")
    found = facts()
    assert found.state is DagState.INTERRUPTED
    assert [text[:36] for text in found.unknown] == [
        "A log is missing, so this explanation"[:36]
    ] * 2
    assert found.submit_command == "condor_submit_dag -update_submit t.dag"


def test_the_command_has_the_options_and_directory_of_the_first_time(
    logs: DagLogs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed(logs)
    Path("t.dag.condor.sub").write_text(
        'arguments = "-f -l . -Lockfile t.dag.lock -Dag t.dag -MaxJobs 5 -UseDagDir -Bundle"\n'
    )
    (tmp_path / "a b").mkdir()
    monkeypatch.chdir(tmp_path / "a b")
    found = collect_facts(find_dag("../t.dag", ask=False))
    assert found.submit_command == (
        f"cd {tmp_path} && condor_submit_dag -f -MaxJobs 5 -usedagdir -bundle t.dag"
    )


LOG = """\
000 (005.000.000) 2026-11-23 00:55:12.475 Job submitted from host: <127.0.0.1:1>
...
012 (005.000.000) 2026-11-23 00:56:12.475 Job was held.
\tby hand
\tCode 1 Subcode 0
...
"""


def test_dagmans_job_by_its_own_log(logs: DagLogs, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("t.dag.dagman.log").write_text(LOG)
    here = os.path.realpath(".")
    monkeypatch.setattr(
        fact_collection, "queued_dagman_ad", lambda cluster: {"JobStatus": 5, "Iwd": here}
    )
    monkeypatch.setattr(schedd_queries, "jobs_of_dag", lambda *_, **__: [])
    found = facts()
    assert (found.state, found.cluster) == (DagState.HELD, 5)
    assert found.dagman_job.hold is not None
    assert (found.dagman_job.hold.reason, found.dagman_job.hold.code) == ("by hand", 1)
    end = "013 (005.000.000) 2026-11-23 00:57:12.475 Job was released.\n...\n"
    end += "009 (005.000.000) 2026-11-23 00:58:12.475 Job was aborted.\n\tvia condor_rm\n...\n"
    Path("t.dag.dagman.log").write_text(LOG + end)
    job = facts().dagman_job
    assert (job.hold, job.removed, bool(job.left)) == (None, "via condor_rm", True)


def test_the_logs_are_of_another_run_than_the_job(logs: DagLogs) -> None:
    failed(logs)
    ad = {"CompletionDate": int(logs.now) - 50, "DAG_NodesFailed": 1}
    found = facts(ad=ad, cluster=2)
    assert not found.run.starts
    assert found.unknown == (
        "The logs of t.dag are of a later run, so only the job ad describes job 2.",
    )
    assert found.submit_command == ""
    assert not facts(submitted=logs.now + 9, state=DagState.IDLE).run.starts
