"""What other programs see of a DAG under our DAGMan, and submit to it: readers of its job ad, the
bindings, stock's condor_submit_dag."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.pool import dags
from tests.pool.access_point import AccessPoint, new_directory
from tests.pool.scenes import Scene

MEANWHILE = {
    "DAG_Status": 2,
    "DAG_InRecovery": 0,
    "DAG_NodesTotal": 8,
    "DAG_NodesDone": 1,
    "DAG_NodesPrerun": 1,
    "DAG_NodesQueued": 1,
    "DAG_NodesPostrun": 1,
    "DAG_NodesHoldrun": 0,
    "DAG_NodesReady": 1,
    "DAG_NodesFailed": 1,
    "DAG_NodesUnready": 1,
    "DAG_NodesFutile": 1,
    "DAG_JobsSubmitted": 4,
    "DAG_JobsHeld": 0,
    "DAG_JobsCompleted": 3,
}
LIMITS = {
    "DAGMan_MaxIdle": 11,
    "DAGMan_MaxJobs": 12,
    "DAGMan_MaxPreScripts": 13,
    "DAGMan_MaxPostScripts": 14,
    "DAGMan_MaxHoldScripts": 20,
    "DAGMan_MaxSubmitsPerInterval": 100,
}


WORDS = ("-maxidle", "11", "-maxjobs", "12", "-maxpre", "13", "-maxpost", "14")


@pytest.fixture(scope="module")
def standing(access_point: AccessPoint, place: Path) -> Iterator[Scene]:
    """The DAG of all states, which stays as it is, once it is in them and its ad says so."""
    scene = Scene(access_point, new_directory(place / "clients"))
    scene.submit(dags.STATES, *WORDS)
    scene.has(**MEANWHILE, DAG_JobsIdle=0, DAG_JobsRunning=1)
    yield scene
    access_point.run("condor_rm", str(scene.cluster), check=False)


def test_the_job_ad_is_correct_while_the_dag_runs(standing: Scene) -> None:
    ad = standing.ad()
    assert {name: ad.get(name) for name in MEANWHILE} == MEANWHILE
    assert {name: ad.get(name) for name in LIMITS} == LIMITS
    assert (ad["DAG_JobsIdle"], ad["DAG_JobsRunning"]) == (0, 1)
    assert all(type(ad[name]) is int for name in (*MEANWHILE, *LIMITS, "DAG_AdUpdateTime"))
    assert ad["QDate"] <= ad["DAG_AdUpdateTime"] <= time.time() + 1
    assert ad["JobBatchId"] == f"{standing.cluster}.0"
    assert ad["JobBatchName"] == f"t.dag+{standing.cluster}"
    assert ad["OtherJobRemoveRequirements"] == f"DAGManJobId =?= {standing.cluster}"


# Ways to submit other than our condor_submit_dag, and what people do to a DAG in the queue.

FROM_DAG = """\
import sys, htcondor2
options = eval(sys.argv[1])
made = htcondor2.Submit.from_dag("t.dag", options)
print(htcondor2.Schedd().submit(made).cluster())
"""


@pytest.mark.parametrize(
    "options",
    [{}, {"maxidle": 5, "maxjobs": 3, "batch-name": "mine", "debug": 4, "force": True}],
    ids=["default", "options"],
)
def test_submit_from_dag_runs_our_dagman(
    access_point: AccessPoint, work: Path, options: dict[str, Any]
) -> None:
    dag = dags.write(work, "JOB A job.sub\nJOB B job.sub\n")
    done = access_point.run(sys.executable, "-c", FROM_DAG, repr(options), cwd=work)
    assert access_point.wait(dag).code == 0
    ad = access_point.history(int(done.stdout))
    assert ad["Cmd"] == access_point.our_dagman
    assert ad["DAG_NodesDone"] == 2
    assert ad["DAGMan_MaxIdle"] == options.get("maxidle", 1000)
    assert ad["DAGMan_MaxJobs"] == options.get("maxjobs", 0)
    assert ad["JobBatchName"] == options.get("batch-name", f"t.dag+{done.stdout.strip()}")


def test_stock_condor_submit_dag_runs_our_dagman(access_point: AccessPoint, work: Path) -> None:
    dag = dags.write(work, "JOB A job.sub\n")
    words = ["-dagman", access_point.our_dagman, "-maxpre", "4", "t.dag"]
    cluster = access_point.submit(work, *words, stock=True)
    assert access_point.wait(dag).code == 0
    ad = access_point.history(cluster)
    assert (ad["DAG_NodesDone"], ad["DAGMan_MaxPreScripts"]) == (1, 4)
