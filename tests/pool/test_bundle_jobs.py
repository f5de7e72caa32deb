"""Bundles on a real pool: what their tasks, HTCondor and people do to them.

Each task writes into the ledger when it begins and ends, so that it can be counted how often it
ran.  Every scene is played in both kinds of run: without and with file transfer.
"""

from __future__ import annotations

import json
import os
import re
import signal
import time

from condor_pydagman.pool import processes
from tests.pool import dags
from tests.pool.bundle_scenes import ONCE, TRANSFERRED, WAITS, Bundled, in_both
from tests.pool.dagmans import send
from tests.pool.scenes import Scene, Stage

STAGE = Stage()

TRUE = """\
#== true.sub
executable = /bin/true
transfer_executable = false
should_transfer_files = NO
queue
"""

both = in_both(STAGE, Bundled)


@STAGE.scene
def what_is_foreseen(scene: Scene) -> None:
    """The sizes that a dry run tells are those that bundles begin with."""
    nodes = "".join(f"JOB N{number} true.sub\n" for number in range(100))
    scene.write(f"{nodes}BUNDLE b ALL_NODES\n{TRUE}")
    found = json.loads(scene.run("condor_pydagman", "dry-run", "--json", "t.dag"))["bundles"]
    (kind,) = found["lines"][0]["kinds"]
    scene.submit_again()
    assert scene.ends() == 0
    made = re.findall(r"Submitting bundle \d+ of (\d+) nodes", scene.out())
    assert found["slots"] > 1
    assert list(map(int, made))[: len(kind["sizes"])] == kind["sizes"]


# What tasks do.


@both
def all_goes_well(b: Bundled) -> None:
    b.submit(B="code=3\n", more="RETRY C 2\n")
    b.ends(1)
    b.ran()
    b.home("A", "C", "D")
    assert sorted(b.scene.rescue()) == ["A", "C", "D"]
    assert not (b.scene.work / "t.dag.bundles").exists()


@both
def what_it_does_is_seen(b: Bundled) -> None:
    b.b_waits()
    b.explained("nodes run in 1 bundle on slot")
    b.explained(f"It is in bundle 1 (job {b.job}.0) with 3 others, which runs on slot", node="B")
    b.scene.has(DAG_JobsRunning=1)
    b.scene.touch("go.B")
    b.ends()
    b.explained("ran for", "of bundle 1", node="B")


@STAGE.scene
def an_output_is_missing(scene: Scene) -> None:
    b = Bundled(scene, TRANSFERRED)
    b.submit(B="exit 0\n")
    b.ends(1)
    b.explained("its output made.B is missing")
    b.scene.says(r"Node B \([0-9.]+\): its output made.B is missing")
    b.home("A", "C", "D")


@both
def a_task_may_write_no_long_files(b: Bundled) -> None:
    b.submit(B="ulimit -f 10; head -c 1000000 /dev/zero > made.B || exit 9\n")
    b.ends(1)
    b.home("A", "C", "D")
    assert sorted(b.scene.rescue()) == ["A", "C", "D"]


@both
def a_task_removes_its_neighbours_files(b: Bundled) -> None:
    """Who has lost nothing but its results runs again; who can't begin any more fails."""
    place = "../.." if b.transfers else "t.dag.bundles/1"
    b.submit(C=f"{ONCE} rm -rf {place}/*\n", more="RETRY C 1\nRETRY D 1\n")
    b.ends()
    if not b.was_read_early:
        assert dags.starts(b.scene.work)["A 0"] == dags.starts(b.scene.work)["B 0"] == 2
    for name in "ABCD":
        assert re.match(f"{name} [01]\n", b.scene.text(f"made.{name}")), name


@both
def a_task_truncates_the_results(b: Bundled) -> None:
    place = "../../results" if b.transfers else "t.dag.bundles/1/results"
    b.submit(C=f"{ONCE} : > {place}\n")
    b.ends()
    if not b.was_read_early:
        b.began(A=2, B=2, C=1)
    b.home()


@both
def a_task_forges_results(b: Bundled) -> None:
    place = "../../results" if b.transfers else "t.dag.bundles/1/results"
    line = '{"ended": 4, "run": 0, "code": 0, "signal": 0, "time": 1, "begun": 1, "missing": []}'
    b.submit(B=f"echo '{line}' >> {place}\n", D=f"{ONCE} code=5\n")
    b.ends()
    if not b.was_read_early:
        b.began(D=2)
    b.home()


@both
def odd_names(b: Bundled) -> None:
    b.submit("i$x c;d=e (p)& {f}")
    b.ends()
    b.began()


# What HTCondor does to their job.


@both
def the_job_is_vacated(b: Bundled) -> None:
    b.b_waits()
    b.scene.run("condor_vacate_job", str(b.job))
    b.goes_on_elsewhere("B")
    b.well_once(B=2)


FILLS = (
    'until test -e "$home/fill.$1"; do sleep 0.2; done\n'
    'head -c 50000000 /dev/zero > "$_CONDOR_SCRATCH_DIR/much"\n'
)


@STAGE.scene
def the_job_goes_on_hold_by_itself(scene: Scene) -> None:
    """Not by a person: for memory, say; here for what it has on its disk."""
    b = Bundled(scene, TRANSFERRED)
    b.lines = "My.HeldByThePool = DiskUsage > 30000"
    b.submit(B=FILLS + WAITS)
    b.started("A", "B")
    runner = b.is_running("B")[1]
    live = "t.dag.bundles/1/live"
    b.scene.until(lambda: '"started": 2' in b.scene.text(live), "DAGMan may know what runs")
    b.scene.touch("fill.B")
    b.scene.says("Bundle 1 is on hold")
    b.scene.until(lambda: not os.path.exists(f"/proc/{runner}"), "the end of the runner")
    b.scene.says("bundle 2 of . nodes: [AC], [CD]")  # B, which ran, is alone
    b.scene.touch("go.B")
    b.well(A=b.is_lost(), B=2)


@STAGE.scene
def the_disk_is_full_where_results_are_streamed(scene: Scene) -> None:
    """HTCondor puts the job on hold."""
    b = Bundled(scene, TRANSFERRED)
    b.submit()
    home = b.scene.work / "t.dag.bundles" / "1"
    b.scene.until((home / "tasks").exists, "the bundle's directory", pause=0.01)
    (home / "live").symlink_to("/dev/full")
    b.scene.says("Bundle 1 is on hold: .*No space left on device")
    b.ends()
    assert set(dags.runs(b.scene.work)) == {f"{name} 0" for name in b.names}
    b.home()


@both
def the_runner_is_killed(b: Bundled) -> None:
    b.b_waits()
    send(b.is_running("B")[1], signal.SIGKILL)
    b.goes_on_elsewhere("B")
    b.well(B=2)


@both
def the_starter_is_killed(b: Bundled) -> None:
    b.b_waits()
    send(processes.stat_of(b.is_running("B")[1]).parent, signal.SIGKILL)
    b.goes_on_elsewhere("B")
    b.well(A=b.is_lost(), B=2)


@both
def the_shadow_is_killed(b: Bundled) -> None:
    b.b_waits()
    send(_shadow(b.scene, b.job), signal.SIGKILL)
    b.goes_on_elsewhere("B")
    b.well(A=b.is_lost(), B=2)


def _shadow(scene: Scene, cluster: int) -> int:
    """A shadow serves one job after the other; its log says which."""
    log = scene.access_point.pool.directory / "log" / "ShadowLog"
    return int(re.findall(rf"\({cluster}\.0\) \((\d+)\)", log.read_text())[-1])


MANY = "A B " + " ".join(f"N{number}" for number in range(110))  # more than four for each slot


@both
def a_task_takes_long(b: Bundled) -> None:
    """Nobody waits for it that has not begun."""
    b.submit(MANY, size=0, A=WAITS)
    others = {f"{name} 0": 1 for name in b.names if name != "A"}
    b.scene.until(lambda: dags.runs(b.scene.work) == others, "the end of all others")
    b.scene.touch("go.A")
    b.well_once()


@both
def the_starter_is_killed_when_others_have_been_given_back(b: Bundled) -> None:
    """Its job, which may not know of that, does not run them."""
    b.submit(MANY, size=0, A=WAITS, B=WAITS)
    b.scene.says("Bundle 1: a node takes long")
    b.started("B")
    send(processes.stat_of(b.is_running("A")[1]).parent, signal.SIGKILL)
    b.scene.until(lambda: dags.starts(b.scene.work)["A 0"] == 2, "A again")
    b.scene.touch("go.A")
    b.scene.touch("go.B")
    b.well_once(A=2)


# What people do.


@both
def a_person_holds_and_releases_the_job(b: Bundled) -> None:
    b.b_waits()
    b.scene.run("condor_hold", str(b.job))
    runner = b.is_running("B")[1]
    b.scene.until(lambda: not os.path.exists(f"/proc/{runner}"), "the end of the runner")
    b.explained("1 job of bundle 1 has been held", "condor_release")
    b.explained("It is in bundle 1", "which is held", node="B")
    b.scene.has(DAG_JobsHeld=1, DAG_JobsRunning=0)
    b.scene.touch("go.B")
    b.scene.run("condor_release", str(b.job))
    b.well_once(B=2)


@both
def a_person_removes_the_job(b: Bundled) -> None:
    b.b_waits()
    b.scene.run("condor_rm", str(b.job))
    b.ends(1)
    b.began(C=0, D=0)
    assert b.scene.rescue() == ([] if b.transfers else ["A"])


@both
def a_person_removes_the_dag(b: Bundled) -> None:
    b.b_waits()
    b.scene.remove()
    b.scene.gone()
    assert b.scene.rescue() == ([] if b.transfers else ["A"])
    b.scene.touch("go.B")
    b.scene.submit_again()
    b.well(A=b.is_lost(), B=2)


@both
def a_person_changes_the_jobs_name(b: Bundled) -> None:
    b.b_waits()
    b.scene.run("condor_qedit", str(b.job), "DAGNodeName", '"other"')
    b.scene.restart()
    time.sleep(30)  # several questions for the queue, and CONFIRM_LOST_S
    b.scene.touch("go.B")
    b.well_once()


# DAGMan dies.


@both
def dagman_is_killed_while_it_runs(b: Bundled) -> None:
    b.b_waits()
    b.scene.restart()
    b.scene.kill()
    b.scene.touch("go.B")
    b.well_once()


@both
def its_job_ends_without_dagman(b: Bundled) -> None:
    b.b_waits()
    b.ends_without_dagman("go.B")
    b.scene.release()
    b.well_once()


@both
def the_results_are_cut(b: Bundled) -> None:
    b.submit(D=WAITS)
    b.started("A", "D")
    b.ends_without_dagman("go.D")
    path = b.scene.work / "t.dag.bundles" / "1" / "results"
    text = path.read_bytes()
    os.truncate(path, text.index(b'"ended": 4') + 30)
    b.scene.release()
    b.well(D=2)


test_scenes = STAGE.tests()
