"""What goes wrong around a DAG while it runs: scripts that can't be started or won't end, a nodes
log that somebody harms, a directory that can't be written. Each is told, and nothing is lost or
run twice.
"""

from __future__ import annotations

import os
import re
import signal

from tests.pool import dags
from tests.pool.dagmans import send
from tests.pool.scenes import Scene, Stage

STAGE = Stage()


# Scripts


@STAGE.scene
def scripts_that_cannot_be_started(s: Scene) -> None:
    s.write(
        "JOB A job.sub\nSCRIPT PRE A nosuch.sh\n"
        "JOB B job.sub\nSCRIPT PRE B t.dag\n"
        "JOB C job.sub\nSCRIPT POST C wrong.sh\n"
        "JOB D job.sub\nSCRIPT POST D .\n"
        "#== wrong.sh\n#!/nonexistent/interpreter\n"
    )
    (s.work / "t.dag").chmod(0o644)
    s.submit_again()
    assert s.ends() == 1
    assert dags.runs(s.work) == {"C 0": 1, "D 0": 1}
    assert s.rescue() == []
    for word in ("nosuch.sh: .*No such file", "t.dag: .*Permission denied", "wrong.sh", "[.]: "):
        assert re.search(rf"Error: Failed to execute (PRE|POST) for Node \w: {word}", s.out()), word
    explained = s.answer("condor_pydagman", "explain", "t.dag").stdout
    assert "its POST script could not be started: wrong.sh: " in " ".join(explained.split())


STUBBORN = """\
SCRIPT PRE A stubborn.sh
#== stubborn.sh
#!/bin/sh
trap '' TERM HUP INT QUIT
echo "began $$" >> scripts
until test -e go; do sleep 0.2; done
echo "ended" >> scripts
"""


def stubborn(s: Scene) -> list[int]:
    """Process ids of the stubborn scripts that run."""
    begun = [line for line in dags.scripts(s.work) if line.startswith("began")]
    return [pid for pid in (int(line.split()[1]) for line in begun) if _lives(s, pid)]


def _lives(s: Scene, pid: int) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/cwd") == str(s.work)
    except OSError:
        return False


@STAGE.scene
def a_script_that_never_ends_does_so_when_its_dag_is_removed(s: Scene) -> None:
    s.submit("JOB A job.sub\n" + STUBBORN)
    s.until(lambda: stubborn(s), "the script")
    s.remove()
    s.gone()
    s.until(lambda: not stubborn(s), "the script to be gone", after_end=True)
    assert (s.rescue(), dags.starts(s.work)) == ([], {})


@STAGE.scene
def a_script_that_never_ends_while_its_dag_is_held(s: Scene) -> None:
    """The script runs again when the DAG is released, but never two at the same time."""
    s.submit("JOB A job.sub\n" + STUBBORN)
    s.until(lambda: stubborn(s), "the script")
    s.hold()
    s.until(lambda: not stubborn(s), "the script to be gone")
    s.release()
    s.until(lambda: stubborn(s), "the script")
    s.touch("go")
    assert s.ends() == 0
    assert dags.scripts(s.work).count("ended") == 1
    assert dags.runs(s.work) == {"A 0": 1}


@STAGE.scene
def a_script_that_never_ends_when_dagman_is_killed(s: Scene) -> None:
    s.submit("JOB A job.sub\n" + STUBBORN)
    first = s.until(lambda: stubborn(s), "the script")
    s.restart()
    s.until(lambda: set(stubborn(s)) - set(first), "the script again")
    assert len(stubborn(s)) == 1
    s.touch("go")
    assert s.ends() == 0
    assert dags.scripts(s.work).count("ended") == 1


# The nodes log

LOGGED = """\
JOB A job.sub
JOB B told.sub
JOB C job.sub
JOB D told.sub
PARENT A CHILD B
PARENT B CHILD C
SCRIPT PRE A script.sh 0 pre A
SCRIPT POST C script.sh 0 post C
"""


@STAGE.scene
def a_nodes_log_that_is_deleted(s: Scene) -> None:
    """The run ends, and a new one goes on where it was."""
    s.submit(LOGGED)
    s.started("B 0", "D 0")
    s.says("ULOG_EXECUTE", 3)
    (s.work / "t.dag.nodes.log").unlink()
    s.touch("go.D")
    assert s.ends() == 2
    assert s.rescue() == ["A"]
    assert not (s.work / "t.dag.lock").exists()
    said = re.search(r"ERROR: DAGMan exiting due to error in log file: (.*)", s.out())
    assert said is not None
    assert "nodes.log" in said[1]
    s.gone()
    s.submit_again()
    s.until(lambda: dags.starts(s.work)["B 0"] == 2, "B")
    s.touch("go.B")
    assert s.ends() == 0
    assert dags.runs(s.work)["A 0"] == dags.runs(s.work)["B 0"] == dags.runs(s.work)["C 0"] == 1
    assert dags.scripts(s.work) == ["post C", "pre A"]


# The directory


@STAGE.scene
def a_rescue_file_that_cannot_be_written(s: Scene) -> None:
    """DAGMan leaves all as it is and comes back until it can."""
    s.submit('JOB A job.sub\nJOB B told.sub\nPARENT A CHILD B\nVARS B code="1"\n', started="B 0")
    pid = s.signal(signal.SIGSTOP)
    s.touch("go.B")
    s.ran("B 0")
    s.work.chmod(0o555)
    try:
        send(pid, signal.SIGCONT)
        s.says("leaves the jobs alone and keeps its lock file", 2)
    finally:
        s.work.chmod(0o777)
    assert s.ends() == 1
    assert s.rescue() == ["A"]
    assert dags.starts(s.work) == {"A 0": 1, "B 0": 1}


test_running_dags_survive_faults_of_the_machine = STAGE.tests()
