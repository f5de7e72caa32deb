"""BRAKE on a real pool: a DAG of which much fails is halted or held; a person resumes it."""

from __future__ import annotations

import json

from tests.pool.scenes import Scene, Stage
from tests.pool.test_steering import steer

STAGE = Stage()
HALTED = 6  # DAG_Status
COUNT = 20
NAMES = [f"N{number}" for number in range(COUNT)]
# All fail alike until the file `mended` is there; K keeps the DAG alive until `go.K`.
SICK = (
    "".join(f"JOB {name} sick.sub\n" for name in NAMES)
    + """\
BRAKE {brake}
#== sick.sh
#!/bin/sh
test -e mended || exit 3
echo "$1" >> well
#== sick.sub
universe = scheduler
executable = sick.sh
arguments = $(JOB)
queue
"""
)
KEPT = "JOB K told.sub\nPRIORITY K 1\n"
RETRIED = "".join(f"RETRY {name} 5\n" for name in NAMES)


def brakes(s: Scene) -> list[tuple[str, str]]:
    """Name and effect of the brakes that the events tell of."""
    lines = map(json.loads, s.run("condor_pydagman", "events", "t.dag").splitlines())
    return [(one["brake"], one["effect"]) for one in lines if one["event"] == "dag.brake"]


def explained(s: Scene) -> str:
    argv = ["condor_pydagman", "explain", "t.dag"]
    return " ".join(s.access_point.run(*argv, cwd=s.work, check=False).stdout.split())


@STAGE.scene
def nodes_that_fail_alike_halt_the_dag_until_it_is_resumed(s: Scene) -> None:
    s.submit(KEPT + RETRIED + SICK.format(brake="sick 4 ALIKE EXIT_CODE HALT"), "-maxjobs", "3")
    s.says("Halt reason: brake sick: 5 nodes failed with exit code 3, more than 4: N")
    s.has(DAG_Status=HALTED)
    # DAGMan sets one attribute after the other.
    why = s.until(lambda: s.ad().get("PYDAGMAN_Brake"), "the brake in the ad")
    assert why.startswith("sick: 5 nodes failed with exit code 3")
    s.kill()
    s.says("Restoring halted state.")
    told = explained(s)
    assert "brake sick: 5 nodes failed with exit code 3" in told
    assert f"htcondor dag resume {s.cluster}" in told
    assert len(brakes(s)) == 1
    s.touch("mended")
    steer(s, "resume")
    s.says("The brakes are released, and start counting again")
    s.kill()
    s.until(lambda: len(s.text("well").split()) == COUNT, "all nodes are well")
    s.touch("go.K")
    assert s.ends() == 0
    assert sorted(s.text("well").split()) == sorted(NAMES)
    assert s.out().count("Restoring halted state.") == 1
    assert brakes(s) == [("sick", "HALT")]


@STAGE.scene
def jobs_in_the_queue_are_held_and_released(s: Scene) -> None:
    s.submit(KEPT + RETRIED + SICK.format(brake="sick 2 HOLD"), "-maxjobs", "2")
    s.says("Brake sick: 3 nodes failed, more than 2: N.* HOLD")
    s.has(DAG_Status=HALTED, DAG_JobsHeld=1)
    assert "Held by the brake of its DAG: sick: 3 nodes failed" in s.text("t.dag.nodes.log")
    s.touch("mended", "go.K")
    steer(s, "resume")
    assert s.ends() == 0
    assert sorted(s.text("well").split()) == sorted(NAMES)


test_brakes = STAGE.tests()
