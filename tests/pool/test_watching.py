"""The commands that show a DAG, while it runs and afterwards, compared with what DAGMan itself
says: its table of nodes, its status file, its rescue file, its exit code.

While stock is recorded, they show a DAG under stock too.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from condor_pydagman.monitor.dag_monitor import DagMonitor
from condor_pydagman.monitor.found_dag import find_dag
from condor_pydagman.monitor.plan import read_plan
from condor_pydagman.vocabulary import NodeStatus
from tests import schemas
from tests.pool import dags
from tests.pool.access_point import STOCK
from tests.pool.bindings import need_htcondor_cli
from tests.pool.left_files import keep_for_later, left_by_stock
from tests.pool.scenes import FIRST, STATUS, Played, Scene, Stage
from tests.pool.stock import Stock, plain
from tests.waiting import LIMIT_S

STAGE = Stage()
HTCONDOR = (sys.executable, "-c", "from htcondor_cli.cli import main; main()")
# Until somebody does something: held, to be removed, a sub-DAG, and one that waits for all of them.
RICH = (
    STATUS
    + """\
JOB A job.sub
SCRIPT PRE A script.sh 0 pre A
SCRIPT POST A script.sh 0 post A
JOB R first.sub
VARS R code="3"
RETRY R 2
JOB F job.sub
VARS F code="4"
RETRY F 1
JOB G job.sub
PARENT F CHILD G
JOB Pre job.sub
SCRIPT PRE Pre script.sh 5 pre Pre
JOB Post job.sub
SCRIPT POST Post script.sh 6 post Post
JOB Saved job.sub
VARS Saved code="1"
SCRIPT POST Saved script.sh 0 post Saved
JOB Skipped job.sub
SCRIPT PRE Skipped script.sh 7 pre Skipped
PRE_SKIP Skipped 7
JOB Noop job.sub NOOP
JOB Many job.sub
VARS Many procs="3"
JOB Held told.sub
JOB Removed told.sub
SUBDAG EXTERNAL Sub inner.dag
JOB Last job.sub
PARENT Held Sub CHILD Last
"""
    + FIRST
    + "#== inner.dag\nJOB I told.sub\nJOB J job.sub\nPARENT I CHILD J\n"
)
JOBS = 14  # of RICH: each node but Sub and Noop has one, Many has three
LASTING = (14, 6, 0, 3, 0, 0, 1, 3, 1)
COUNTS = ("total", "done", "pre", "queued", "post", "ready", "unready", "failed", "futile")
DONE = ["A", "R", "Saved", "Skipped", "Noop", "Many", "Held", "Sub", "Last"]
FAILED = ["F", "Pre", "Post", "Removed"]


# What the commands say


def events(s: Scene, *words: str) -> list[dict[str, Any]]:
    found = parsed(s.run("condor_pydagman", "events", "t.dag", *words))
    for event in found:
        schemas.check("events", event)
    return found


def parsed(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def watched(s: Scene, dag: str = "t.dag", code: int = 0) -> dict[str, Any]:
    """What `watch --once` says."""
    done = s.answer("condor_pydagman", "watch", "--once", "--json", dag)
    assert done.returncode == code, (done.stdout, done.stderr)
    (said,) = parsed(done.stdout)
    schemas.check("watch", said)
    return said  # type: ignore[no-any-return]


def as_dagman_counts(said: dict[str, Any]) -> tuple[int, ...]:
    """The counts of a picture, in the columns of DAGMan's table."""
    counts = said["counts"]
    queued = counts["running"] + counts["idle"] + counts["held"]
    known = {**counts, "queued": queued, "unready": counts["waiting"]}
    return tuple(known[name] for name in COUNTS)


def listed(s: Scene, place: str) -> dict[str, Any]:
    """The row of `ls` for the DAG."""
    rows = parsed(s.run("condor_pydagman", "ls", "--json", "--ended", "500"))
    for row in rows:
        schemas.check("ls", row)
    (found,) = [row for row in rows if row["cluster"] == s.cluster and row["place"] == place]
    return found  # type: ignore[no-any-return]


@contextlib.contextmanager
def in_background(s: Scene, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A command that goes on meanwhile."""
    argv = s.access_point.pool.command(["condor_pydagman", *words])
    with subprocess.Popen(
        # whoever runs the tests in the background ignores SIGINT
        ["env", "--default-signal=INT", *argv],
        cwd=s.work,
        env=s.access_point.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


# What DAGMan says


def table(s: Scene, since: int = 0) -> tuple[int, ...]:
    """The last table of nodes in `.dagman.out`, if it begins behind so many characters."""
    out = s.out()[since:]
    totals = re.findall(r"Of (\d+) nodes total:", out)
    rows = re.findall(r"^.{17} ((?: +\d+){8})$", out, re.M)
    return (int(totals[-1]), *map(int, rows[-1].split())) if totals and rows else ()


def states_in_file(s: Scene) -> dict[str, NodeStatus]:
    """By the node status file; events know no FUTILE, which DAGMan only counts."""
    found = re.findall(r'Node = "(\w+)";\n\s*NodeStatus = (\d)', s.text("t.status"))
    states = {node: NodeStatus(int(number)) for node, number in found}
    return {n: NodeStatus.NOT_READY if s is NodeStatus.FUTILE else s for n, s in states.items()}


def states_by_events(told: list[dict[str, Any]]) -> dict[str, NodeStatus]:
    changes = [event for event in told if event["event"] == "node.state"]
    return {event["node"]: NodeStatus[event["status"]] for event in changes}


def facts(told: list[dict[str, Any]]) -> Counter[str]:
    """What happened to jobs and scripts, in no order."""
    return Counter(
        f"{event['event']} {event['node']} {event['attempt']} {event.get('job')}"
        for event in told
        if event["event"].startswith(("job.", "script."))
    )


# Scenes


@STAGE.by_both
def a_rich_dag(s: Scene) -> dict[str, Any]:
    s.write(RICH)
    before = sorted(os.listdir(s.work))
    planned = json.loads(s.run("condor_pydagman", "dry-run", "t.dag", "--json"))
    assert sorted(os.listdir(s.work)) == before
    assert (planned["jobs"], planned["nodes"]) == (JOBS, LASTING[0])
    with in_background(s, "events", "--follow", "t.dag") as follower:
        s.submit_again()
        with in_background(s, "watch", "--json", "t.dag") as watcher:
            goes_on(s)
            assert s.ends() == 1
            followed, _ = follower.communicate(timeout=LIMIT_S)
            pictures, _ = watcher.communicate(timeout=LIMIT_S)
    assert (follower.returncode, watcher.returncode) == (0, 1)
    told = has_ended(s)
    keep_for_later(s, "a_rich_dag")
    assert facts(parsed(followed)) == facts(told)
    assert states_by_events(parsed(followed)) == states_by_events(told)
    assert parsed(pictures)[-1]["state"] == "failed"
    rescued(s)
    states = {node: status.name for node, status in sorted(states_by_events(told).items())}
    return {"states": states, "rescue": sorted(s.rescue())}


def goes_on(s: Scene) -> None:
    """Look at the DAG while it stands still, before and after a restart; then let it end."""
    s.started("Removed 0")
    s.until(lambda: dags.starts(s.work)["I 0"], "the job of the sub-DAG")
    s.run("condor_hold", str(s.job("Held")))
    s.says("ULOG_JOB_HELD")
    s.until(lambda: table(s) == LASTING, f"{LASTING} in the table")
    stands_still(s)
    told, since = events(s), len(s.out())
    s.restart()
    s.until(lambda: table(s, since) == LASTING, f"{LASTING} in a new table")
    stands_still(s)
    assert facts(after_restart(s)) == facts(told)
    s.run("condor_rm", str(s.job("Removed")))
    s.run("condor_release", str(s.job("Held")))
    s.touch("go.Held", "go.I")


def after_restart(s: Scene) -> list[dict[str, Any]]:
    """The events, but for the second run of the PRE script of whose failure stock keeps no record;
    ours has none."""
    told = events(s)
    again = [event for event in told if event.get("node") == "Pre" and event["attempt"] == 1]
    assert bool(again) == (s.flavour == STOCK)
    return [event for event in told if event not in again]


def stands_still(s: Scene) -> None:
    said = watched(s)
    assert said["state"] == "running"
    assert as_dagman_counts(said) == LASTING
    (held,) = said["held"]
    assert held["nodes"] == ["Held"]
    assert "via condor_hold" in held["reason"]
    assert {one["node"] for one in said["longest"]} == {"Removed", "Sub"}
    (inner,) = said["subdags"]
    assert (inner["state"], inner["counts"]["running"]) == ("running", 1)


def has_ended(s: Scene) -> list[dict[str, Any]]:
    """Check what is said afterwards; returns the events."""
    told = events(s)
    assert [e["event"] for e in told if e["event"] == "dag.start"] == ["dag.start"] * 2
    assert (told[-1]["event"], told[-1]["exit_code"]) == ("dag.end", 1)
    states = states_by_events(told)
    assert {**states, "G": NodeStatus.NOT_READY} == states_in_file(s)
    assert sorted(s.rescue()) == sorted(DONE)
    assert {n for n, status in states.items() if status is NodeStatus.DONE} == set(DONE)
    assert {n for n, status in states.items() if status is NodeStatus.ERROR} == set(FAILED)
    said = watched(s, code=1)
    assert (said["state"], said["exit_code"]) == ("failed", 1)
    assert as_dagman_counts(said) == table(s)
    assert {failure["node"] for failure in said["failures"]} == set(FAILED)
    goes_on_behind_each_event(s, told)
    lines = s.run("condor_pydagman", "tail", "-n", "3", "t.dag").splitlines()
    assert len(lines) == 3
    assert "exit code 1" in lines[-1]
    return told


def goes_on_behind_each_event(s: Scene, told: list[dict[str, Any]]) -> None:
    middle = len(told) // 2
    assert events(s, "--since", told[middle]["id"]) == told[middle + 1 :]
    found = find_dag(str(s.work / "t.dag"), ask=False)
    plan = read_plan(found)
    ids = [event["id"] for event in told]
    for number, last in enumerate(ids):
        monitor = DagMonitor(found, since=last, read_plan=lambda: plan)
        assert [event.id for event in monitor.poll()] == ids[number + 1 :], told[number]


def rescued(s: Scene) -> None:
    """The rescue file, the job in the history, and the run from the rescue file."""
    said = json.loads(s.run("condor_pydagman", "rescue", "--json", "t.dag"))
    assert (sorted(said["done"]), sorted(said["failed"])) == (sorted(DONE), sorted(FAILED))
    s.gone()
    row = listed(s, "history")
    assert (row["state"], row["done"], row["total"], row["failed"]) == ("failed (1)", 9, 14, 4)
    assert watched(s, str(s.cluster), code=1)["state"] == "failed"
    planned = json.loads(s.run("condor_pydagman", "dry-run", "t.dag", "--json"))
    assert (planned["done"], planned["jobs"]) == (9, 5)
    (s.work / "t.dag").write_text(s.text("t.dag").replace('code="4"', 'code="0"'))
    s.touch("go.Removed")
    s.submit_again()
    assert s.ends() == 1
    told = events(s)
    assert told[0]["event"] == "dag.start"
    assert [event["event"] for event in told].count("dag.start") == 1
    assert states_by_events(told) == {
        "F": NodeStatus.DONE,
        "G": NodeStatus.DONE,
        "Removed": NodeStatus.DONE,
        "Pre": NodeStatus.ERROR,
        "Post": NodeStatus.ERROR,
    }
    assert as_dagman_counts(watched(s, code=1)) == table(s)


@STAGE.by_both
def a_dag_that_is_halted_and_held(s: Scene) -> list[str]:
    """Stock looks for a halt file only when an event comes, such as the end of X."""
    s.submit("JOB A told.sub\nJOB B job.sub\nPARENT A CHILD B\nJOB X told.sub\n", started="A 0")
    s.started("X 0")
    with in_background(s, "tail", "--follow", "--lines", "1000", "t.dag") as follower:
        s.touch("t.dag.halt", "go.X")
        s.says("DAG status: 6")
        assert watched(s)["state"] == "halted"
        (s.work / "t.dag.halt").unlink()
        if s.flavour == STOCK:  # which stays halted until it is told to resume
            assert watched(s)["state"] == "halted"
            need_htcondor_cli()
            s.run(*HTCONDOR, "dag", "resume", str(s.cluster))
        s.has(DAG_Status=0, DAG_NodesDone=1)
        assert watched(s)["state"] == listed(s, "queue")["state"] == "running"
        s.hold()
        is_held(s)
        s.release()
        assert watched(s)["state"] == "running"
        s.touch("go.A")
        assert s.ends() == 0
        lines, _ = follower.communicate(timeout=LIMIT_S)
    assert follower.returncode == 0
    assert watched(s)["state"] == "succeeded"
    told = events(s)
    assert len(lines.splitlines()) == len(told)
    names = [event["event"] for event in told if event["event"].startswith("dag.")]
    return [name for name in names if name not in ("dag.status", "dag.limits")]


def is_held(s: Scene) -> None:
    for dag in ("t.dag", str(s.cluster)):
        said = watched(s, dag)
        assert (said["state"], said["cluster"]) == ("held", s.cluster)
        assert "via condor_hold" in said["note"]
        assert as_dagman_counts(said) == table(s)
    assert listed(s, "queue")["state"] == "held"


@STAGE.scene
def a_dag_that_is_run_and_let_alone(s: Scene) -> None:
    s.write('JOB A told.sub\nJOB B job.sub\nVARS B code="3"\n')
    with in_background(s, "run", "--json", "t.dag") as runner:
        s.until(s.pid, "DAGMan to run")
        s.started("A 0")
        s.ran("B 0")
        runner.send_signal(signal.SIGINT)
        _, said = runner.communicate(timeout=LIMIT_S)
    assert runner.returncode == 130
    assert "The DAG continues" in said
    s.cluster = int(re.findall(r"DAGMan is job (\d+)", said)[0])
    assert watched(s)["cluster"] == s.cluster
    refused = again(s)
    assert refused.returncode == 1
    assert "lock" in refused.stderr
    s.touch("go.A")
    assert s.ends() == 1
    (s.work / "t.dag.dagman.log").unlink()
    failed = again(s)
    assert failed.returncode == 1
    seen = [as_dagman_counts(picture) for picture in parsed(failed.stdout)]
    assert seen[-1] == (2, 1, 0, 0, 0, 0, 0, 1, 0)
    assert all(counts[7] == 0 for counts in seen if counts != seen[-1])  # nothing of the run before


def again(s: Scene) -> subprocess.CompletedProcess[str]:
    argv = ("condor_pydagman", "run", "--json", "t.dag")
    return s.access_point.run(*argv, cwd=s.work, check=False)


@STAGE.scene
def files_that_are_deleted_meanwhile(s: Scene) -> None:
    """DAGMan ends a run whose nodes log is gone."""
    s.submit("JOB A told.sub\nJOB B told.sub\nJOB C job.sub\nPARENT A CHILD C\n", started="A 0")
    s.started("B 0")
    s.says("ULOG_EXECUTE", 2)
    with in_background(s, "events", "--follow", "t.dag") as follower:
        assert follower.stdout is not None
        first = follower.stdout.readline()
        (s.work / "t.dag").unlink()
        said = watched(s)
        assert (said["state"], as_dagman_counts(said)) == ("running", table(s))
        (s.work / "t.dag.nodes.log").unlink()
        s.touch("go.A")
        assert s.ends() == 2
        followed = first + follower.stdout.read()  # communicate() loses what was read ahead
        assert follower.wait(LIMIT_S) == 0
    names = [event["event"] for event in parsed(followed)]
    assert names[0] == "dag.start"
    assert "dag.end" in names  # and A may end behind it, in the log that DAGMan has lost
    said = watched(s, code=2)
    assert (said["state"], said["exit_code"], said["counts"]["total"]) == ("failed", 2, 3)
    (end,) = (event for event in events(s) if event["event"] == "dag.end")
    assert end["exit_code"] == 2


test_watching = STAGE.tests()


@pytest.mark.parametrize("name", STAGE.pairs)
def test_as_stock(played: Played, stock: Stock, name: str) -> None:
    assert plain(played.check(name)) == played.stock(name, stock)
    left_by_stock(name, stock)
