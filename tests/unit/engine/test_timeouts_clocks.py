"""TIMEOUT: which clocks are kept, which start, and how much work they are (counted, not timed)."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import QueuedJob, QueueListed
from condor_pydagman.engine.queues import Timeouts
from condor_pydagman.graph.model import Timeout
from condor_pydagman.vocabulary import EventKind, JournalRecord
from tests import make
from tests.make import QUIET

LOST = inputs.SubmitFailed(0, "lost", permanent=False, unknown=True)


def with_timeout(timeout: Timeout) -> make.EngineHarness:
    return make.harness_of("A -> B", QUIET, timeouts={"A": timeout})


def records(harness: make.EngineHarness) -> list[tuple[int, str]]:
    """Proc and text of each TIMED_OUT record of the last input(s)."""
    asked = harness.asked(do.AppendJournalRecord)
    return [
        (record.proc, record.text) for record in asked if record.record is JournalRecord.TIMED_OUT
    ]


def clocks(harness: make.EngineHarness) -> int:
    """How many clocks are kept, those included that will never strike."""
    return len(harness.engine.run.timeouts._heap)


# Work.


class Watched(dict[int, int]):
    """Flags of procs, which count how many of them are looked at one after the other."""

    looked = 0

    def items(self) -> Any:
        self.looked += len(self)
        return super().items()


def test_a_clock_that_does_not_count_any_more_is_no_reason_to_look_at_all_procs() -> None:
    harness = with_timeout(Timeout(queued=60))
    harness.take("A", 5, procs=50)
    harness.tell(*(make.of_job(EventKind.EXECUTE, 5, proc) for proc in range(50)))
    jobs = harness.engine.run.job_table.by_node[0]
    harness.engine.check = False
    jobs.procs = watched = Watched(jobs.procs)
    harness.wait(100.0)
    assert not records(harness)
    assert watched.looked == 0
    assert clocks(harness) == 0


def test_clocks_of_ended_procs_are_no_reason_to_wake() -> None:
    harness = with_timeout(Timeout(queued=60, running=60, total=90))
    harness.take("A", 5)
    harness.tell(make.of_job(EventKind.EXECUTE, 5), make.terminated(5))
    harness.take("B", 6)
    assert harness.engine.next_deadline() is None
    assert clocks(harness) == 0


def test_clocks_of_a_long_dag_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"n{number}" for number in range(300)]
    made = make.dag(" ".join(names), timeouts={name: Timeout(9000, 9000, 9000) for name in names})
    harness = make.EngineHarness(made, QUIET)
    harness.engine.check = False
    monkeypatch.setattr(Timeouts, "MIN_COMPACT_LENGTH", 20)
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
    harness = with_timeout(Timeout(running=9000))
    monkeypatch.setattr(Timeouts, "MIN_COMPACT_LENGTH", 20)
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


def test_few_clocks_are_not_looked_through() -> None:
    assert Timeouts.MIN_COMPACT_LENGTH >= 100


# Which start.


@pytest.mark.parametrize(
    ("timeout", "text"),
    [
        (Timeout(queued=60), "waited for 60 s (TIMEOUT QUEUED 60)"),
        (Timeout(total=60), "has been in the queue for 60 s (TIMEOUT TOTAL 60)"),
    ],
)
@pytest.mark.parametrize("restarted", [False, True])
def test_an_adopted_job_has_clocks(timeout: Timeout, text: str, restarted: bool) -> None:
    harness = with_timeout(timeout)
    harness.tell(LOST)
    harness.wait(1.0)
    harness.tell(QueueListed([QueuedJob(5, 0, "A", 0)]))
    harness.read_back()
    begun = harness.now
    if restarted:
        harness.now += 30  # nobody runs
        harness = harness.restart()
    harness.wait(begun + 59 - harness.now)
    assert not records(harness)
    harness.wait(1.0)
    assert records(harness) == [(0, text)]
    harness.read_back()
    assert [removal.cluster for removal in harness.asked(do.RemoveJobs)] == [5]


def test_its_submit_event_that_comes_after_all_does_not_set_them_back() -> None:
    harness = with_timeout(Timeout(queued=60, total=60))
    harness.tell(LOST)
    harness.wait(1.0)
    harness.tell(QueueListed([QueuedJob(5, 0, "A", 0)]))
    harness.read_back()
    harness.now += 30
    harness.tell(make.submit("A", 5))
    harness.wait(29.0)
    assert not records(harness)
    harness.wait(1.0)
    assert len(records(harness)) == 1


def test_a_proc_that_ended_before_the_record_of_its_adoption_was_read_has_none() -> None:
    harness = with_timeout(Timeout(queued=60, total=60))
    harness.tell(LOST)
    harness.wait(1.0)
    harness.tell(QueueListed([QueuedJob(5, 0, "A", 0), QueuedJob(5, 1, "A", 0)]))
    record = harness.echo(harness.last)
    harness.tell(make.terminated(5, 0), *record, *record)
    harness.now += 50
    harness.tell(make.of_job(EventKind.EXECUTE, 5, 1))
    harness.wait(10.0)
    assert records(harness) == [(1, "has been in the queue for 60 s (TIMEOUT TOTAL 60)")]


def test_a_proc_that_ended_before_its_submit_event_has_none() -> None:
    harness = with_timeout(Timeout(queued=60))
    harness.tell(inputs.Submitted(0, 5, 2), make.terminated(5, 0))
    harness.tell(make.submit("A", 5, 0), make.submit("A", 5, 1))
    harness.tell(make.of_job(EventKind.EXECUTE, 5, 1))
    harness.wait(60.0)
    assert not records(harness)


def test_a_proc_that_ran_before_its_submit_event() -> None:
    harness = with_timeout(Timeout(queued=30, total=60))
    harness.tell(inputs.Submitted(0, 5, 1), make.of_job(EventKind.EXECUTE, 5))
    harness.tell(make.submit("A", 5))
    harness.wait(59.0)
    assert not records(harness)  # it does not wait
    harness.wait(1.0)
    assert records(harness) == [(0, "has been in the queue for 60 s (TIMEOUT TOTAL 60)")]
