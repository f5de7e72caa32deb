"""What mutants of the engine have shown that no other test would notice."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.report import Deferrals, Halts
from condor_pydagman.engine.script_words import how_it_failed
from condor_pydagman.vocabulary import EventKind
from tests import make


@pytest.mark.parametrize(("submitted", "job"), [(True, "5.0"), (False, "-")])
def test_jobstate_names_the_job_whose_post_script_has_ended(submitted: bool, job: str) -> None:
    harness = make.harness_of("A\nSCRIPT POST A x\nJOBSTATE_LOG j.log")
    if submitted:
        harness.run_node("A", 5)
    else:
        harness.happens(inputs.SubmitFailed(0, "no such file", permanent=True))
    harness.post_ends("A")
    lines = {line.event: line.job for line in harness.ever(do.JobState)}
    assert lines["POST_SCRIPT_SUCCESS"] == job


def test_events_before_the_submit_event_wait_for_it_alone() -> None:
    """Not for the next event of another node's job in the same cluster."""
    harness = make.harness_of("A; B")
    harness.tell(make.submit("A", 5, shared=True), make.terminated(5, 1))
    execute = make.of_job(EventKind.EXECUTE, 5)
    assert not [say.text for say in harness.tell(execute) if "(5.1.0)" in getattr(say, "text", "")]
    harness.tell(make.submit("B", 5, 1, shared=True))
    assert harness.state("B").name == "DONE"


def test_nothing_halts_a_dag_or_has_waited_unless_it_is_told() -> None:
    assert not Halts().halted
    assert not any(Deferrals())


def test_signals_and_exit_codes_of_scripts_in_words() -> None:
    assert [how_it_failed(status) for status in (-9, -1, 0, 1)] == [
        *("died on signal 9", "died on signal 1", "failed with status 0", "failed with status 1")
    ]


@pytest.mark.parametrize(("attempts", "said"), [(1, "1 try."), (2, "2 tries.")])
def test_how_often_a_submission_was_tried(attempts: int, said: str) -> None:
    harness = make.EngineHarness("A", make.quiet(max_submit_attempts=attempts)).begin()
    for _ in range(attempts):
        harness.happens(inputs.SubmitFailed(0, "no", permanent=False))
        harness.wait(100)
    assert harness.said(f"Node submit failed after {said}")
