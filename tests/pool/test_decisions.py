"""What DAGMan decides itself, on real jobs: conditions over their attributes, ENOUGH, BRAKE."""

from __future__ import annotations

import json

from tests.pool.scenes import Scene, Stage
from tests.pool.test_steering import steer

STAGE = Stage()
# The job notes its node in `ran`, and ends when there is no file `hold.NODE`.
STEP = """\
#== step.sub
universe = scheduler
executable = step.sh
arguments = "$(JOB)"
queue
#== step.sh
#!/bin/sh
echo "$1" >> ran
while [ -e "hold.$1" ]; do sleep 0.1; done
"""
# As Python's json.dump writes what it computes.
FIT = """\
#== fit.sub
universe = scheduler
executable = fit.sh
queue
#== fit.sh
#!/bin/sh
echo '{"loss": NaN, "steps": [10, 20], "model": "small", "done": true}' > fit.json
"""
TRIES = [f"try{number}" for number in range(6)]
SEARCH = "".join(f"JOB {name} step.sub\nCATEGORY {name} search\n" for name in TRIES)
# All fail alike until the file `mended` is there; K keeps the DAG alive until `go.K`.
SICK = [f"N{number}" for number in range(20)]
BRAKED = """\
JOB K told.sub
PRIORITY K 1
BRAKE sick 2 HOLD
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
HALTED = 6  # DAG_Status


def ran(s: Scene) -> list[str]:
    return sorted(s.text("ran").split())


@STAGE.scene
def attributes_of_a_job_decide(s: Scene) -> None:
    s.submit(
        "JOB A step.sub\nJOB X step.sub\nJOB Y step.sub\nPARENT A CHILD X Y\n"
        "PUBLISH A ATTRIBUTES NumJobStarts,Cmd\n"
        'RUN_IF X Parents.A.NumJobStarts >= 0 && regexp("step.sh$", Parents.A.Cmd)\n'
        f"RUN_IF Y Parents.A.NumJobStarts > 5\n{STEP}"
    )
    assert s.ends() == 0, s.out()[-4000:]
    assert ran(s) == ["A", "X"]


@STAGE.scene
def values_of_a_json_file_decide(s: Scene) -> None:
    s.submit(
        "JOB A fit.sub\nJOB good step.sub\nJOB lost step.sub\nPARENT A CHILD good lost\n"
        "PUBLISH A FILE fit.json\nRUN_IF good Parents.A.loss < 1\n"
        f"RUN_IF lost Parents.A.loss != Parents.A.loss && Parents.A.steps[1] == 20\n{STEP}{FIT}"
    )
    assert s.ends() == 0, s.out()[-4000:]
    assert ran(s) == ["lost"]
    assert 'Parents.A.loss is real(\\"NaN\\")' in s.text("t.dag.nodes.log")


@STAGE.scene
def a_search_stops_when_enough_is_found(s: Scene) -> None:
    s.touch(*(f"hold.{name}" for name in TRIES))
    best = f"JOB best step.sub\nPARENT {' '.join(TRIES)} CHILD best\n"
    s.submit(f"{SEARCH}{best}ENOUGH CATEGORY search 2\n{STEP}", "-maxjobs", "4")
    s.until(lambda: sum(s.submissions().values()) == 4, "four jobs")
    for name in TRIES[:2]:
        (s.work / f"hold.{name}").unlink()
    assert s.ends() == 0, s.out()[-4000:]
    assert [name for name in ran(s) if name not in TRIES[2:]] == ["best", "try0", "try1"]
    # Of the others one at most: in the place of the first that ended, before the second did.
    assert len({*ran(s)} & {*TRIES[4:]}) <= 1
    assert "DAG Enough: the node is not needed" in s.text("t.dag.nodes.log")
    found = json.loads(s.text("t.dag.metrics"))
    assert (found["nodes_not_needed"], found["nodes_succeeded"]) == (4, 3)


@STAGE.scene
def a_brake_holds_jobs_in_the_queue_until_it_is_released(s: Scene) -> None:
    nodes = "".join(f"JOB {name} sick.sub\nRETRY {name} 5\n" for name in SICK)
    s.submit(nodes + BRAKED, "-maxjobs", "2")
    s.says("Brake sick: 3 nodes failed, more than 2: N.* HOLD")
    s.has(DAG_Status=HALTED, DAG_JobsHeld=1)
    assert "Held by the brake of its DAG: sick: 3 nodes failed" in s.text("t.dag.nodes.log")
    s.touch("mended", "go.K")
    steer(s, "resume")
    assert s.ends() == 0
    assert sorted(s.text("well").split()) == sorted(SICK)


test_decisions = STAGE.tests()
