"""What people make a running DAG do without stopping it: halt files, throttles edited in the
queue.
"""

from __future__ import annotations

import signal

from tests.pool import dags
from tests.pool.dagmans import send
from tests.pool.scenes import Scene, Stage

STAGE = Stage()
HALTED = 6  # DAG_Status


# Halt files


@STAGE.scene
def a_halt_file_that_comes_and_goes_a_hundred_times(s: Scene) -> None:
    names = [f"N{number}" for number in range(20)]
    lines = [f'JOB {name} job.sub\nVARS {name} seconds="0.1"\n' for name in names]
    lines += [f"PARENT {a} CHILD {b}\n" for a, b in zip(names, names[3:])]
    s.submit("".join(lines) + "JOB K told.sub\n")  # K runs all the time, or the DAG might drain
    s.started("N0 0", "K 0")
    for number in range(100):
        s.until(lambda: halts(s) == resumptions(s), "a DAG that is not halted")
        before = halts(s)
        s.touch("t.dag.halt")
        if number % 10 == 0:  # DAGMan sees these
            s.until(lambda: halts(s) > before, "a halt")  # noqa: B023
        (s.work / "t.dag.halt").unlink()
    s.touch("go.K")
    assert s.ends() == 0
    assert dags.starts(s.work) == {f"{name} 0": 1 for name in [*names, "K"]}
    assert halts(s) == resumptions(s) >= 10


def halts(s: Scene) -> int:
    return s.out().count("Halting DAGMan progess")


def resumptions(s: Scene) -> int:
    return s.out().count("Resuming DAG progress")


@STAGE.scene
def a_halt_file_that_goes_before_the_last_job_ends(s: Scene) -> None:
    """DAGMan, slow as it may be, must not take the DAG for halted and drained."""
    s.submit("JOB A told.sub\nJOB B job.sub\nPARENT A CHILD B\n", started="A 0")
    s.touch("t.dag.halt")
    s.says("Halting DAGMan progess")
    pid = s.signal(signal.SIGSTOP)
    (s.work / "t.dag.halt").unlink()
    s.touch("go.A")
    s.until(lambda: "\n005 (" in s.text("t.dag.nodes.log"), "the end of A in the log")
    send(pid, signal.SIGCONT)
    assert s.ends() == 0
    assert dags.runs(s.work) == {"A 0": 1, "B 0": 1}


@STAGE.scene
def a_halt_file_that_is_there_at_the_start(s: Scene) -> None:
    """condor_submit_dag takes one away; one that comes right behind it is obeyed."""
    s.write("JOB A job.sub\nSCRIPT PRE A script.sh 0 pre A\n")
    s.run("condor_submit_dag", "-no_submit", "t.dag")
    s.touch("t.dag.halt")
    s.run("condor_submit", "t.dag.condor.sub")
    assert s.ends() == 1
    assert dags.scripts(s.work) == []
    assert s.rescue() == []
    s.submit_again()
    assert s.ends() == 0
    assert dags.runs(s.work) == {"A 0": 1}


# Throttles edited in the queue


CROWD = "".join(f"JOB N{n} told.sub\n" for n in range(6))


@STAGE.scene
def max_jobs_goes_down(s: Scene) -> None:
    s.submit(CROWD, "-maxjobs", "4", started="N3 0")
    s.edit("DAGMan_MaxJobs", 2)
    s.says(r"Maximum Submitted Nodes-+: 2")
    s.touch("go.N0", "go.N1")
    for node in ("N0", "N1"):
        s.applied("JOB_TERMINATED", node)
    s.settled()
    assert sum(s.submissions().values()) == 4
    s.restart()  # the ad tells its successor
    assert s.out().count("Maximum Submitted Nodes-------: 2") == 2
    s.touch("go.N2")
    s.started("N4 0")
    s.touch(*(f"go.N{n}" for n in range(6)))
    assert s.ends() == 0
    assert dags.runs(s.work) == {f"N{n} 0": 1 for n in range(6)}


@STAGE.scene
def edits_that_make_no_sense_change_nothing(s: Scene) -> None:
    s.submit(CROWD, "-maxjobs", "2", started="N1 0")
    s.edit("DAGMan_MaxPostScripts", -3)
    s.run("condor_qedit", str(s.cluster), "DAGMan_MaxJobs", '"many"')
    s.run("condor_qedit", str(s.cluster), "DAGMan_MaxIdle", "1.5")
    s.edit("DAGMan_MaxPreScripts", 7)  # makes sense: so DAGMan has seen all
    s.has(DAGMan_MaxPreScripts=7, DAGMan_MaxJobs=2)  # what makes no sense is taken back
    s.settled()
    assert sum(s.submissions().values()) == 2
    assert "Traceback" not in s.out()
    s.edit("DAGMan_MaxJobs", 0)  # no limit
    s.started("N5 0")
    s.touch(*(f"go.N{n}" for n in range(6)))
    assert s.ends() == 0


test_live = STAGE.tests()
