"""Kill DAGMan at every boundary between two actions, one after the other: the end is the same, and
nothing runs twice.

In each run of the tests it is killed at every third boundary; the long run takes all of them.
"""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.graph.model import Dag
from tests import make
from tests.sim.faults import Faults
from tests.sim.workload import Ends, Workload
from tests.sim.world import World


def plain() -> Dag:
    return make.dag("A -> B C; B C -> D")


def scripts() -> Dag:
    return make.dag("""
        A -> B
        SCRIPT PRE ALL_NODES script $NODE $RETRY
        SCRIPT POST ALL_NODES script $NODE $RETRY
        RETRY A 2
        RETRY B 1
    """)


def skips() -> Dag:
    return make.dag("""
        A -> B -> C
        JOB B n.sub NOOP
        SCRIPT PRE A script $NODE $RETRY
        SCRIPT PRE B script $NODE $RETRY
        PRE_SKIP A 1
    """)


def junction() -> Dag:
    return make.dag("""
        A B -> C D -> E
        RETRY C 1
        CATEGORY C x
        CATEGORY D x
        MAXJOBS x 1
    """)


def deferred() -> Dag:
    return make.dag("""
        A -> B
        SCRIPT DEFER 3 10 PRE A script $NODE $RETRY
        SCRIPT DEFER 3 10 POST B script $NODE $RETRY
    """)


def aborting() -> Dag:
    return make.dag("A B -> C\nRETRY A 3\nABORT-DAG-ON A 2 RETURN 4")


def final() -> Dag:
    return make.dag("""
        A B -> C
        FINAL F n.sub
        SCRIPT POST B script $NODE $RETRY
        SCRIPT PRE F script $NODE $RETRY
        SCRIPT POST F script $NODE $RETRY
        RETRY A 3
        ABORT-DAG-ON A 2 RETURN 4
    """)


def final_noop() -> Dag:
    return make.dag("""
        A -> B
        JOB B n.sub NOOP
        FINAL F n.sub NOOP
        SCRIPT POST F script $NODE $RETRY
    """)


def provisioned() -> Dag:
    return make.dag("""
        A -> B
        PROVISIONER P n.sub
        SERVICE S n.sub
        SCRIPT PRE P script $NODE $RETRY
        SCRIPT PRE S script $NODE $RETRY
    """)


def delayed() -> Dag:
    return make.dag("""
        A -> B
        JOB N n.sub NOOP
        SCRIPT PRE A script $NODE $RETRY
        SCRIPT POST N script $NODE $RETRY
        RETRY A 2 DELAY 100 BACKOFF 2
        RETRY N 2 DELAY 100 BACKOFF 2
    """)


def timed() -> Dag:
    return make.dag("A -> B\nRETRY A 1\nTIMEOUT A RUNNING 100")


def saved() -> Dag:
    return make.dag("""
        A -> B C
        SCRIPT PRE B script $NODE $RETRY
        SAVE_POINT_FILE A a
        SAVE_POINT_FILE B b
        SAVE_POINT_FILE C c
    """)


CASES: dict[str, tuple[object, Ends, list[int]]] = {
    "plain": (plain, Ends({}), [0]),
    "procs": (plain, Ends({}, {"A": 3, "C": 2}), [0]),
    "fails": (plain, Ends({"job B 0 0": 1}), [1, 0]),
    "scripts": (
        scripts,
        Ends({"job A 0 0": 1, "POST A 0 0": 1, "PRE A 1 0": 2, "POST B 0 0": 0, "job B 0 0": 7}),
        [0],
    ),
    "skips": (skips, Ends({"PRE A 0 0": 1}), [0]),
    "junction": (junction, Ends({"job C 0 0": -9}), [0]),
    "deferred": (deferred, Ends({"PRE A 0 0": 3, "POST B 0 0": 3}), [0]),
    "final": (final, Ends({"job B 0 0": 1, "POST B 0 0": 3, "seconds A 0": 50}), [0]),
    "final after abort": (final, Ends({"job A 0 0": 2, "seconds B 0": 5000}), [0]),
    "final fails": (final, Ends({"job A 0 0": 2, "POST F 0 0": 1, "seconds B 0": 5000}), [1, 0]),
    "final noop": (final_noop, Ends({}), [0]),
    "provisioned": (provisioned, Ends({"seconds S 0": 9000}), [0]),
    "delayed": (delayed, Ends({"job A 0 0": 1, "PRE A 1 0": 1, "POST N 0 0": 1}), [0]),
    "timed": (timed, Ends({"seconds A 0": 5000, "seconds A 1": 1}), [0]),
    "saved": (saved, Ends({"job B 0 0": 1}, {"C": 2}), [1, 0]),
    "factory": (plain, Ends({"factory A": 1, "factory C": 2}, {"A": 3, "C": 4}), [0]),
    "common input": (plain, Ends({"common input A": 1, "common input C": 1}), [0]),
    "aborting": (aborting, Ends({"job A 0 0": 2}), [4, 0]),
}

# Another job may have run on, or may have been removed, while DAGMan was gone.
RACES = ("aborting", "final", "final after abort", "final fails", "provisioned")


def world(case: str, crash_at: tuple[int, ...] = ()) -> World:
    build, outcomes, _ = CASES[case]
    assert callable(build)
    work = Workload(build, Config(), Throttles(jobs=2, pre=1), outcomes)
    return World(11, workload=work, faults=Faults(), crash_at=crash_at)


def story(ended: World) -> tuple[object, ...]:
    """What has to be the same: exits, nodes done, and the jobs that ran, each with its end."""
    clusters = sorted(
        (c.era, c.node, c.retry, c.procs, tuple(sorted(c.ends.items())))
        for c in ended.schedd.clusters.values()
        if not c.removed
    )
    return ended.exit_codes, sorted(ended.oracles.truth.done), clusters


def final_jobs(ended: World) -> list[tuple[int, tuple[tuple[int, int | None], ...]]]:
    """Clusters of the FINAL node: era and ends."""
    clusters = (c for c in ended.schedd.clusters.values() if c.node == "F")
    return [(c.era, tuple(sorted(c.ends.items()))) for c in clusters]


def scripts_run(ended: World) -> int:
    return sum(1 for *_, kind, what in ended.lines if kind == "<-" and "RunScript" in str(what))


@pytest.mark.parametrize("stride", [3, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("case", CASES)
def test_killed_at_every_boundary(case: str, stride: int) -> None:
    calm = world(case)
    calm.run()
    assert calm.exit_codes == CASES[case][2]
    for boundary in range(1, calm.boundaries + 1, stride):
        hit = world(case, (boundary,))
        hit.run()
        assert hit.life == 1 or len(calm.exit_codes) > 1
        if case in RACES:
            assert hit.exit_codes == calm.exit_codes, hit.trace_text()
            assert final_jobs(hit) == final_jobs(calm), hit.trace_text()
        else:
            assert story(hit) == story(calm), hit.trace_text()
        assert scripts_run(hit) <= scripts_run(calm) + 2, hit.trace_text()


@pytest.mark.parametrize("stride", [9, pytest.param(3, marks=pytest.mark.long)])
@pytest.mark.parametrize("case", ["plain", "scripts", "junction", "delayed", "timed"])
def test_killed_twice(case: str, stride: int) -> None:
    calm = world(case)
    calm.run()
    for boundary in range(1, calm.boundaries, stride):
        for later in (1, 4, 9):
            hit = world(case, (boundary, boundary + later))
            hit.run()
            assert story(hit) == story(calm), hit.trace_text()
