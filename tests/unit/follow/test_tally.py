"""Numbers of a run, as its engine has them."""

from __future__ import annotations

from collections import deque

from condor_pydagman.follow.history import WINDOW_S as KEPT_S
from condor_pydagman.follow.run_model import Run
from condor_pydagman.follow.tally import WINDOW_S, per_second, since_last_end
from tests.dag_logs import BEGIN
from tests.unit.follow.bench import Bench


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


def test_it_stands_still_when_five_nodes_should_have_been_done() -> None:
    run = Run()
    run.begun = 90.0
    run.ends.extend(100.0 + number for number in range(8))
    assert since_last_end(run, 107.0 + 28) == 0.0  # 5 nodes at 8 in 45 s: 28.1 s
    assert since_last_end(run, 107.0 + 29) == 29.0


def test_ends_of_long_ago_are_forgotten(bench: Bench) -> None:
    for cluster, name in enumerate("AB", 7):
        bench.submit(name, cluster)
        bench.terminate(cluster)
        bench.now += KEPT_S + 1
    assert len(bench.follow().ends) == 1
