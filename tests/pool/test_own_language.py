"""What man page dagman-language promises, on a real pool: delays of retries, TIMEOUT, CHOOSE,
SWEEP; and what a knob promises: a job that the schedd has lost is noticed.
"""

from __future__ import annotations

import re
from datetime import datetime

from tests.pool import dags
from tests.pool.scenes import STATUS, Scene, Stage

STAGE = Stage()


def fails(node: str) -> str:
    return f'JOB {node} job.sub\nVARS {node} code="1"\n'


def shortest(seconds: float) -> float:
    """The shortest delay for one of `seconds`, which varies by a tenth."""
    return 0.9 * seconds - 0.1


def planned(s: Scene) -> list[int]:
    """The delays that node A was given, in full seconds."""
    return [int(t) for t in re.findall(r"Node A waits (\d+) s before its next run", s.out())]


@STAGE.scene
def a_retry_comes_when_it_was_planned_though_dagman_is_killed(s: Scene) -> None:
    """A's is far away, B's comes."""
    s.submit(fails("A") + "RETRY A 1 DELAY 3600\n" + fails("B") + "RETRY B 1 DELAY 6\n" + STATUS)
    s.says("Node A waits")
    s.says("Node B waits")
    s.until(lambda: seconds_left(s) > 1000, "what is left of A's delay")
    assert seconds_left(s) <= planned(s)[0] + 1  # one of them is rounded up
    s.restart()
    s.says("Node A waits", 2)
    s.ran("B 1")
    assert len(set(planned(s))) == 1
    # An old log is read to the second.
    assert moment(s, "B 1 start") - moment(s, "B 0 end") > shortest(6) - 1
    s.settled()
    assert s.submissions() == {"A": 1, "B": 2}
    s.remove()
    s.gone()
    assert dags.runs(s.work) == {"A 0": 1, "B 0": 1, "B 1": 1}


def seconds_left(s: Scene) -> int:
    """How long a node waits for its retry at most, by the node status file; 0 if it does not
    say."""
    found = re.findall(r'StatusDetails = "retry #1 starts in (\d+) seconds"', s.text("t.status"))
    return max(map(int, found), default=0)


def moment(s: Scene, what: str) -> float:
    """When a job said so."""
    line = next(line for line in s.text("ledger").splitlines() if line.startswith(f"{what} "))
    return float(line.rpartition(" ")[2])


# TIMEOUT


@STAGE.scene
def a_job_that_runs_for_too_long(s: Scene) -> None:
    """The first run hangs.  The others do not, though one may take too long on a slow machine."""
    s.submit(
        "JOB A first.sub\nTIMEOUT A RUNNING 2\nRETRY A 100\nJOB B job.sub\nPARENT A CHILD B\n"
        "#== first.sub\nuniverse = scheduler\nexecutable = once.sh\n"
        'arguments = "$(JOB) $(RETRY)"\nqueue\n'
        '#== once.sh\n#!/bin/sh\necho "$1 $2 start 0" >> ledger\n'
        'mkdir once 2> /dev/null && exec sleep 86400\necho "$1 $2 end 0" >> ledger\n'
    )
    assert s.ends() == 0
    assert s.submissions()["A"] >= 2
    assert sorted(run.partition(" ")[0] for run in dags.runs(s.work)) == ["A", "B"]
    assert "A 0" not in dags.runs(s.work)
    assert re.search(r"Node A job proc \(\S+\) ran for 2 s \(TIMEOUT RUNNING 2\)", s.out())
    kinds = [(e["EventTypeNumber"], e["EventTime"]) for e in s.events() if e.cluster == s_first(s)]
    begun = next(stamp for kind, stamp in kinds if kind == 1)
    ended = next(stamp for kind, stamp in kinds if kind == 9)
    seconds = (datetime.fromisoformat(ended) - datetime.fromisoformat(begun)).total_seconds()
    assert seconds >= 1.9


def s_first(s: Scene) -> int:
    """Cluster of the first job."""
    return int(s.events()[0].cluster)


@STAGE.scene
def a_job_that_never_matches(s: Scene) -> None:
    s.submit(
        "JOB A never.sub\nTIMEOUT A QUEUED 2s\nRETRY A 1 ONLY-IF -1002\n"
        "SCRIPT POST A script.sh 5 post $RETRY $RETURN\n"
        "JOB B told.sub\nTIMEOUT B QUEUED 86400\n"
    )
    s.wrote("post 0 -1002")
    s.touch("go.B")
    assert s.ends() == 1
    assert dags.scripts(s.work) == ["post 0 -1002"]  # 5, the POST script's value, is not retried
    assert "(TIMEOUT QUEUED 2)" in s.out()
    assert dags.runs(s.work) == {"B 0": 1}


@STAGE.scene
def a_timeout_is_not_set_back_by_a_restart(s: Scene) -> None:
    """By the log, the job runs for an hour; the limit counted anew would not come in this test."""
    s.submit("JOB A told.sub\nTIMEOUT A RUNNING 3000\n", started="A 0")
    s.applied("EXECUTE", "A")
    s.settled()
    assert "TIMEOUT RUNNING" not in s.out()
    s.hold()
    s.put_back()
    s.release()
    assert s.ends() == 1
    assert "(TIMEOUT RUNNING 3000): removing its jobs" in s.out()
    assert dags.runs(s.work) == {}


@STAGE.scene
def a_sub_dag_that_takes_too_long_goes_on_where_it_was(s: Scene) -> None:
    s.submit(
        "SUBDAG EXTERNAL S inner.dag\nTIMEOUT S RUNNING 3000\nRETRY S 1 ONLY-IF -1002\n"
        "SCRIPT PRE S script.sh 0 pre S\n"
        "#== inner.dag\nJOB A job.sub\nJOB B told.sub\nPARENT A CHILD B\n"
    )
    s.started("B 0")
    s.hold()
    s.put_back()
    s.release()
    s.says(r"Node S job proc .* was removed: .*TIMEOUT RUNNING 3000")
    s.touch("go.B")
    assert s.ends() == 0
    assert dags.starts(s.work) == {"A 0": 1, "B 0": 2}
    assert dags.scripts(s.work) == ["pre S", "pre S"]
    assert (s.work / "inner.dag.rescue001").exists()


# CHOOSE

LINE = "".join(f"JOB {node} job.sub\n" for node in "ABCDE") + (
    "PARENT A CHILD B E\nPARENT B CHILD C\nPARENT C CHILD D\n"
)


@STAGE.scene
def part_of_a_dag_fails_recovers_and_is_run_from_its_rescue_file(s: Scene) -> None:
    s.submit(
        LINE.replace("JOB C job.sub", "JOB C told.sub") + 'VARS C code="$(fails:1)"\n',
        "-choose_from",
        "B",
        "-choose_until",
        "C",
        started="C 0",
    )
    s.kill()
    s.touch("go.C")
    assert s.ends() == 1
    assert dags.starts(s.work) == {"B 0": 1, "C 0": 1}
    assert s.text("t.dag.rescue001").endswith("DONE B\nCHOOSE FROM B\nCHOOSE UNTIL C\n")
    s.write(LINE)
    s.submit_again()
    assert s.ends() == 0
    assert dags.starts(s.work) == {"B 0": 1, "C 0": 2}
    s.submit_again("-DoRescueFrom", "1", "-choose_all")
    assert s.ends() == 0
    assert dags.starts(s.work) == {"A 0": 1, "B 0": 1, "C 0": 3, "D 0": 1, "E 0": 1}


# SWEEP


@STAGE.scene
def the_example_of_a_sweep(s: Scene) -> None:
    s.bring("sweep")
    s.submit(s.text("sweep.dag"))
    assert s.ends() == 0
    lines = s.text("table.txt").splitlines()
    assert len(lines) == 12
    assert lines[-1] == "energy 50 seed 04 result 200"


# Knobs


CHECKED = "CONFIG t.config\n"
CHECKS = "#== t.config\nDAGMAN_CHECK_QUEUE_INTERVAL = 2\n"


@STAGE.scene
def a_job_that_vanishes_without_any_event(s: Scene) -> None:
    s.submit(CHECKED + "JOB A told.sub\nRETRY A 1\nJOB B told.sub\n" + CHECKS, started="A 0")
    s.started("B 0")
    job = str(s.job("A"))
    s.run("condor_qedit", job, "DAGManNodesLog", '"/dev/null"')
    s.run("condor_rm", job)
    s.says("was removed, as the schedd.s history says")
    s.started("A 1")
    s.touch("go.A", "go.B")
    assert s.ends() == 0
    assert dags.starts(s.work) == {"A 0": 1, "A 1": 1, "B 0": 1}
    assert 9 not in [event["EventTypeNumber"] for event in s.events()]


test_own_language = STAGE.tests()
