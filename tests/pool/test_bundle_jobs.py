"""Bundles on a real pool: what their tasks, HTCondor and people do to them.

Each task writes into the ledger when it begins and ends, so that it can be counted how often it
ran.  Every scene is played in both kinds of run: without and with file transfer.
"""

from __future__ import annotations

import os
import re
import signal

from condor_pydagman.pool import processes
from tests.pool import dags
from tests.pool.bundle_scenes import SHARED, TRANSFERRED, WAITS, Bundled, in_both
from tests.pool.dagmans import send
from tests.pool.scenes import Scene, Stage

STAGE = Stage()
both = in_both(STAGE)


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
    'until test -e "$home/fill.$name"; do sleep 0.2; done\n'
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
def a_person_removes_the_dag(b: Bundled) -> None:
    b.b_waits()
    b.scene.remove()
    b.scene.gone()
    assert b.scene.rescue() == ([] if b.transfers else ["A"])
    b.scene.touch("go.B")
    b.scene.submit_again()
    b.well(A=b.is_lost(), B=2)


# Chains.


@both
def a_chain_runs_in_one_job_though_dagman_is_killed(b: Bundled) -> None:
    b.submit_chain(C=WAITS)
    b.started("C")
    b.explained("It is to run behind C in bundle 1 (job", ", which runs on", node="D")
    b.scene.restart()
    b.scene.touch("go.C")
    b.chained()
    b.scene.says("Submitting bundle 1 of 4 nodes: A, B, C, ...")
    assert "bundle 2" not in b.scene.out()


@STAGE.scene
def files_are_transferred_only_if_needed(scene: Scene) -> None:
    """The pool's machine shares them, so that no step names what it reads."""
    b = Bundled(scene, "IF_NEEDED")
    b.submit_chain()
    b.chained()
    scene.says("Submitting bundle 1 of 4 nodes: A, B, C, ...")


# DAGMan dies, or another one goes on.


@both
def its_job_ends_without_dagman(b: Bundled) -> None:
    b.b_waits()
    b.ends_without_dagman("go.B")
    b.scene.release()
    b.well_once()


@STAGE.scene
def stock_goes_on_with_the_rescue_file(s: Scene) -> None:
    b = Bundled(s, SHARED)
    b.submit(size=2, C=WAITS)
    s.says("Node B job.s. have exited the queue")
    b.started("C")
    s.remove()
    s.gone()
    text = s.run("condor_pydagman", "flatten", "--without-bundles", "t.dag")
    (s.work / "t.dag").write_text(text)
    s.touch("go.C")
    (s.work / "t.dag.dagman.log").unlink()
    words = ("-update_submit", "-dagman", s.access_point.stock_dagman, "t.dag")
    s.cluster = s.access_point.submit(s.work, *words, stock=True)
    b.ends()
    b.ran(C=2)


test_scenes = STAGE.tests()
