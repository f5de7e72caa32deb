"""ENOUGH on a real pool: a search that stops when enough is found, kills, rescue files."""

from __future__ import annotations

import json

from tests.pool.scenes import Scene, Stage
from tests.pool.test_decisions import begin, ran

STAGE = Stage()
TRIES = [f"try{number}" for number in range(6)]
SEARCH = f"PARENT {' '.join(TRIES)} CHILD best\n"
IN_CATEGORY = "".join(f"CATEGORY {name} search\n" for name in TRIES)


def reached(s: Scene) -> list[str]:
    """The ENOUGH lines that the events tell of."""
    lines = map(json.loads, s.run("condor_pydagman", "events", "t.dag").splitlines())
    return [one["enough"] for one in lines if one["event"] == "dag.enough"]


def metrics(s: Scene) -> dict[str, int]:
    found: dict[str, int] = json.loads(s.text("t.dag.metrics"))
    return found


@STAGE.scene
def a_search_stops_when_enough_is_found(s: Scene) -> None:
    s.touch(*(f"hold.{name}" for name in TRIES))
    begin(
        s,
        SEARCH + IN_CATEGORY + "ENOUGH CATEGORY search 2\nNODE_STATUS_FILE t.status 1\n",
        "-maxjobs",
        "4",
    )
    s.until(lambda: sum(s.submissions().values()) == 4, "four jobs")
    for name in TRIES[:2]:
        (s.work / f"hold.{name}").unlink()
    assert s.ends() == 0, s.out()[-4000:]
    assert [name for name in ran(s) if name in ("try0", "try1", "best", "try5")] == [
        *("best", "try0", "try1")
    ]
    s.says("ENOUGH CATEGORY search 2: 2 of 6 nodes are done: 4 that are left are removed")
    assert "DAG Enough: the node is not needed" in s.text("t.dag.nodes.log")
    assert reached(s) == ["ENOUGH CATEGORY search 2"]
    found = metrics(s)
    assert (found["enough_reached"], found["nodes_not_needed"], found["nodes_succeeded"]) == (
        *(1, 4, 3),
    )
    assert "NodesNotNeeded = 4;" in s.text("t.status")
    told = " ".join(s.run("condor_pydagman", "explain", "t.dag", "try4").split())
    assert told.startswith("Node try4 of t.dag is not needed.")
    assert "ENOUGH CATEGORY search 2 is reached, as 2 of 6 nodes are done." in told


@STAGE.scene
def the_example_of_a_search(s: Scene) -> None:
    s.bring("decisions")
    s.submit(s.text("search.dag"))
    assert s.ends() == 0, s.out()[-4000:]
    s.says(r"ENOUGH PARENTS best 2: \d of 4 nodes are done")
    s.says("ULOG_JOB_TERMINATED for HTCondor Node best")
    assert reached(s) == ["ENOUGH PARENTS best 2"]


@STAGE.scene
def kills_change_nothing(s: Scene) -> None:
    s.touch("hold.try0", "hold.try1", "hold.try2", "hold.best")
    begin(s, SEARCH + 'VARS try3 code="1"\nENOUGH PARENTS best 2\n', "-maxjobs", "3")
    s.kill()
    (s.work / "hold.try0").unlink()
    (s.work / "hold.try1").unlink()
    s.says("ENOUGH PARENTS best 2: 2 of 6 nodes are done")
    s.kill()
    (s.work / "hold.best").unlink()
    assert s.ends() == 0, s.out()[-4000:]
    assert ran(s).count("best") == 1
    assert s.text("t.dag.nodes.log").count("ENOUGH PARENTS best 2: 2 of 6 nodes are done") == 1


test_enough = STAGE.tests()
