"""Files that DAGMan writes while a DAG runs, or when it must go away and come back: what stock's
say at the same moments, and when they can't be written.

What is left when a DAG has ended is compared in `test_compare.py`.
"""

from __future__ import annotations

import re
from typing import Any

import classad2

from tests.pool import dags, file_records
from tests.pool.access_point import new_directory
from tests.pool.scenes import Scene, Stage

OBSERVED = "NODE_STATUS_FILE t.status 1\nJOBSTATE_LOG t.jobstate\nDOT t.dot UPDATE OVERWRITE\n"
STAGE = Stage()


def nodes(s: Scene) -> dict[str, tuple[int, str]]:
    """Status and details of each node in the node status file."""
    ads = [ad for ad in classad2.parseAds(s.text("t.status")) if ad["Type"] == "NodeStatus"]
    return {ad["Node"]: (ad["NodeStatus"], ad["StatusDetails"]) for ad in ads}


# In the order of the file. Held procs, idle ones, scripts that run, a retry, failures, a join node.
RICH = """\
JOB A job.sub
JOB B told.sub
JOB C onhold.sub
JOB D job.sub
SCRIPT PRE D wait.sh D
JOB E job.sub
SCRIPT POST E wait.sh E
JOB F job.sub
VARS F code="3"
JOB F2 job.sub
PARENT F CHILD F2
JOB G never.sub
JOB H several.sub
JOB I again.sub
RETRY I 2
JOB J job.sub DONE
JOB K1 told.sub
JOB K2 job.sub
JOB L1 job.sub
JOB L2 job.sub
PARENT K1 K2 CHILD L1 L2
JOB N job.sub
SCRIPT PRE N script.sh 4
FINAL Z job.sub
#== onhold.sub
universe = scheduler
executable = job.sh
hold = true
queue
#== several.sub
universe = scheduler
executable = told.sh
arguments = "H$(ProcId) 0"
on_exit_hold = true
queue 3
#== again.sub
universe = scheduler
executable = again.sh
arguments = $(RETRY)
queue
#== again.sh
#!/bin/sh
test "$1" = 0 && exit 1
exec ./told.sh I "$1"
"""
RICH_NODES = {
    "A": (5, ""),
    "B": (3, "not_idle"),
    "C": (3, "idle"),
    "D": (2, ""),
    "E": (4, ""),
    "F": (6, "Job proc (ID.0.0) failed with status 3"),
    "F2": (7, "Had an ancestor node fail"),
    "G": (3, "idle"),
    "H": (3, "not_idle"),
    "I": (3, "not_idle"),
    "J": (5, "User defined as DONE"),
    "K1": (3, "not_idle"),
    "K2": (5, ""),
    "L1": (0, ""),
    "L2": (0, ""),
    "N": (6, "PRE Script failed with status 4"),
    "Z": (0, ""),
    "_condor_join_node0": (0, ""),
}


@STAGE.by_both
def the_status_file_of_a_rich_dag_that_runs(s: Scene) -> dict[str, Any]:
    def settled() -> bool:
        found = {
            node: (status, re.sub(r"\(\d+\.", "(ID.", details))
            for node, (status, details) in nodes(s).items()
        }
        return found == RICH_NODES and "JobProcsHeld = 1;" in s.text("t.status")

    s.write(OBSERVED + RICH)
    s.touch("go.H1")
    s.submit_again()
    s.until(settled, "the node status file to say so")
    left = {"status": file_records.status(s.work)}
    s.remove()
    return left


@STAGE.by_both
def a_dag_that_is_held_and_goes_on(s: Scene) -> dict[str, Any]:
    """Recovery: no line of jobstate.log twice, sequence numbers go on; then killed again."""
    s.submit(
        OBSERVED
        + """\
JOB A told.sub
SCRIPT POST A script.sh 0
JOB N job.sub NOOP
JOB B job.sub
SCRIPT PRE B script.sh 0
SCRIPT POST B wait.sh B
JOB C told.sub
RETRY C 1
VARS C code="1"
PARENT A CHILD N
PARENT N CHILD B
PARENT B CHILD C
"""
    )
    s.started("A 0")
    s.until(lambda: "A EXECUTE" in s.text("t.jobstate"), "A in jobstate.log")
    s.hold()
    left = {
        "held status": file_records.status(s.work),
        "held files": sorted(path.name for path in s.work.glob("t.*")),
        "held jobstate": file_records.jobstate(s.work),
    }
    s.release()
    s.touch("go.A", "go.B")
    s.started("C 0")
    s.until(lambda: "C EXECUTE" in s.text("t.jobstate"), "C in jobstate.log")
    s.restart()
    s.touch("go.C")
    assert s.ends() == 1
    return {**left, "progress": file_records.progress(s.work), **after(s)}


def after(s: Scene) -> dict[str, Any]:
    """What has been written in the end."""
    names = ("jobstate", "status", "own_events", "dot", "modes", "metrics")
    return {name: file_records.RECORDS[name](s.work) for name in names}


@STAGE.by_both
def times_of_events_as_the_pool_writes_them(s: Scene) -> dict[str, Any]:
    s.submit(
        "CONFIG knobs\nJOB A job.sub NOOP\nSCRIPT POST A script.sh 0\n"
        "#== knobs\nDEFAULT_USERLOG_FORMAT_OPTIONS = LEGACY, UTC\n"
    )
    assert s.ends() == 0
    return {"times": [line[27:] for line in re.findall(r"(?m)^0.*", hidden(s))]}


def hidden(s: Scene) -> str:
    """The nodes log without the digits of times."""
    return re.sub(r"\d\d/\d\d \d\d:\d\d:\d\d", "DATE TIME", s.text("t.dag.nodes.log"))


# Ours alone


@STAGE.scene
def files_that_cannot_be_written(s: Scene) -> None:
    """The DAG goes on without them, and says so once for each."""
    s.write(OBSERVED + 'JOB A job.sub\nJOB B job.sub\nPARENT A CHILD B\nVARS A seconds="1"\n')
    names = ["t.status", "t.jobstate", "t.dot", "t.dag.metrics"]
    for name in names:
        new_directory(s.work / name)
    s.submit_again()
    assert s.ends() == 0
    assert dags.runs(s.work) == {"A 0": 1, "B 0": 1}
    for name in names:
        assert len(re.findall(rf"Warning: can't write {name}: Is a directory", s.out())) == 1, name


test_scene = STAGE.tests()


test_both_leave_the_same = STAGE.beside_stock()
