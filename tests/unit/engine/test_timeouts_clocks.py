"""TIMEOUT: which clocks are kept, which start, and how much work they are (counted, not timed)."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import QueuedJob, QueueListed
from condor_pydagman.engine.timeouts import Timeouts
from condor_pydagman.graph.model import Timeout
from condor_pydagman.vocabulary import EventKind, Note
from tests import make

QUIET = Config(check_queue_interval=0, pending_report_interval=0)
LOST = inputs.SubmitFailed(0, "lost", permanent=False, unknown=True)


def bench_of(timeout: Timeout) -> make.Bench:
    return make.Bench(make.dag("A -> B", timeouts={"A": timeout}), QUIET).begin()


def notes(bench: make.Bench) -> list[tuple[int, str]]:
    """Proc and text of each TIMED_OUT note of the last input(s)."""
    asked = bench.asked(do.AppendNote)
    return [(note.proc, note.text) for note in asked if note.note is Note.TIMED_OUT]


def clocks(bench: make.Bench) -> int:
    """How many clocks are kept, those included that will never strike."""
    return len(bench.engine.timeouts._heap)


# Work.


class Watched(dict[int, int]):
    """Flags of procs, which count how many of them are looked at one after the other."""

    looked = 0

    def items(self) -> Any:
        self.looked += len(self)
        return super().items()


def test_a_clock_that_does_not_count_any_more_is_no_reason_to_look_at_all_procs() -> None:
    bench = bench_of(Timeout(queued=60))
    bench.take("A", 5, procs=50)
    bench.tell(*(make.of_job(EventKind.EXECUTE, 5, proc) for proc in range(50)))
    jobs = bench.engine.book.by_node[0]
    bench.engine.check = False
    jobs.procs = watched = Watched(jobs.procs)
    bench.wait(100.0)
    assert not notes(bench)
    assert watched.looked == 0
    assert clocks(bench) == 0


def test_clocks_of_ended_procs_are_no_reason_to_wake() -> None:
    bench = bench_of(Timeout(queued=60, running=60, total=90))
    bench.take("A", 5)
    bench.tell(make.of_job(EventKind.EXECUTE, 5), make.terminated(5))
    bench.take("B", 6)
    assert bench.engine.next_deadline() is None
    assert clocks(bench) == 0


def test_clocks_of_a_long_dag_do_not_pile_up() -> None:
    names = [f"n{number}" for number in range(300)]
    made = make.dag(" ".join(names), timeouts={name: Timeout(9000, 9000, 9000) for name in names})
    bench = make.Bench(made, QUIET)
    bench.engine.check = False
    bench.engine.timeouts.FEW = 20
    bench.begin()
    bench.take(names[0], 1)  # its clocks are due first: those of the others are behind them
    most = 0
    for cluster, name in enumerate(names[1:], 2):
        bench.now += 1
        bench.take(name, cluster)
        bench.tell(make.of_job(EventKind.EXECUTE, cluster), make.terminated(cluster))
        most = max(most, clocks(bench))
    assert most <= 22


def test_evictions_do_not_pile_up() -> None:
    bench = bench_of(Timeout(running=9000))
    bench.engine.timeouts.FEW = 20
    bench.take("A", 5, procs=2)
    bench.tell(make.of_job(EventKind.EXECUTE, 5, 0))  # its clock is due first
    begun = bench.now
    for _ in range(200):
        bench.now += 1
        bench.tell(make.of_job(EventKind.EXECUTE, 5, 1), make.of_job(EventKind.JOB_EVICTED, 5, 1))
    assert clocks(bench) <= 22
    bench.wait(begun + 8999 - bench.now)
    assert not notes(bench)
    bench.wait(1.0)
    assert notes(bench) == [(0, "ran for 9000 s (TIMEOUT RUNNING 9000)")]


def test_few_clocks_are_not_looked_through() -> None:
    assert Timeouts.FEW >= 100


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
    bench = bench_of(timeout)
    bench.tell(LOST)
    bench.wait(1.0)
    bench.tell(QueueListed([QueuedJob(5, 0, "A", 0)]))
    bench.read_back()
    begun = bench.now
    if restarted:
        bench.now += 30  # nobody runs
        bench = bench.restart()
    bench.wait(begun + 59 - bench.now)
    assert not notes(bench)
    bench.wait(1.0)
    assert notes(bench) == [(0, text)]
    bench.read_back()
    assert [removal.cluster for removal in bench.asked(do.RemoveJobs)] == [5]


def test_its_submit_event_that_comes_after_all_does_not_set_them_back() -> None:
    bench = bench_of(Timeout(queued=60, total=60))
    bench.tell(LOST)
    bench.wait(1.0)
    bench.tell(QueueListed([QueuedJob(5, 0, "A", 0)]))
    bench.read_back()
    bench.now += 30
    bench.tell(make.submit("A", 5))
    bench.wait(29.0)
    assert not notes(bench)
    bench.wait(1.0)
    assert len(notes(bench)) == 1


def test_a_proc_that_ended_before_the_note_of_its_adoption_was_read_has_none() -> None:
    bench = bench_of(Timeout(queued=60, total=60))
    bench.tell(LOST)
    bench.wait(1.0)
    bench.tell(QueueListed([QueuedJob(5, 0, "A", 0), QueuedJob(5, 1, "A", 0)]))
    note = bench.echo(bench.last)
    bench.tell(make.terminated(5, 0), *note, *note)
    bench.now += 50
    bench.tell(make.of_job(EventKind.EXECUTE, 5, 1))
    bench.wait(10.0)
    assert notes(bench) == [(1, "has been in the queue for 60 s (TIMEOUT TOTAL 60)")]


def test_a_proc_that_ended_before_its_submit_event_has_none() -> None:
    bench = bench_of(Timeout(queued=60))
    bench.tell(inputs.Submitted(0, 5, 2), make.terminated(5, 0))
    bench.tell(make.submit("A", 5, 0), make.submit("A", 5, 1))
    bench.tell(make.of_job(EventKind.EXECUTE, 5, 1))
    bench.wait(60.0)
    assert not notes(bench)


def test_a_proc_that_ran_before_its_submit_event() -> None:
    bench = bench_of(Timeout(queued=30, total=60))
    bench.tell(inputs.Submitted(0, 5, 1), make.of_job(EventKind.EXECUTE, 5))
    bench.tell(make.submit("A", 5))
    bench.wait(59.0)
    assert not notes(bench)  # it does not wait
    bench.wait(1.0)
    assert notes(bench) == [(0, "has been in the queue for 60 s (TIMEOUT TOTAL 60)")]
