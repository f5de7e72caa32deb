"""DAGMan is killed at many moments of one rich DAG, and the schedd starts it again: every job and
script runs as often as if nothing had happened, and the end is the same.

Only a script that runs while DAGMan dies runs again, since nobody saw its end.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from pathlib import Path

from tests.pool import dags
from tests.pool.access_point import AccessPoint
from tests.pool.conftest import running_pool
from tests.pool.dagmans import send
from tests.pool.scenes import Scene, Stage
from tests.waiting import LIMIT_S

STAGE = Stage()

# P gives the go-ahead itself, and lasts until Z runs. Retried fails once; Bad for good, so that
# Never can't run.
RICH = """\
PROVISIONER P provisioner.sub
SERVICE S told.sub
JOB A job.sub
JOB Several several.sub
JOB Late late.sub
JOB Retried first.sub
SUBDAG EXTERNAL Sub inner.dag
JOB Noop job.sub NOOP
JOB Skipped job.sub
JOB Bad job.sub
JOB Never job.sub
JOB Z job.sub
FINAL F told.sub
PARENT A CHILD Several Late Retried Sub Noop Skipped Bad
PARENT Several Late Retried Sub Noop Skipped CHILD Z
PARENT Bad CHILD Never
RETRY Retried 1 DELAY 2
RETRY Bad 1
VARS A seconds="0.7"
VARS Retried code="3"
VARS Bad code="1"
VARS Z seconds="0.7"
SCRIPT PRE A slow.sh 0.7 0 pre A
SCRIPT POST A slow.sh 0.7 0 post A
SCRIPT PRE Retried script.sh 0 pre Retried $RETRY
SCRIPT POST Bad script.sh 2 post Bad $RETRY $RETURN
SCRIPT PRE Skipped script.sh 5 pre Skipped
PRE_SKIP Skipped 5
SCRIPT PRE Z script.sh 0 pre Z
SCRIPT POST F script.sh 0 post F $DAG_STATUS $FAILED_COUNT
ABORT-DAG-ON Z 99
#== inner.dag
JOB I job.sub
JOB J job.sub
PARENT I CHILD J
VARS I seconds="0.7"
VARS J code="0"
SCRIPT POST J script.sh 0 post J
#== first.sub
universe = scheduler
executable = first.sh
arguments = "$(JOB) $(RETRY) 0.3 $(code)"
queue
#== several.sub
universe = scheduler
executable = job.sh
arguments = "Several$(ProcId) $(RETRY) 0.7 0"
queue 3
#== late.sub
universe = vanilla
executable = job.sh
arguments = "Late$(ProcId) $(RETRY) 0.3 0"
max_materialize = 1
should_transfer_files = no
queue 3
#== provisioner.sub
universe = scheduler
executable = provisioner.sh
arguments = "P $(RETRY) $(ClusterId)"
getenv = PATH, CONDOR_CONFIG
queue
#== provisioner.sh
#!/bin/sh
echo "$1 $2 start 0" >> ledger
sleep 0.7
condor_qedit "$3" ProvisionerState 2 > /dev/null
until grep -q "^Z 0 start" ledger; do sleep 0.2; done
echo "$1 $2 end 0" >> ledger
"""

JOBS = {f"{name} 0" for name in ["P", "A", "Several0", "Several1", "Several2", "Late0", "Late1"]}
JOBS |= {"Late2 0", "Retried 0", "Retried 1", "I 0", "J 0", "Bad 0", "Bad 1", "Z 0", "F 0"}
SCRIPTS = ["post A", "post A ended", "post Bad 0 1", "post Bad 1 1", "post F 2 1", "post J"]
SCRIPTS += ["pre A", "pre A ended", "pre Retried 0", "pre Retried 1", "pre Skipped", "pre Z"]
DONE = {"A", "Several", "Late", "Retried", "Sub", "Noop", "Skipped", "Z"}

# When DAGMan is killed: lines of `.dagman.out`.  The simulator kills it at every step, and
# `tests.torture.each_point` at every call.
PLAYS = {
    "never": [],
    "at once": [r"Bootstrapping"],
    "the provisioner runs": [r"ULOG_EXECUTE for HTCondor Node P"],
    "a job is being submitted": [r"Submitting HTCondor Node A "],
    "a cluster makes its procs": [r"ULOG_EXECUTE for HTCondor Node Late \(\d+\.1\."],
    "the sub-DAG has ended": [r"Node Sub job proc .* completed"],
    "the final node is called": [r"Starting final node"],
    "three times": [
        *(r"ULOG_EXECUTE for HTCondor Node A ", r"Node Retried waits"),
        r"ULOG_EXECUTE for HTCondor Node F",
    ],
}


def play(s: Scene, moments: list[str]) -> None:
    """Kill DAGMan at these moments, and look whether it made a difference."""
    s.submit(RICH)
    for moment in moments:
        s.says(moment)
        s.kill()
    s.touch("go.F")  # DAGMan does not end before it has been killed
    assert s.ends() == 0
    assert s.out().count("STARTING UP") == len(moments) + 1
    assert set(dags.runs(s.work)) == JOBS
    starts = dags.starts(s.work)
    assert starts.pop("S 0") == 1
    assert starts == Counter(JOBS)
    check_scripts(s, allowed=set(SCRIPTS) if moments else set())
    assert [path.name for path in s.work.glob("t.dag.rescue*")] == ["t.dag.rescue001"]
    assert set(s.rescue()) == DONE
    assert not (s.work / "t.dag.lock").exists()
    table = re.findall(r" +Failed +Futile\n.*\n\S+ \S+ +(.*)", s.out())[-1]
    assert table.split() == ["10", "0", "0", "0", "0", "0", "1", "1"]


def check_scripts(s: Scene, allowed: set[str]) -> None:
    found = Counter(dags.scripts(s.work))
    assert set(found) == set(SCRIPTS)
    twice = {line for line, times in found.items() if times > 1}
    assert twice <= allowed, twice


STAGE.scenes = {name: partial(play, moments=moments) for name, moments in PLAYS.items()}


test_a_kill_changes_nothing = STAGE.tests()


# The access point itself

CHAIN = """\
JOB A told.sub
JOB B told.sub
JOB C told.sub
PARENT A CHILD B
PARENT B CHILD C
SCRIPT PRE A script.sh 0 pre A
SCRIPT POST B script.sh 0 post B
"""


def test_the_schedd_dies_and_the_pool_is_stopped(place: Path, work: Path) -> None:
    """HTCondor itself runs jobs of the scheduler universe anew; DAGMan submits none twice."""
    with running_pool(place / "second") as pool:
        s = Scene(AccessPoint(pool), work)
        s.submit(CHAIN, started="A 0")
        send(s.until(lambda: s.access_point.daemon("condor_schedd"), "the schedd"))
        s.says("done with RECOVERY mode")
        s.touch("go.A")
        s.started("B 0")
        pool.stop()
        assert not s.pid()
        s.touch("go.B", "go.C")
        pool.start(timeout_s=LIMIT_S)
        assert s.ends() == 0
        assert dags.runs(work) == {"A 0": 1, "B 0": 1, "C 0": 1}
        assert dags.scripts(work) == ["post B", "pre A"]
        assert [event["EventTypeNumber"] for event in s.events()].count(0) == 3
