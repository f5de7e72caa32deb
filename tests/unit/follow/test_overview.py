"""What one glance at a DAG says."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from condor_pydagman.follow.overview import Dagman, Overview, Standing
from condor_pydagman.follow.run_model import COUNTS, Halted, Run, newer_counts
from condor_pydagman.follow.tally import Tally
from condor_pydagman.vocabulary import JournalRecord
from tests.dag_logs import BEGIN
from tests.unit.follow.bench import Bench

NOW = BEGIN + 500
DONE = [f"done{number}" for number in range(10)]
NODES = (*DONE, "long", "short", "h1", "h2", "idle", "code", "pre", "waits")
DAG = "".join(f"JOB {name} a.sub\n" for name in NODES) + (
    "PARENT long CHILD waits\nSCRIPT PRE pre x\n"
)
READY = "JOB ready a.sub\n"


def a_run(text: str = DAG + READY, *, done_at: float = 400, last: int = 10) -> Tally:
    """`last`: which of the done nodes is so at +400 only."""
    with TemporaryDirectory() as directory:
        return _a_run(Bench(Path(directory)), text, done_at, last)


def _a_run(bench: Bench, text: str, done_at: float, last: int) -> Tally:
    for number, name in enumerate(DONE):
        bench.submit(name, number + 20)
    bench.now = BEGIN + min(done_at, 10)
    for number in range(10):
        if done_at < 400 and number != last:
            bench.terminate(number + 20)
    bench.now = BEGIN + 100
    bench.submit("long", 7)
    bench.execute(7, slot="slot1@a")
    bench.now = BEGIN + 200
    bench.submit("short", 8)
    bench.execute(8, slot="slot1@b")
    bench.now = BEGIN + 300
    for number, name in enumerate(("h1", "h2")):
        bench.submit(name, number + 10)
        bench.hold(number + 10)
    for proc in range(3):
        bench.submit("idle", 9, proc)
    bench.now = BEGIN + 400
    for number in range(10):
        if done_at == 400 or number == last:
            bench.terminate(number + 20)
    bench.submit("code", 12)
    bench.terminate(12, value=3)
    bench.record(JournalRecord.PRE_ENDED, 4, node="pre")
    return bench.tally(text)


def seen(tally: Tally, **how: Any) -> Overview:
    of = {name: how.pop(name) for name in Dagman._fields if name in how}
    return Standing("t.dag", Dagman("running", **of), tally).at(NOW, **how)


def test_held_jobs_by_their_reasons_the_most_frequent_first(bench: Bench) -> None:
    for number, reason in enumerate(("disk", "no file 7", "no file 12")):
        bench.submit(f"h{number}", number + 10)
        bench.hold(number + 10, reason=reason)
    groups = seen(bench.tally("".join(f"JOB h{n} a.sub\n" for n in range(3)))).held
    assert [(one.reason, one.jobs, one.nodes) for one in groups] == [
        ("no file 7", 2, ["h1", "h2"]), ("disk", 1, ["h0"])
    ]  # fmt: skip


@pytest.mark.parametrize(
    "ad, told_at, done",
    [
        ({}, 0.0, 5),
        ({"DAG_NodesTotal": 9, "DAG_NodesDone": 7, "DAG_AdUpdateTime": 100}, 101.0, 5),
        ({"DAG_NodesTotal": 9, "DAG_NodesDone": 7, "DAG_AdUpdateTime": 100}, 100.0, 7),
        ({"DAG_NodesTotal": 9, "DAG_NodesDone": 7, "DAG_AdUpdateTime": "x"}, 1.0, 5),
        ({"DAG_NodesTotal": 9, "DAG_NodesDone": "x"}, 0.0, 0),
    ],
)
def test_the_newer_of_what_dagman_has_counted(
    ad: dict[str, Any], told_at: float, done: int
) -> None:
    table = dict(zip(COUNTS, (9, 5, 0, 0, 0, 0, 0, 0, 0)))
    counts, _ = newer_counts(ad, table, told_at)
    assert counts["done"] == done
    assert newer_counts({}, {}, 0.0) == ({}, 0.0)


def test_no_end_is_foretold_of_a_dag_that_is_halted() -> None:
    halted = a_run()
    halted.run.halts = [Halted(BEGIN + 450)]
    assert (seen(halted).per_second, seen(halted).remaining_s) == (0.0, None)


def test_no_end_is_foretold_if_several_should_have_been_done_since() -> None:
    fast = Standing("t.dag", Dagman("running"), a_run(done_at=10)).at(BEGIN + 29)
    assert (fast.remaining_s, fast.stalled_s) == (None, 0.0)  # 10 in 29 s; none in 19 s


HELD = "".join(f"JOB {name} a.sub\n" for name in (*DONE, "h", "below")) + "PARENT h CHILD below\n"


def held(bench: Bench, text: str = HELD) -> Tally:
    for number, name in enumerate((*DONE, "h")):
        bench.submit(name, number + 20)
    bench.now = NOW - 4
    for number in range(10):
        bench.terminate(number + 20)
    bench.hold(30)
    return bench.tally(text)


def test_nodes_that_a_person_takes_for_done_are_no_pace(bench: Bench) -> None:
    for number in range(6):
        bench.submit(f"n{number}", number + 20)
        bench.terminate(number + 20, value=1)
        bench.record("STEERED", 1, text="ann done", node=f"n{number}")
    text = "".join(f"JOB n{number} a.sub\n" for number in range(8))
    one = seen(bench.tally(text))
    assert (one.counts["done"], one.per_second, one.remaining_s) == (6, 0.0, None)


def test_a_node_that_can_start_goes_on(bench: Bench) -> None:
    tally = held(bench, f"{HELD}JOB free a.sub\nSCRIPT PRE free x\n")
    one = seen(tally)
    assert one.remaining_s is not None
    assert tally.moves(one.counts)


def test_a_dag_that_is_slow_does_not_stand_still() -> None:
    assert seen(a_run(done_at=10, last=3)).stalled_s == 0  # there should have been 2


@pytest.mark.parametrize("what", [{"complete": False}, {"awaited": True}])
def test_dagmans_own_counts_where_not_all_nodes_are_known(what: dict[str, bool]) -> None:
    tally = a_run()
    assert tally.counts_hold
    vars(tally.run).update(what)
    tally.run.counts = dict(zip(COUNTS, (100, 50, 1, 5, 2, 3, 30, 2, 7)))
    tally.run.counts_time = 950.0
    one = seen(tally)
    assert (one.counts["total"], one.counts["done"], one.counted) == (100, 50, 950.0)
    assert (one.counts["running"], one.counts["held"], one.counts["idle"]) == (2, 2, 1)
    ad = {"DAG_NodesTotal": 100, "DAG_NodesDone": 60, "DAG_AdUpdateTime": 960}
    one = seen(tally, ad=ad)
    assert (one.counts["done"], one.counted) == (60, 960.0)
    assert seen(Tally(Run())).counts["total"] == 0


def test_a_job_that_runs_elsewhere_again(bench: Bench) -> None:
    bench.submit("A", 7)
    for slot in ("slot1@a", "slot1@b"):
        bench.execute(7, slot=slot)
        bench.now += 10
        if slot.endswith("a"):
            bench.event(4, "Job was evicted.", "7.0")
    (running,) = seen(bench.tally("JOB A a.sub\n")).longest
    assert running.host == "slot1@b"
