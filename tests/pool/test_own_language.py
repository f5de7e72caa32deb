"""TIMEOUT removes a real job, or tells that it is late; and a job that the schedd has lost."""

from __future__ import annotations

import json
import re
from datetime import datetime

from tests.pool import dags
from tests.pool.scenes import Scene, Stage

STAGE = Stage()


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
    first, *others = s.events()
    times = {e["EventTypeNumber"]: e["EventTime"] for e in others if e.cluster == first.cluster}
    begun, ended = times[1], times[9]
    seconds = (datetime.fromisoformat(ended) - datetime.fromisoformat(begun)).total_seconds()
    assert seconds >= 1.9


@STAGE.scene
def a_job_is_late_and_goes_on(s: Scene) -> None:
    """It is told once, though DAGMan is killed."""
    s.submit(
        "JOB A told.sub\nTIMEOUT ALL_NODES RUNNING 2 WARN\nNOTIFY job.late PROGRAM tell.sh\n"
        "#== tell.sh\n#!/bin/sh\ncat >> told\n"
    )
    s.says(r"Warning: node A job proc \(\S+\) has run for 2 s \(TIMEOUT RUNNING 2 WARN\)")
    s.until(lambda: s.text("told"), "the event")
    s.restart()
    s.settled()
    assert "1 job of node A has been late for" in s.run(
        "condor_pydagman", "watch", "--once", "t.dag"
    )
    s.touch("go.A")
    assert s.ends() == 0
    assert s.text("t.dag.nodes.log").count('"LATE"') == 1
    (event,) = map(json.loads, s.text("told").splitlines())
    assert (event["event"], event["node"], event["limit"]) == ("job.late", "A", 2)


@STAGE.scene
def a_script_is_put_off_twice_at_most(s: Scene) -> None:
    """A DAGMan that is killed meanwhile counts on."""
    s.submit(
        "JOB A job.sub\nSCRIPT DEFER 3 1 TIMES 2 BACKOFF 3 POST A post.sh\n"
        "#== post.sh\n#!/bin/sh\necho post >> ran\nexit 3\n"
    )
    s.until(lambda: '"DEFERRED"' in s.text("t.dag.nodes.log"), "the record")
    s.restart()
    assert s.ends() == 1
    assert s.text("ran").count("post") == 3
    assert re.search("Deferring POST script of node A for 3 seconds", s.out())
    assert re.search("The DEFER of the POST script of node A has come to its end", s.out())
    told = "POST script asked to be put off more than 2 times"
    assert told in s.run("condor_pydagman", "nodes", "t.dag")


@STAGE.scene
def a_job_that_vanishes_without_any_event(s: Scene) -> None:
    s.submit(
        "CONFIG t.config\nJOB A told.sub\nRETRY A 1\nJOB B told.sub\n"
        "#== t.config\nDAGMAN_CHECK_QUEUE_INTERVAL = 2\n"
    )
    s.started("A 0", "B 0")
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
