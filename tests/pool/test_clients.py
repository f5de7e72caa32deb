"""What other programs see of a DAG under our DAGMan: condor_q, `htcondor dag`, the bindings,
condor_hold and condor_rm, readers of the nodes log, and monitors that parse `.dagman.out`.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import htcondor2
import pytest

from tests.pool import dags
from tests.pool.access_point import AccessPoint, new_directory

pytestmark = pytest.mark.pool

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
AT_THE_END = {
    **MEANWHILE,
    "DAG_NodesDone": 6,
    "DAG_NodesPrerun": 0,
    "DAG_NodesQueued": 0,
    "DAG_NodesPostrun": 0,
    "DAG_NodesReady": 0,
    "DAG_NodesUnready": 0,
    "DAG_JobsSubmitted": 7,
    "DAG_JobsIdle": 0,
    "DAG_JobsRunning": 0,
    "DAG_JobsCompleted": 7,
}
LIMITS = {
    "DAGMan_MaxIdle": 11,
    "DAGMan_MaxJobs": 12,
    "DAGMan_MaxPreScripts": 13,
    "DAGMan_MaxPostScripts": 14,
    "DAGMan_MaxHoldScripts": 20,
    "DAGMan_MaxSubmitsPerInterval": 100,
}


@dataclass
class Watched:
    """A DAG that stays as it is until it is told to go on."""

    access_point: AccessPoint
    work: Path
    cluster: int
    began: float

    def ad(self) -> dict[str, Any]:
        return next(iter(self.access_point.queue(f"ClusterId == {self.cluster}")), {})

    def has(self, wanted: dict[str, Any]) -> bool:
        ad = self.ad()
        return all(ad.get(name) == value for name, value in wanted.items())

    def run(self, *argv: str) -> str:
        return self.access_point.run(*argv).stdout


@pytest.fixture(scope="module")
def watched(access_point: AccessPoint, place: Path) -> Iterator[Watched]:
    """The DAG of all states, once it is in them and its ad says so."""
    work = new_directory(place / "watched")
    dags.write(work, dags.STATES)
    words = ["-maxidle", "11", "-maxjobs", "12", "-maxpre", "13", "-maxpost", "14"]
    began = time.time()
    dag = Watched(access_point, work, access_point.submit(work, *words, "t.dag"), began)
    access_point.wait_for(lambda: dag.has(MEANWHILE), say="the states", dag=work / "t.dag")
    yield dag
    access_point.run("condor_rm", str(dag.cluster), check=False)


def test_the_job_ad_is_correct_while_the_dag_runs(watched: Watched) -> None:
    ad = watched.ad()
    assert {name: ad.get(name) for name in MEANWHILE} == MEANWHILE
    assert {name: ad.get(name) for name in LIMITS} == LIMITS
    assert ad["DAG_JobsIdle"] + ad["DAG_JobsRunning"] == 1
    assert all(type(ad[name]) is int for name in (*MEANWHILE, *LIMITS, "DAG_AdUpdateTime"))
    assert watched.began - 1 <= ad["DAG_AdUpdateTime"] <= time.time() + 1
    assert ad["JobBatchId"] == f"{watched.cluster}.0"
    assert ad["JobBatchName"] == f"t.dag+{watched.cluster}"
    assert ad["OtherJobRemoveRequirements"] == f"DAGManJobId =?= {watched.cluster}"


def test_the_ad_says_that_a_job_has_started(watched: Watched) -> None:
    running = {"DAG_JobsIdle": 0, "DAG_JobsRunning": 1}
    watched.access_point.wait_for(
        lambda: watched.has(running), say="DAG_JobsRunning = 1", dag=watched.work / "t.dag"
    )


def test_condor_q_shows_the_nodes_below_their_dag(watched: Watched) -> None:
    shown = watched.run("condor_q", "-dag", "-nobatch", str(watched.cluster))
    assert re.search(rf"^ *{watched.cluster}\.0 .*condor_dagman", shown, re.M)
    assert re.findall(r"\|-(\S+)", shown) == ["B"]


@pytest.mark.parametrize("options", [[], ["-batch"]], ids=["default", "batch"])
def test_condor_q_counts_the_batch(watched: Watched, options: list[str]) -> None:
    def row() -> Any:
        shown = watched.run("condor_q", *options)
        return re.search(
            rf"^\S+ +t\.dag\+{watched.cluster} +\S+ +\S+ +(\d+) +1 +_ +(\d+) ", shown, re.M
        )

    dag = watched.work / "t.dag"
    done, total = watched.access_point.wait_for(row, say="B to run", dag=dag).groups()
    assert int(done) == 1
    assert int(total) == 8


def test_htcondor_dag_status(watched: Watched) -> None:
    code = "import sys; from htcondor_cli.cli import main; sys.exit(main())"
    done = watched.access_point.run(_python(), "-c", code, "dag", "status", str(watched.cluster))
    shown = done.stdout + done.stderr
    assert f"DAG {watched.cluster} [t.dag] has been running" in shown
    assert "Warning" not in shown
    for line in (
        r"DAG has submitted 4 job\(s\)",
        r"3 have completed\.",
        r"DAG contains 8 node\(s\) total",
        r"1 has completed\.",
        r"3 are running: 1 pre-script, 1 job, 1 post-script\.",
        r"1 is ready to start\.",
        r"1 is waiting on other nodes to finish\.",
        r"1 will never run\.",
        r"1 has failed\.",
    ):
        assert re.search(line, shown), (line, shown)


def _python() -> str:
    """The Python of this test run, which has the bindings."""
    return sys.executable


def test_the_history_tells_how_it_ended(watched: Watched) -> None:
    (watched.work / "go").touch()
    assert watched.access_point.wait(watched.work / "t.dag").code == 1
    ad = watched.access_point.history(watched.cluster)
    assert {name: ad.get(name) for name in AT_THE_END} == AT_THE_END
    assert {name: ad.get(name) for name in LIMITS} == LIMITS
    assert ad["ExitCode"] == 1


# Every DAG below is submitted at once; the tests look at what they left behind.

ONE_BY_ONE = """\
CONFIG t.config
JOB A job.sub
JOB B job.sub
JOB C job.sub
JOB D job.sub
PRIORITY A -5
PRIORITY B 3
PRIORITY D 10
"""
CROWD = "".join(f"JOB N{number} job.sub\n" for number in range(6))
SCRIPTS = "".join(
    f"JOB N{n} job.sub NOOP\nSCRIPT PRE N{n} slow.sh PRE\nSCRIPT POST N{n} slow.sh POST\n"
    for n in range(6)
)
CATEGORY = (
    CROWD
    + "".join(f'CATEGORY N{n} few\nVARS N{n} seconds="0.3"\n' for n in range(5))
    + "MAXJOBS few 2\n"
)
SLOW = """\
#!/bin/sh
echo "$1 start" >> ledger
sleep 0.3
echo "$1 end" >> ledger
"""
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
"""
KILLED = "universe = scheduler\nexecutable = /bin/sh\narguments = \"-c 'kill -9 $$'\"\nqueue\n"

RUNS: dict[str, tuple[str, list[str]]] = {
    "config": (ONE_BY_ONE, []),
    "maxjobs": (CROWD, ["-maxjobs", "2"]),
    "maxidle": (CROWD, ["-maxidle", "2"]),
    "scripts": (SCRIPTS, ["-maxpre", "2", "-maxpost", "3"]),
    "category": (CATEGORY, []),
    "story": (STORY, []),
}


@pytest.fixture(scope="module")
def runs(access_point: AccessPoint, place: Path) -> dict[str, Path]:
    """Every DAG of RUNS, ended; its directory."""
    directories = {name: place / "clients" / name for name in RUNS}
    for name, work in directories.items():
        new_directory(work)
        dag, options = RUNS[name]
        dags.write(work, dag)
        (work / "t.config").write_text("DAGMAN_MAX_JOBS_SUBMITTED = 1\n")
        (work / "killed.sub").write_text(KILLED)
        (work / "slow.sh").write_text(SLOW)
        (work / "slow.sh").chmod(0o755)
        access_point.submit(work, *options, "t.dag")
    for name, work in directories.items():
        assert access_point.wait(work / "t.dag").code == (1 if name == "story" else 0)
    return directories


def events(work: Path) -> list[Any]:
    """Every event of the nodes log, as other programs read it."""
    with htcondor2.JobEventLog(str(work / "t.dag.nodes.log")) as log:
        return list(log.events(0))


def most_at_once(work: Path, begin: int, end: set[int], names: set[str] | None = None) -> int:
    """The largest number of jobs that were between two kinds of events at the same time."""
    now: set[int] = set()
    most = 0
    nodes: dict[int, str] = {}
    for event in events(work):
        kind, cluster = int(event["EventTypeNumber"]), event.cluster
        if kind == 0:
            nodes[cluster] = event["StructuredNotes"]["DAGNodeName"]
        if kind == begin and (names is None or nodes[cluster] in names):
            now.add(cluster)
        elif kind in end:
            now.discard(cluster)
        most = max(most, len(now))
    return most


def submitted(work: Path) -> list[str]:
    """Names of the nodes in the order of their submit events."""
    return [e["StructuredNotes"]["DAGNodeName"] for e in events(work) if e["EventTypeNumber"] == 0]


def test_a_config_file_takes_effect(runs: dict[str, Path]) -> None:
    assert most_at_once(runs["config"], 0, {5}) == 1
    out = (runs["config"] / "t.dag.dagman.out").read_text()
    assert "DAGMAN_MAX_JOBS_SUBMITTED setting: 1" in out


def test_priorities_order_the_submits(runs: dict[str, Path]) -> None:
    assert submitted(runs["config"]) == ["D", "B", "C", "A"]


def test_maxjobs(runs: dict[str, Path]) -> None:
    assert most_at_once(runs["maxjobs"], 0, {5}) == 2
    assert len(submitted(runs["maxjobs"])) == 6


def test_maxidle(runs: dict[str, Path]) -> None:
    assert most_at_once(runs["maxidle"], 0, {1, 5}) == 2
    assert len(submitted(runs["maxidle"])) == 6


def test_maxpre_and_maxpost(runs: dict[str, Path]) -> None:
    assert _scripts_at_once(runs["scripts"], "PRE") == 2
    assert _scripts_at_once(runs["scripts"], "POST") in (2, 3)  # they come in twos


def _scripts_at_once(work: Path, kind: str) -> int:
    now = most = 0
    for line in (work / "ledger").read_text().splitlines():
        if line.startswith(f"{kind} "):
            now += 1 if line.endswith("start") else -1
            most = max(most, now)
    assert now == 0
    return most


def test_a_category_has_its_own_limit(runs: dict[str, Path]) -> None:
    few = {f"N{number}" for number in range(5)}
    assert most_at_once(runs["category"], 0, {5}, few) == 2
    assert "N5" in submitted(runs["category"])[:3]  # the others need not wait for these


def test_the_nodes_log_is_readable_from_start_to_end(runs: dict[str, Path]) -> None:
    for name, work in runs.items():
        if name == "scripts":
            continue  # its NOOP nodes have no jobs
        ad = re.search(r"Workflow batch-name: <(.*)>", (work / "t.dag.dagman.out").read_text())
        assert ad is not None
        seen = events(work)
        assert (work / "t.dag.nodes.log").read_text().count("\n...\n") == len(seen), name
        for event in seen:
            if event["EventTypeNumber"] == 0:
                assert event["StructuredNotes"]["JobBatchName"] == ad[1]


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


@pytest.mark.parametrize("what", MONITORED)
def test_dagman_out_has_the_lines_that_monitors_parse(runs: dict[str, Path], what: str) -> None:
    text = (runs["story"] / "t.dag.dagman.out").read_text()
    assert re.search(STAMP + MONITORED[what], text, re.M)


def test_every_line_of_dagman_out_has_a_time(runs: dict[str, Path]) -> None:
    for work in runs.values():
        lines = (work / "t.dag.dagman.out").read_text().splitlines()
        assert [line for line in lines if not re.match(STAMP.rstrip(), line)] == []


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
    done = access_point.run(_python(), "-c", FROM_DAG, repr(options), cwd=work)
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


def test_a_held_node_job_is_counted_and_goes_on(access_point: AccessPoint, work: Path) -> None:
    dag = dags.write(work, 'JOB A job.sub\nVARS A seconds="2"\n')
    cluster = access_point.submit(work, "t.dag")
    mine = f"DAGManJobId == {cluster}"
    access_point.wait_for(lambda: dags.starts(work)["A 0"], dag=dag)
    access_point.run("condor_hold", "-constraint", mine)
    held = f"ClusterId == {cluster} && DAG_JobsHeld == 1 && DAG_JobsIdle == 0"
    access_point.wait_for(lambda: access_point.queue(held), say="DAG_JobsHeld = 1", dag=dag)
    access_point.run("condor_release", "-constraint", mine)
    assert access_point.wait(dag).code == 0
    assert access_point.history(cluster)["DAG_JobsHeld"] == 0
    assert dags.runs(work)["A 0"] >= 1


def test_condor_rm_by_constraint(access_point: AccessPoint, work: Path) -> None:
    dag = dags.write(work, 'JOB A job.sub\nVARS A seconds="60"\n')
    cluster = access_point.submit(work, "-batch-name", "unwanted", "t.dag")
    access_point.wait_for(lambda: dags.starts(work)["A 0"], dag=dag)
    unwanted = 'JobBatchName == "unwanted" && DAG_NodesTotal > 0'
    access_point.wait_for(lambda: access_point.queue(unwanted), say="what its ad tells", dag=dag)
    access_point.run("condor_rm", "-constraint", unwanted)
    access_point.wait_for(lambda: access_point.gone(cluster))
    assert access_point.history(cluster)["DAG_Status"] == 4
    assert json.loads((work / "t.dag.metrics").read_text())["exitcode"] == 2
    assert (work / "t.dag.rescue001").exists()
