"""Another user of the access point, whose jobs say that they are those of somebody else's DAG."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from condor_pydagman.engine.inputs import EndedJob, QueuedJob
from tests.contract.schedd import Wish
from tests.pool import dags
from tests.pool.access_point import AccessPoint
from tests.pool.scenes import Scene, Stage
from tests.pool.second_user import Eve, Forger
from tests.pool.test_schedd_contract import RealSide

STAGE = Stage()

# One at a time: B and C are ready while A runs.
ONE_AFTER_THE_OTHER = """\
JOB A told.sub
JOB B job.sub
JOB C job.sub
JOB D job.sub
PARENT B C CHILD D
CONFIG t.config
#== t.config
DAGMAN_CHECK_QUEUE_INTERVAL = 2
"""
ENDED = ("universe = scheduler",)


@STAGE.scene
def jobs_of_a_stranger_are_not_adopted(s: Scene) -> None:
    eve, we = Eve(s.access_point, s.work), Forger(s.access_point, s.work)
    s.submit(ONE_AFTER_THE_OTHER, "-maxjobs", "1", started="A 0")
    second = eve.forge(s.cluster, "A", "hold = true")
    waits = eve.forge(s.cluster, "B", "hold = true")
    ended = eve.forge(s.cluster, "C", *ENDED)
    eve.forge(s.cluster, "D", *ENDED)
    s.until(
        lambda: s.access_point.run("condor_history", str(ended), "-json").stdout.strip() != "[\n]",
        "eve's job in the history",
        pause=0.5,
    )
    try:
        s.restart()  # what the log does not show is looked for by its successor
        ours = we.forge(s.cluster, "A", "hold = true")
        s.says(f"removing cluster {ours}: .* a second cluster of DAG node A")  # by a later look
        assert "found its job" not in s.out()
        assert f"removing cluster {second}:" not in s.out()
        assert {ad["ClusterId"] for ad in s.access_point.queue('Owner == "eve"')} >= {second, waits}
        s.touch("go.A")
        assert s.ends() == 0
    finally:
        eve.leave()
    assert dags.runs(s.work) == {"A 0": 1, "B 0": 1, "C 0": 1, "D 0": 1}


test_second_user = STAGE.tests()


@pytest.fixture
def eve(access_point: AccessPoint, work: Path) -> Iterator[Eve]:
    made = Eve(access_point, work)
    yield made
    made.leave()


def test_only_our_own_jobs_are_listed(access_point: AccessPoint, work: Path, eve: Eve) -> None:
    """In queue and history; under a DAGMan that is no job as well, which knows its user by asking
    the schedd."""
    number = 800_001
    side = RealSide(access_point, work, number, "process")
    forged = eve.forge(number, "B", "hold = true")
    eve.forge(number, "C", *ENDED)
    ours = side.submit(Wish("A", lasting=True))
    ended = side.submit(Wish("A", code=3))
    side.until_ended(ended.cluster)
    assert side.jobs() == [QueuedJob(ours.cluster, 0, "A", 0)]
    assert side.ended_jobs() == [EndedJob(ended.cluster, 0, "A", 0, 3)]
    side.close()
    assert [ad["JobStatus"] for ad in access_point.queue(f"ClusterId == {forged}")] == [5]
    ad = access_point.queue(f"ClusterId == {forged}")[0]
    assert (ad["Owner"], ad["DAGManJobId"]) == ("eve", number)
