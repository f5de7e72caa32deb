"""TOLERANCE: how many procs may fail."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine.rules import failures_allowed, removes_the_rest
from condor_pydagman.graph.model import Tolerance
from condor_pydagman.timers import REMOVAL_GRACE_S
from condor_pydagman.vocabulary import EventKind
from tests import make


@pytest.mark.parametrize(
    ("tolerance", "procs", "expected"),
    [
        (None, 10, 3),
        (Tolerance(1), 10, 1),
        (Tolerance(0), 10, 0),
        (Tolerance(50, percent=True), 5, 2),
        (Tolerance(100, percent=True), 5, 5),
        (Tolerance(33, percent=True), 3, 0),
    ],
)
def test_failures_allowed(tolerance: Tolerance | None, procs: int, expected: int) -> None:
    assert failures_allowed(tolerance, procs, 3) == expected


def test_the_node_or_the_knob_says_whether_the_rest_is_removed() -> None:
    keep = Config(remove_job_list_on_failure=False)
    assert not removes_the_rest(None, keep)
    assert not removes_the_rest(Tolerance(1), keep)
    assert removes_the_rest(Tolerance(1, fail_fast=True), keep)
    assert not removes_the_rest(Tolerance(1, fail_fast=False), Config())
    assert removes_the_rest(Tolerance(1), Config())


def with_tolerance(tolerance: str, procs: int, commands: str = "") -> make.EngineHarness:
    return make.harness_of(f"A -> B\nTOLERANCE A {tolerance}\n{commands}", procs=procs)


def test_a_node_succeeds_with_some_failures() -> None:
    harness = with_tolerance("1", 3)
    harness.tell(make.terminated(5, 0, 7), make.terminated(5, 1), make.terminated(5, 2))
    assert harness.states() == "A=DONE B=SUBMITTING"
    assert not harness.ever(do.RemoveJobs)


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ((1, 0, 0), "q True 0"),
        ((0, 0, 1), "q True 1"),  # the last value stays, as with stock
        ((1, 2, 0), "q False 1"),
        ((1, 0, 2), "q False 2"),  # stock says 0 here, of a node that has failed
    ],
)
def test_macros_of_the_post_script_after_tolerated_failures(
    values: tuple[int, ...], line: str
) -> None:
    harness = with_tolerance("1 WAIT", 3, "SCRIPT POST A q $SUCCESS $RETURN")
    for proc, value in enumerate(values):
        harness.tell(make.terminated(5, proc, value))
    (script,) = harness.asked(do.RunScript)
    assert " ".join(script.words) == line


def test_a_failure_beyond_the_tolerance_removes_the_rest() -> None:
    harness = with_tolerance("50%", 4)
    harness.tell(make.terminated(5, 0, 7), make.terminated(5, 1, 8))
    assert not harness.asked(do.RemoveJobs)
    harness.tell(make.terminated(5, 2, 9))
    harness.wait(REMOVAL_GRACE_S)
    (removal,) = harness.asked(do.RemoveJobs)
    assert removal.reason == (
        "Node Error: DAG node A (5.2.0) reached failure tolerance after 3 failures."
    )
    harness.tell(make.terminated(5, 3))
    assert harness.said("completed successfully, but status is STATUS_ERROR")
    assert harness.engine.run.nodes.errors[0] == "Job proc (5.2.0) failed with status 9"
    assert harness.engine.run.nodes.values[0] == 7


def test_a_removed_proc_is_a_failed_one() -> None:
    harness = with_tolerance("0", 2)
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 5, 0))
    (removal,) = harness.asked(do.RemoveJobs)
    assert removal.reason == "Node Error: DAG node A (5.0.0) got ULOG_JOB_ABORTED event."


def test_a_replay_with_tolerated_failures_gives_the_same_state() -> None:
    harness = with_tolerance("1", 3)
    harness.tell(make.terminated(5, 0, 7), make.terminated(5, 1), make.terminated(5, 2))
    assert harness.replay().state("A").name == "DONE"
