"""What a report tells operators: ends of nodes, times of jobs, refused submissions."""

from __future__ import annotations

from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.vocabulary import EventKind
from tests import make
from tests.make import QUIET


def at(time: float, event: LogEvent) -> LogEvent:
    return event._replace(time=time)


def test_times_of_jobs() -> None:
    harness = make.EngineHarness("A B -> C", QUIET).begin()
    harness.tell(
        at(100, make.submit("A", 1)),
        at(110, make.submit("B", 2)),
        at(120, make.of_job(EventKind.EXECUTE, 1)),
        at(130, make.of_job(EventKind.JOB_HELD, 2)),
        at(160, make.terminated(1)),
    )
    report = harness.engine.report()
    assert (report.idle_s, report.held_s, report.running_s) == (40, 30, 40)
    assert (report.last_end_at, report.wasted_s, report.failed_first) == (160, 0, ())
    harness.tell(
        at(170, make.of_job(EventKind.JOB_RELEASED, 2)),
        at(175, make.of_job(EventKind.EXECUTE, 2)),
        at(180, make.of_job(EventKind.JOB_EVICTED, 2)),
        at(190, make.of_job(EventKind.EXECUTE, 2)),
        at(193, make.terminated(2, value=1)),
    )
    report = harness.engine.report()
    assert (report.idle_s, report.held_s, report.running_s) == (55, 40, 48)
    assert (report.last_end_at, report.wasted_s, report.failed_first) == (193, 3, ("B",))


def test_a_clock_that_was_set_back() -> None:
    harness = make.EngineHarness("A", QUIET).begin()
    harness.tell(
        at(100, make.submit("A", 1)),
        at(90, make.of_job(EventKind.EXECUTE, 1)),
        at(80, make.terminated(1, value=1)),
    )
    report = harness.engine.report()
    assert (report.idle_s, report.running_s, report.wasted_s) == (0, 0, 0)


def test_what_a_job_waits_after_it_has_run_is_not_wasted() -> None:
    harness = make.EngineHarness("A", QUIET).begin()
    harness.tell(
        at(100, make.submit("A", 1)),
        at(110, make.of_job(EventKind.EXECUTE, 1)),
        at(120, make.of_job(EventKind.JOB_HELD, 1)),
        at(500, make.of_job(EventKind.JOB_ABORTED, 1)),
    )
    assert harness.engine.report().wasted_s == 0


def test_nodes_that_were_done_before_have_not_ended_now() -> None:
    harness = make.EngineHarness("A -> B\nDONE A", QUIET).begin()
    harness.tell(at(100, make.submit("B", 1)))
    assert harness.engine.report().last_end_at == 0


def test_nodes_that_the_schedd_has_not_taken() -> None:
    harness = make.EngineHarness("A; B; RETRY A 1", QUIET).begin()
    harness.tell(inputs.SubmitFailed(0, "no", permanent=False))
    report = harness.engine.report()
    assert (report.refusals, report.resubmitting) == (1, 1)
