"""What DAGMan lives through on the real pool: removal, hold, kill; and nothing runs twice."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.pool import dags
from tests.pool.access_point import AccessPoint

pytestmark = pytest.mark.pool

# B is there to fail, and C to be running when something happens.
FORK = """\
JOB A job.sub
JOB B job.sub
JOB C job.sub
JOB D job.sub
PARENT A CHILD B C
PARENT B C CHILD D
VARS B seconds="1"
VARS C seconds="4"
SCRIPT PRE A script.sh 0 pre A
SCRIPT POST A script.sh 0 post A
"""

ONCE = {"A 0": 1, "B 0": 1, "C 0": 1, "D 0": 1}


def running(access_point: AccessPoint, work: Path, node: str) -> None:
    """Wait until the node's job has started."""
    access_point.wait_for(lambda: dags.starts(work)[f"{node} 0"], say=f"start of {node}")


def visible_pid(access_point: AccessPoint, work: Path) -> int:
    """Process id of the DAGMan that runs in `work`, 0 if none does."""
    done = subprocess.run(
        ["pgrep", "-f", "Lockfile t.dag.lock"], capture_output=True, text=True, check=False
    )
    for word in done.stdout.split():
        with contextlib.suppress(FileNotFoundError):
            if os.readlink(f"/proc/{word}/cwd") == str(work):
                return int(word)
    return 0


def test_a_removed_dag_leaves_a_rescue_file_and_goes_on_from_it(
    access_point: AccessPoint, work: Path
) -> None:
    dag = dags.write(work, FORK)
    cluster = access_point.submit(work, "t.dag")
    running(access_point, work, "C")
    access_point.wait_for(lambda: dags.runs(work)["B 0"])
    time.sleep(0.5)
    access_point.run("condor_rm", str(cluster))
    access_point.wait_for(lambda: access_point.gone(cluster))
    rescue = (work / "t.dag.rescue001").read_text().splitlines()
    assert [line for line in rescue if line.startswith("DONE")] == ["DONE A", "DONE B"]
    out = (work / "t.dag.dagman.out").read_text()
    assert out.index("Writing Rescue DAG to t.dag.rescue001") < out.index("Removing submitted jobs")
    assert "EXITING WITH STATUS 2" in out
    assert not (work / "t.dag.lock").exists()
    (work / "t.dag.dagman.log").unlink()

    access_point.submit(work, "t.dag")
    assert access_point.wait(dag).code == 0
    assert "USING RESCUE DAG t.dag.rescue001" in (work / "t.dag.dagman.out").read_text()
    assert dags.runs(work) == ONCE
    assert dags.scripts(work) == ["post A", "pre A"]


def test_a_held_dag_goes_on_after_its_release(access_point: AccessPoint, work: Path) -> None:
    dag = dags.write(work, FORK)
    cluster = access_point.submit(work, "t.dag")
    running(access_point, work, "C")
    access_point.run("condor_hold", str(cluster))
    access_point.wait_for(lambda: not visible_pid(access_point, work), say="DAGMan to leave")
    assert (work / "t.dag.lock").exists()
    assert not (work / "t.dag.rescue001").exists()
    access_point.wait_for(lambda: dags.runs(work)["C 0"], say="C to go on without DAGMan")
    access_point.run("condor_release", str(cluster))
    assert access_point.wait(dag).code == 0
    assert dags.runs(work) == ONCE
    assert dags.scripts(work) == ["post A", "pre A"]
    out = (work / "t.dag.dagman.out").read_text()
    assert "Running in RECOVERY mode" in out
    assert "EXITING WITH STATUS 3" in out


@pytest.mark.parametrize("moment", ["A", "C", "D"])
def test_a_killed_dagman_comes_back_and_runs_nothing_twice(
    access_point: AccessPoint, work: Path, moment: str
) -> None:
    dag = dags.write(work, FORK + 'VARS A seconds="1"\nVARS D seconds="1"\n')
    access_point.submit(work, "t.dag")
    running(access_point, work, moment)
    os.kill(visible_pid(access_point, work), signal.SIGKILL)
    assert access_point.wait(dag).code == 0
    assert dags.starts(work) == ONCE
    assert dags.runs(work) == ONCE
    assert dags.scripts(work) == ["post A", "pre A"]
    assert "...done with RECOVERY mode" in (work / "t.dag.dagman.out").read_text()


def test_dagman_killed_many_times_runs_nothing_twice(access_point: AccessPoint, work: Path) -> None:
    names = [f"N{number}" for number in range(20)]
    lines = [f'JOB {name} job.sub\nVARS {name} seconds="0.3"\n' for name in names]
    lines += [f"PARENT {a} CHILD {b}\n" for a, b in zip(names[:15], names[5:])]
    dag = dags.write(work, "".join(lines))
    access_point.submit(work, "t.dag")
    for count in range(6):
        access_point.wait_for(lambda: len(dags.starts(work)) > 3 * count, say="progress")  # noqa: B023
        pid = visible_pid(access_point, work)
        if pid:
            os.kill(pid, signal.SIGKILL)
    assert access_point.wait(dag).code == 0
    assert dags.starts(work) == {f"{name} 0": 1 for name in names}


def test_a_second_dagman_of_a_running_dag_goes_away(access_point: AccessPoint, work: Path) -> None:
    dag = dags.write(work, FORK)
    access_point.submit(work, "t.dag")
    running(access_point, work, "C")
    before = (work / "t.dag.nodes.log").read_text()
    by_hand = {"_CONDOR_DAGMAN_LOG": "second.out"}
    words = ["-f", "-l", ".", "-Lockfile", "t.dag.lock", "-Dag", "t.dag"]
    done = access_point.run(
        access_point.our_dagman, *words, cwd=work, check=False, environment=by_hand
    )
    assert done.returncode == 1
    assert "another instance of DAGMan is currently running" in (work / "second.out").read_text()
    assert (work / "t.dag.nodes.log").read_text().startswith(before)
    assert access_point.wait(dag).code == 0
    assert dags.runs(work) == ONCE


def test_a_job_that_the_schedd_has_lost_counts_as_failed(
    access_point: AccessPoint, work: Path
) -> None:
    """The log of a crash: a submit event whose job the schedd does not have."""
    dag = dags.write(work, "JOB A job.sub\nRETRY A 1\n")
    (work / "t.dag.nodes.log").write_text(
        "000 (999999.000.000) 2026-11-21 11:56:29 Job submitted from host: <127.0.0.1:1>\n"
        '    [ DAGNodeName = "A" ]\n...\n'
    )
    (work / "t.dag.lock").write_text("1\n")
    access_point.submit(work, "t.dag")
    assert access_point.wait(dag, timeout=60).code == 0
    assert dags.runs(work) == {"A 1": 1}
    assert "is lost" in (work / "t.dag.dagman.out").read_text()
