"""Numbers of a run, as its engine has them."""

from __future__ import annotations

from collections import Counter, deque
from pathlib import Path

import pytest

from condor_pydagman.follow.follower import Follower
from condor_pydagman.follow.history import WINDOW_S as KEPT_S
from condor_pydagman.follow.run_model import Run
from condor_pydagman.follow.shown_states import LOOKS, shown_state
from condor_pydagman.follow.tally import WINDOW_S, Tally, per_second, since_last_end
from condor_pydagman.graph.model import DONE, LEFT_OUT
from tests.dag_logs import BEGIN
from tests.unit.follow.bench import Bench, plan_of


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def names(tally: Tally) -> list[str]:
    return [tally.name(node) for node in tally.ready()]


def test_counts_change_with_the_run(bench: Bench) -> None:
    bench.submit("B", 7)
    bench.submit("C", 8)
    tally = bench.tally("JOB A x\nJOB B x\nJOB C x\n")
    assert list(tally.run.in_queue) == ["B", "C"]
    bench.terminate(7)
    bench.terminate(8, value=1)
    for event in bench.read()[2:]:
        bench.follower.take(event)
    report = tally.report()
    assert report is not None
    assert (report.total, report.done, report.failed, report.ready) == (3, 1, 1, 1)
    assert [node.name for node in tally.run.failures] == ["C"]
    assert not tally.run.in_queue
    assert (Tally(Run()).report(), list(Tally(Run()).ready())) == (None, [])


def test_a_failed_node_that_runs_again_is_no_failure(bench: Bench) -> None:
    bench.submit("A", 7)
    bench.terminate(7, value=1)
    bench.submit("A", 8)
    run = bench.follow()
    assert (list(run.failures), list(run.in_queue)) == ([], ["A"])


def test_time_on_hold_is_in_no_rate(bench: Bench) -> None:
    """Neither that of jobs while nothing else goes on, nor that of DAGMan itself."""
    bench.submit("done", 9)
    for number in range(10, 15):
        bench.submit(f"n{number}", number)
        bench.hold(number)
    bench.now += 10
    bench.terminate(9)
    bench.now += 900
    for number in range(10, 15):
        bench.event(13, "Job was released.\n\tby me\n", f"{number:03}.000.000")
    for number in range(10, 15):
        bench.now += 2
        bench.execute(number)
        bench.terminate(number)
    names = ["done", *(f"n{number}" for number in range(10, 15))]
    run = bench.follow("".join(f"JOB {name} x\n" for name in names))
    assert run.standstills == deque([(BEGIN + 10, BEGIN + 910)])
    assert per_second(run, bench.now) == 5 / 10
    assert per_second(run, bench.now + 10) == 5 / 20
    assert not since_last_end(run, bench.now + 9)


def test_the_rate_is_that_of_the_last_minutes() -> None:
    run = Run()
    run.begun = 90.0
    run.ends.extend(100.0 + number for number in range(8))
    assert per_second(run, 110.0) == 8 / 20
    assert per_second(run, 100 + WINDOW_S) == 8 / WINDOW_S
    assert per_second(run, 104 + WINDOW_S) == 0.0  # four nodes are too few
    run.ends.clear()
    run.ends.append(100.0)
    assert per_second(run, 110.0) == 0.0
    assert KEPT_S >= WINDOW_S


def test_ends_of_long_ago_are_forgotten(bench: Bench) -> None:
    for cluster, name in enumerate("AB", 7):
        bench.submit(name, cluster)
        bench.terminate(cluster)
        bench.now += KEPT_S + 1
    assert len(bench.follow().ends) == 1


def test_nodes_that_wait_for_no_parent_are_ready(bench: Bench) -> None:
    text = "".join(f"JOB {name} a.sub\n" for name in "ABCD") + "PARENT A B CHILD C\n"
    assert names(bench.tally(text)) == ["A", "B", "D"]
    bench.submit("A", 7)
    bench.terminate(7)
    assert names(bench.tally(text)) == ["B", "D"]
    bench.submit("B", 8)
    bench.terminate(8)
    assert sorted(names(bench.tally(text))) == ["C", "D"]
    bench.submit("D", 9)
    bench.terminate(9, value=1)
    assert names(bench.tally(text)) == ["C"]


def test_service_nodes_are_not_counted(bench: Bench) -> None:
    bench.submit("S", 7)
    tally = bench.tally("JOB A a.sub\nSERVICE S a.sub\n")
    report = tally.report()
    assert report is not None
    assert (report.total, report.queued, list(tally.run.in_queue)) == (1, 0, [])
    assert names(tally) == ["A"]


NOT_RUN = """\
JOB A a.sub
JOB B a.sub
JOB C a.sub
JOB D a.sub
JOB E a.sub
JOB F a.sub
PARENT A CHILD B
PARENT B CHILD C
CACHE A INPUTS a.in
RUN_IF B Parents.A.size > 1
SCRIPT PRE D pre.sh
PRE_SKIP D 3
CATEGORY E few
CATEGORY F few
ENOUGH CATEGORY few 1
"""


def test_nodes_that_are_done_without_having_run_to_their_end(bench: Bench) -> None:
    """The numbers are those of the states in which the nodes are shown."""
    bench.record("CACHED", 1, text="result")
    bench.record("CONDITION", 0, node="B")
    bench.event(34, "PRE script returned the value of PRE_SKIP\n    DAG Node: D\n", "-01.-01.-01")
    bench.submit("E", 7)
    bench.terminate(7)
    bench.record("ENOUGH", 0, node="E", text="ENOUGH CATEGORY few 1: 1 of 2 nodes")
    bench.submit("F", 8)
    bench.abort(8, reason="DAG Enough: the node is not needed: ENOUGH CATEGORY few 1")
    tally = bench.tally(NOT_RUN)
    shown = Counter(LOOKS[shown_state(node)].key for node in tally.run.nodes.values())
    told = {key: shown[key] for key in ("skipped", "cached", "not_needed")}
    assert tally.not_run() == told
    assert told == {"skipped": 3, "cached": 1, "not_needed": 1}


def test_nodes_that_are_left_out() -> None:
    plan = plan_of("JOB A a.sub\nJOB B a.sub\nPARENT A CHILD B\n")
    plan.dag.flags[0] |= DONE | LEFT_OUT
    follower = Follower(lambda: plan)
    assert Tally(follower.run, follower.engine).not_run() == {"left_out": 1}


def test_a_plain_dag_has_no_such_nodes(bench: Bench) -> None:
    bench.submit("A", 7)
    bench.terminate(7)
    assert bench.tally("JOB A a.sub\n").not_run() == {}
    assert Tally(Run()).not_run() == {}
