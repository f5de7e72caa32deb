"""What DAGMan lives through on the real pool: removal, hold, kill; and nothing runs twice."""

from __future__ import annotations

from tests.pool import dags
from tests.pool.scenes import Scene, Stage

STAGE = Stage()
# B is there to end, and C to be running when something happens.
FORK = """\
JOB A job.sub
JOB B job.sub
JOB C told.sub
JOB D job.sub
PARENT A CHILD B C
PARENT B C CHILD D
SCRIPT PRE A script.sh 0 pre A
SCRIPT POST A script.sh 0 post A
"""
ONCE = {"A 0": 1, "B 0": 1, "C 0": 1, "D 0": 1}


@STAGE.scene
def a_held_dag_goes_on_after_its_release(s: Scene) -> None:
    s.submit(FORK, started="C 0")
    s.hold()
    assert (s.work / "t.dag.lock").exists()
    assert not (s.work / "t.dag.rescue001").exists()
    s.touch("go.C")
    s.ran("C 0")  # without DAGMan
    s.release()
    assert s.ends() == 0
    assert dags.runs(s.work) == ONCE
    assert dags.scripts(s.work) == ["post A", "pre A"]
    assert "Running in RECOVERY mode" in s.out()
    assert "EXITING WITH STATUS 3" in s.out()


@STAGE.scene
def a_second_dagman_of_a_running_dag_goes_away(s: Scene) -> None:
    s.submit(FORK, started="C 0")
    before = s.text("t.dag.nodes.log")
    words = ["-f", "-l", ".", "-Lockfile", "t.dag.lock", "-Dag", "t.dag"]
    done = s.access_point.run(
        s.access_point.our_dagman,
        *words,
        cwd=s.work,
        check=False,
        environment={"_CONDOR_DAGMAN_LOG": "second.out"},
    )
    assert done.returncode == 1
    assert "another instance of DAGMan is currently running" in s.text("second.out")
    assert s.text("t.dag.nodes.log").startswith(before)
    s.touch("go.C")
    assert s.ends() == 0
    assert dags.runs(s.work) == ONCE


def _loses_the_log_from(s: Scene, place: str) -> None:
    """DAGMan is away while C runs and the nodes log loses what follows the first `place`."""
    s.submit(FORK, started="C 0")
    s.says(r"Node B job proc .* completed successfully")
    s.hold()
    log = s.work / "t.dag.nodes.log"
    text = log.read_text()
    log.write_text(text[: text.index(place) + len(place)])
    s.release()
    s.says("done with RECOVERY mode")
    s.touch("go.C")
    assert s.ends() == 0
    assert dags.runs(s.work) == ONCE
    assert "as the schedd's history says" in s.out()


@STAGE.scene
def what_a_log_has_lost_is_learned_from_the_queue_and_the_history(s: Scene) -> None:
    _loses_the_log_from(s, "001 (")


@STAGE.scene
def a_log_that_has_lost_everything_is_learned_anew(s: Scene) -> None:
    _loses_the_log_from(s, "")


# As a job of told.sub, but takes the file away that tells it to end.
TAKES = """\
#== takes.sub
universe = scheduler
executable = takes.sh
arguments = "$(JOB) $(RETRY)"
queue
#== takes.sh
#!/bin/sh
echo "$1 $2 start 0" >> ledger
until mv "go.$1" taken 2> /dev/null; do sleep 0.3; done
echo "$1 $2 end 0" >> ledger
"""


@STAGE.scene
def a_dag_that_its_job_runs_again_is_not_taken_for_done_before(s: Scene) -> None:
    """As a DAG that begins anew every night: what the history has of the run before is not its."""
    again = "on_exit_remove = JobRunCount > 1 && ExitBySignal =!= true"
    s.touch("go.C")
    s.submit("JOB A job.sub\nJOB C takes.sub\nPARENT A CHILD C\n" + TAKES, "-append", again)
    s.ran("C 0")
    s.until(lambda: dags.runs(s.work).get("A 0") == 2, "the second run")
    s.says(r"Node A job proc .* completed successfully", 2)
    s.restart()
    s.touch("go.C")
    assert s.ends() == 0
    assert dags.runs(s.work) == {"A 0": 2, "C 0": 2}
    assert "schedd's history" not in s.out()


@STAGE.scene
def a_job_that_the_schedd_has_lost_counts_as_failed(s: Scene) -> None:
    """The log of a crash: a submit event whose job the schedd does not have."""
    s.write("JOB A job.sub\nRETRY A 1\n")
    (s.work / "t.dag.nodes.log").write_text(
        "000 (999999.000.000) 2026-11-21 11:56:29 Job submitted from host: <127.0.0.1:1>\n"
        '    [ DAGNodeName = "A" ]\n...\n'
    )
    (s.work / "t.dag.lock").write_text("1\n")
    s.submit_again()
    assert s.ends() == 0
    assert dags.runs(s.work) == {"A 1": 1}
    assert "is lost" in s.out()
    assert s.out().count("ERROR: DAGMan lost track of node A (ClusterId=999999).") == 1


test_survival = STAGE.tests()
