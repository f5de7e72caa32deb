"""What other programs see of a DAG under our DAGMan: readers of its job ad and of the nodes log,
the bindings, condor_rm, and monitors that parse `.dagman.out`.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.pool import dags
from tests.pool.access_point import AccessPoint, new_directory
from tests.pool.scenes import Scene, Stage

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


# What limits let through, and what the files of a DAG say.

STAGE = Stage()
STORY = """\
JOB A job.sub
JOB B job.sub
JOB C job.sub
JOB D job.sub
JOB E killed.sub
JOB S nosuch.sub
SCRIPT PRE A script.sh 0
SCRIPT POST A script.sh 0
RETRY B 1
VARS B code="$CHOICE(RETRY,7,0)"
SCRIPT PRE C script.sh 3
SCRIPT POST D script.sh 4
#== killed.sub
universe = scheduler
executable = /bin/sh
arguments = "-c 'kill -9 $$'"
queue
"""


def well_logged(s: Scene) -> None:
    """Other programs can read the nodes log from start to end, and each line of `.dagman.out` has
    a time."""
    batch = re.search(r"Workflow batch-name: <(.*)>", s.out())
    assert batch is not None
    seen = s.events()
    assert s.text("t.dag.nodes.log").count("\n...\n") == len(seen)
    for event in seen:
        if event["EventTypeNumber"] == 0:
            assert event["StructuredNotes"]["JobBatchName"] == batch[1]
    assert [line for line in s.out().splitlines() if not re.match(STAMP.rstrip(), line)] == []


# What Pegasus' monitor looks for, in our own words.
STAMP = r"^\d\d/\d\d/\d\d \d\d:\d\d:\d\d "
JOB_ID = r"\(\d+\.\d+\.\d+\)"
MONITORED = {
    "banner": r"\*\* condor_dagman \(CONDOR_DAGMAN\) STARTING UP$",
    "version": r"\*\* \$CondorVersion: \d+\.\d+\.\d+ ",
    "pid": r"\*\* PID = \d+",
    "parsing": r"Parsing t\.dag \.\.\.$",
    "event": rf"Event: ULOG_SUBMIT for HTCondor Node A {JOB_ID}",
    "execute": rf"Event: ULOG_EXECUTE for HTCondor Node A {JOB_ID}",
    "end": rf"Event: ULOG_JOB_TERMINATED for HTCondor Node A {JOB_ID}",
    "post end": rf"Event: ULOG_POST_SCRIPT_TERMINATED for HTCondor Node A {JOB_ID}",
    "pre starts": r"Running PRE script of Node A\.\.\.$",
    "post starts": r"Running POST script of Node A\.\.\.$",
    "pre succeeds": r"PRE Script of node A completed successfully\.$",
    "post succeeds": r"POST Script of node A completed successfully\.$",
    "pre fails": r"PRE Script of Node C failed with status 3$",
    "post fails": r"POST Script of node D failed with status 4$",
    "submit": r"Submitting HTCondor Node A job\(s\)\.\.\.$",
    "id": rf"\tassigned HTCondor ID {JOB_ID}$",
    "no submit": r"ERROR: submit attempt failed$",
    "job succeeds": rf"Node A job proc {JOB_ID} completed successfully\.$",
    "job fails": rf"Node B job proc {JOB_ID} failed with status 7\.$",
    "job dies": rf"Node E job proc {JOB_ID} failed with signal 9\.$",
    "retry": r"Retrying node B \(retry #1 of 1\)",
    "table": r"Of 6 nodes total:$",
    "table head": r" Done +Pre +Queued +Post +Ready +Un-Ready +Failed +Futile$",
    "table line": r" +2 +0 +0 +0 +0 +0 +4 +0$",
    "exit": r"\*\*\*\* condor_dagman \(condor_DAGMAN\) pid \d+ EXITING WITH STATUS 1$",
}


@STAGE.scene
def the_lines_that_monitors_parse(s: Scene) -> None:
    s.submit(STORY)
    assert s.ends() == 1
    missing = [
        what for what, text in MONITORED.items() if not re.search(STAMP + text, s.out(), re.M)
    ]
    assert missing == []
    well_logged(s)


test_what_a_dag_does = STAGE.tests()


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


def test_condor_rm_by_constraint(access_point: AccessPoint, work: Path) -> None:
    s = Scene(access_point, work)
    s.submit("JOB A told.sub\n", "-batch-name", "unwanted", started="A 0")
    unwanted = 'JobBatchName == "unwanted" && DAG_NodesTotal > 0'
    s.until(lambda: access_point.queue(unwanted), "what its ad tells")
    s.run("condor_rm", "-constraint", unwanted)
    s.gone()
    assert access_point.history(s.cluster)["DAG_Status"] == 4
    assert json.loads(s.text("t.dag.metrics"))["exitcode"] == 2
    assert (work / "t.dag.rescue001").exists()
