"""Which jobs in the queue a removal must leave out, of what the log has told so far."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from condor_pydagman.daemon.perform import Performer
from condor_pydagman.engine.inputs import LogEvent, QueuedJob
from condor_pydagman.vocabulary import EventKind
from tests import make


def test_an_end_counts_as_soon_as_it_is_in_the_log() -> None:
    bench = make.Bench("A; B").begin()
    bench.take("A", 5, procs=5)
    bench.tell(make.terminated(5, 0, value=3))
    unread = [make.terminated(5, 2), make.of_job(EventKind.JOB_ABORTED, 5, 3)]
    run: Any = SimpleNamespace(engine=bench.engine, log=SimpleNamespace(to_end=lambda: [unread]))
    performer = Performer.__new__(Performer)
    performer.run, performer._answers = run, []
    performer._waiting = [make.terminated(5, 1), make.of_job(EventKind.EXECUTE, 5, 4)]
    jobs = [QueuedJob(5, proc, "A", 0) for proc in range(5)]
    assert [job.proc for job in performer._ended(jobs)] == [0, 1, 2, 3]
    assert [event for event in performer._answers if isinstance(event, LogEvent)] == unread
    assert performer._ended([]) == []
