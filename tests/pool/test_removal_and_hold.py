"""condor_rm, condor_hold and condor_release of a DAG and of its jobs, at awkward moments."""

from __future__ import annotations

import re
import signal

import htcondor2

from tests.pool import dags
from tests.pool.dagmans import dagmans_in, send
from tests.pool.scenes import Scene, Stage

STAGE = Stage()


# condor_rm and the FINAL node


@STAGE.scene
def condor_rm_starts_the_final_node_and_forcex_ends_it(s: Scene) -> None:
    """HTCondor refuses a second condor_rm; one with -forcex kills DAGMan."""
    s.submit("JOB A told.sub\nFINAL F told.sub\n", started="A 0")
    s.remove()
    s.started("F 0")
    refused = s.access_point.run("condor_rm", str(s.cluster), check=False)
    assert refused.returncode == 1
    s.run("condor_rm", "-forcex", str(s.cluster))
    s.gone()
    s.until(lambda: not s.pid(), "DAGMan to be gone", after_end=True)
    assert dags.runs(s.work) == {}
    assert (s.work / "t.dag.lock").exists()
    s.submit_again()  # recovers, and finds that the FINAL node was removed
    assert s.ends() == 1
    assert s.rescue(2) == []
    assert dags.starts(s.work) == {"A 0": 1, "F 0": 1}


# condor_hold and condor_release of the DAG


@STAGE.scene
def removed_while_held(s: Scene) -> None:
    """DAGMan does not run then: the schedd removes its jobs, and nothing is left to tell it."""
    s.submit("JOB A job.sub\nJOB B told.sub\nPARENT A CHILD B\n", started="B 0")
    s.hold()
    s.remove()
    s.gone()
    assert dags.runs(s.work) == {"A 0": 1}
    s.submit_again("-update_submit")
    assert s.ends() == 1
    assert s.rescue() == ["A"]
    assert "Running in RECOVERY mode" in s.out()
    s.submit_again()
    s.started("B 0")
    s.touch("go.B")
    assert s.ends() == 0
    assert dags.runs(s.work) == {"A 0": 1, "B 0": 1}


@STAGE.scene
def removed_while_it_starts_again(s: Scene) -> None:
    """Nobody can say whether DAGMan is far enough to write a rescue file: its nodes log will do."""
    s.submit("JOB A job.sub\nJOB B told.sub\nPARENT A CHILD B\nSCRIPT PRE A script.sh 0 pre A\n")
    s.started("B 0")
    s.hold()
    s.run("condor_release", str(s.cluster))
    s.remove()
    s.gone()
    if not (s.work / "t.dag.rescue001").exists():
        s.submit_again("-update_submit")
        assert s.ends() == 1  # its job was removed
    assert s.rescue() == ["A"]
    s.touch("go.B")
    s.submit_again("-update_submit")
    assert s.ends() == 0
    assert dags.runs(s.work) == {"A 0": 1, "B 0": 1}
    assert dags.scripts(s.work) == ["pre A"]


@STAGE.scene
def a_sub_dag_that_is_held_and_released(s: Scene) -> None:
    s.submit(
        "SUBDAG EXTERNAL S inner.dag\nJOB Z job.sub\nPARENT S CHILD Z\n"
        "SCRIPT HOLD S script.sh 0 hold S\n"
        "#== inner.dag\nJOB A told.sub\nJOB B job.sub\nPARENT A CHILD B\n"
    )
    s.started("A 0")
    inner = str(s.job("S"))
    s.run("condor_hold", inner)
    s.wrote("hold S")
    s.until(lambda: "inner.dag.lock" not in dagmans_in(s.work).values(), "its DAGMan to leave")
    s.touch("go.A")
    s.ran("A 0")
    assert "Submitting HTCondor Node B" not in s.text("inner.dag.dagman.out")
    s.run("condor_release", inner)
    assert s.ends() == 0
    assert dags.runs(s.work) == {"A 0": 1, "B 0": 1, "Z 0": 1}
    assert "RECOVERY mode" in s.text("inner.dag.dagman.out")


# The DAG's jobs


@STAGE.scene
def jobs_that_failed_do_not_count_as_removed(s: Scene) -> None:
    """Four DAGs end with the failure of their only job, a fifth, whose DAGMan is slow, with that of
    three procs of four: the schedd still has them in its queue then, and would remove them."""
    inner = [f"i{number}.dag" for number in range(5)]
    s.submit(
        "".join(f"SUBDAG EXTERNAL S{dag} {dag}\n" for dag in inner)
        + "".join(f'#== {dag}\nJOB A fails.sub\nVARS A procs="1"\n' for dag in inner[:4])
        + '#== i4.dag\nJOB A fails.sub\nVARS A procs="4"\n'
        "#== fails.sub\nuniverse = vanilla\nexecutable = /bin/sh\n"
        "arguments = \"-c 'test $(procs) = 1 || until test -e go.$(ProcId); do sleep 0.3; done; "
        "exit 3'\"\nshould_transfer_files = no\nqueue $(procs)\n"
    )
    last = "i4.dag.nodes.log"
    s.until(lambda: s.text(last).count("000 (") == 4, "four procs")
    pids = {lock: pid for pid, lock in dagmans_in(s.work).items()}
    send(pids["i4.dag.lock"], signal.SIGSTOP)
    s.touch("go.0", "go.1", "go.2")
    s.until(lambda: s.text(last).count("\n005 (") == 3, "the ends of three")
    send(pids["i4.dag.lock"], signal.SIGCONT)
    assert s.ends() == 1
    for dag in inner:
        with htcondor2.JobEventLog(str(s.work / f"{dag}.nodes.log")) as log:
            events = [(event.proc, event["EventTypeNumber"]) for event in log.events(0)]
        ends = sorted(event for event in events if event[1] in (5, 9))
        assert ends == ([(0, 5), (1, 5), (2, 5), (3, 9)] if dag == "i4.dag" else [(0, 5)])
    logs = "".join(s.text(f"{dag}.nodes.log") for dag in inner[:4])
    for cluster in re.findall(r"^005 \((\d+)\.", logs, re.M):
        ad = s.access_point.history(int(cluster))
        assert (ad["JobStatus"], ad["ExitCode"]) == (4, 3)


test_removal_and_hold = STAGE.tests()
