"""What is known of a run, as values."""

from __future__ import annotations

from condor_pydagman.trace.run_history import Attempt, Halted, Run


def test_an_attempt_names_its_first_job_if_it_has_one() -> None:
    attempt = Attempt(0)
    assert (attempt.job, attempt.in_queue) == ("", False)
    attempt.procs, attempt.cluster = 2, 7
    assert (attempt.job, attempt.in_queue) == ("7.0", True)
    attempt.ended_procs = 2
    assert not attempt.in_queue
    attempt.cluster = 0  # NOOP
    assert attempt.job == ""


def test_a_run_is_halted_until_it_is_resumed() -> None:
    run = Run()
    assert not run.halted
    run.halts = [Halted(1.0, 2.0), Halted(3.0)]
    assert run.halted
