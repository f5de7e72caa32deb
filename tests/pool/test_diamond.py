"""The outcome that counts first: two commands, and a diamond has run."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.pool import dags
from tests.pool.access_point import AccessPoint

DIAMOND = """\
JOB A job.sub
JOB B job.sub
JOB C job.sub
JOB D job.sub
PARENT A CHILD B C
PARENT B C CHILD D
SCRIPT PRE A script.sh 0 pre $NODE
SCRIPT POST D script.sh 0 post $NODE $RETURN
VARS B seconds="1"
"""


def test_a_diamond_runs(access_point: AccessPoint, work: Path) -> None:
    dag = dags.write(work, DIAMOND)
    cluster = access_point.submit(work, "t.dag")
    assert access_point.wait(dag).code == 0
    assert dags.runs(work) == {"A 0": 1, "B 0": 1, "C 0": 1, "D 0": 1}
    assert dags.scripts(work) == ["post D 0", "pre A"]
    order = [line.split()[0] for line in (work / "ledger").read_text().splitlines()]
    assert order[0] == order[1] == "A"
    assert order[-1] == order[-2] == "D"
    assert not (work / "t.dag.lock").exists()
    assert not (work / "t.dag.rescue001").exists()
    metrics = json.loads((work / "t.dag.metrics").read_text())
    assert (metrics["total_nodes"], metrics["nodes_succeeded"], metrics["exitcode"]) == (4, 4, 0)
    assert metrics["jobs_submitted"] == 4
    ad = access_point.history(cluster)
    assert (ad["DAG_NodesTotal"], ad["DAG_NodesDone"], ad["DAG_Status"]) == (4, 4, 0)
    assert ad["ExitCode"] == 0
    out = (work / "t.dag.dagman.out").read_text()
    assert re.search(rf" condor_pydagman .*, schedd {access_point.version}\n", out)


def test_a_child_is_submitted_in_the_pass_that_read_its_parents_end(
    access_point: AccessPoint, work: Path
) -> None:
    dag = dags.write(work, "JOB A job.sub\nJOB B job.sub\nPARENT A CHILD B\n")
    access_point.submit(work, "t.dag")
    assert access_point.wait(dag).code == 0
    out = (work / "t.dag.dagman.out").read_text().splitlines()
    texts = [line[18:] for line in out]
    end = texts.index("Node A job(s) have exited the queue")
    assert texts[end + 1] == "Submitting HTCondor Node B job(s)..."


def test_several_dag_files_are_one_dag(access_point: AccessPoint, work: Path) -> None:
    dag = dags.write(work, "JOB A job.sub\n", "a.dag")
    dags.write(work, "JOB A job.sub\n", "b.dag")
    access_point.submit(work, "a.dag", "b.dag")
    assert access_point.wait(dag).code == 0
    assert dags.runs(work) == {"0.A 0": 1, "1.A 0": 1}
