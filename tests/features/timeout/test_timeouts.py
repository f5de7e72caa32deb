"""TIMEOUT: when clocks start whatever the clock of the log says, and how much work they are
(counted, not timed).  What they do is in `timeout.scene`."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.queues import Clocks
from condor_pydagman.vocabulary import EventKind
from tests import make
from tests.make import QUIET


def records(harness: make.EngineHarness) -> list[tuple[int, str]]:
    """Proc and text of each TIMED_OUT record of the last input(s)."""
    asked = harness.asked(do.AppendJournalRecord)
    return [(record.proc, record.text) for record in asked if record.record == "TIMED_OUT"]


@pytest.mark.parametrize("ahead", [10.0, 1000.0, -100.0, -500.0])
@pytest.mark.parametrize("timeout", ["QUEUED 60", "TOTAL 60"])
@pytest.mark.parametrize("submitted", [[], [inputs.Submitted(0, 5, 1)]])
def test_a_log_with_another_clock(
    ahead: float, timeout: str, submitted: list[inputs.Submitted]
) -> None:
    """Live, a clock starts when we read the log, and does fire."""
    harness = begun_with_timeout(timeout)
    event = make.submit("A", 5)._replace(time=harness.now + ahead)
    harness.tell(*submitted, event)
    assert not records(harness)
    assert harness.engine.next_deadline() == harness.now + 60
    harness.wait(60.0)
    assert len(records(harness)) == 1


def begun_with_timeout(timeout: str) -> make.EngineHarness:
    return make.harness_of(f"A -> B\nTIMEOUT A {timeout}", QUIET)


def clocks(harness: make.EngineHarness) -> int:
    """How many clocks are kept, those included that will never strike."""
    return len(harness.engine.run.features["timeout"].clocks._heap)


class Watched(dict[int, int]):
    """Flags of procs, which count how many of them are looked at one after the other."""

    looked = 0

    def items(self) -> Any:
        self.looked += len(self)
        return super().items()


def test_a_clock_that_does_not_count_any_more_is_no_reason_to_look_at_all_procs() -> None:
    harness = begun_with_timeout("QUEUED 60")
    harness.take("A", 5, procs=50)
    harness.tell(*(make.of_job(EventKind.EXECUTE, 5, proc) for proc in range(50)))
    jobs = harness.engine.run.job_table.by_node[0]
    harness.engine.check = None
    jobs.procs = watched = Watched(jobs.procs)
    harness.wait(100.0)
    assert not records(harness)
    assert watched.looked == 0
    assert clocks(harness) == 0


def test_clocks_of_a_long_dag_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"n{number}" for number in range(300)]
    timeout = "TIMEOUT ALL_NODES QUEUED 9000 RUNNING 9000 TOTAL 9000"
    made = make.dag(f"{' '.join(names)}\n{timeout}")
    harness = make.EngineHarness(made, QUIET)
    harness.engine.check = None
    monkeypatch.setattr(Clocks, "MIN_COMPACT_LENGTH", 20)
    harness.begin()
    harness.take(names[0], 1)  # its clocks are due first: those of the others are behind them
    most = 0
    for cluster, name in enumerate(names[1:], 2):
        harness.now += 1
        harness.take(name, cluster)
        harness.tell(make.of_job(EventKind.EXECUTE, cluster), make.terminated(cluster))
        most = max(most, clocks(harness))
    assert most <= 22


def test_evictions_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = begun_with_timeout("RUNNING 9000")
    monkeypatch.setattr(Clocks, "MIN_COMPACT_LENGTH", 20)
    harness.take("A", 5, procs=2)
    harness.tell(make.of_job(EventKind.EXECUTE, 5, 0))  # its clock is due first
    begun = harness.now
    for _ in range(200):
        harness.now += 1
        harness.tell(make.of_job(EventKind.EXECUTE, 5, 1), make.of_job(EventKind.JOB_EVICTED, 5, 1))
    assert clocks(harness) <= 22
    harness.wait(begun + 8999 - harness.now)
    assert not records(harness)
    harness.wait(1.0)
    assert records(harness) == [(0, "ran for 9000 s (TIMEOUT RUNNING 9000)")]


def test_no_clock_of_many_jobs_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """With two limits of each kind, a job has as many clocks as a heap may have on average."""
    limits = "QUEUED {0} RUNNING {0} TOTAL {0}"
    harness = begun_with_timeout(f"{limits.format(900)} WARN\nTIMEOUT A {limits.format(9000)}")
    monkeypatch.setattr(Clocks, "MIN_COMPACT_LENGTH", 20)
    looked: list[object] = []
    runs = Clocks._runs
    monkeypatch.setattr(Clocks, "_runs", lambda *one: bool(looked.append(0)) or runs(*one))
    harness.take("A", 5, procs=100)
    assert clocks(harness) == 400
    harness.tell(*(make.of_job(EventKind.EXECUTE, 5, proc) for proc in range(100)))
    heap = harness.engine.run.features["timeout"].clocks._heap
    assert sum(clock.kind == "TOTAL" for clock in heap) == 200
    assert len(looked) < 1000


def test_few_clocks_are_not_looked_through() -> None:
    assert Clocks.MIN_COMPACT_LENGTH >= 100
