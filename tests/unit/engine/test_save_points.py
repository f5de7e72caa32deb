"""SAVE_POINT_FILE: written once, when the node starts for the first time."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.vocabulary import EventKind, JournalRecord
from tests import make


def names(harness: make.EngineHarness) -> list[str]:
    return [harness.dag.names[action.node] for action in harness.asked(do.WriteSavePoint)]


def test_a_save_file_is_written_before_anything_of_its_node_begins() -> None:
    harness = make.harness_of("A -> B\nSCRIPT PRE B p\nSAVE_POINT_FILE B b.save")
    assert not harness.ever(do.WriteSavePoint)
    harness.run_node("A", 1)
    kinds = (do.WriteSavePoint, do.RunScript)
    order = [type(action) for action in harness.last if isinstance(action, kinds)]
    assert order == [do.WriteSavePoint, do.RunScript]


def test_a_save_file_is_written_at_the_start_even_if_the_submission_waits() -> None:
    harness = make.harness_of("A -> B; C\nSAVE_POINT_FILE B b.save", limits=Throttles(jobs=1))
    harness.take("A", 1)
    harness.tell(make.terminated(1))
    assert names(harness) == ["B"]
    assert harness.submits() == ["C"]


def test_a_save_file_of_a_root_node() -> None:
    harness = make.harness_of("A\nSAVE_POINT_FILE A a")
    assert names(harness) == ["A"]


def test_a_done_node_writes_no_save_file() -> None:
    harness = make.harness_of("""
        A -> B -> C
        SAVE_POINT_FILE B b.save
        DONE A
        DONE B
    """)
    assert not names(harness)


@pytest.mark.parametrize("pre", [False, True])
def test_a_retry_writes_no_save_file(pre: bool) -> None:
    script = "SCRIPT PRE B p" if pre else ""
    harness = make.harness_of(f"B\nSAVE_POINT_FILE B b.save\nRETRY B 2\n{script}")
    if pre:
        harness.pre_ends("B", 1)
    else:
        harness.run_node("B", 1, value=1)
    assert len(harness.ever(do.WriteSavePoint)) == 1


def test_a_submission_tried_again_writes_no_second_save_file() -> None:
    harness = make.harness_of("B\nSAVE_POINT_FILE B b.save")
    harness.tell(inputs.SubmitFailed(0, "busy", permanent=False))
    harness.wait(5.0)
    assert harness.submits() == ["B"]
    assert len(harness.ever(do.WriteSavePoint)) == 1


def test_a_skipped_node_and_a_noop_have_started() -> None:
    harness = make.harness_of("""
        B
        SCRIPT PRE B p
        PRE_SKIP B 4
        SAVE_POINT_FILE B b.save
    """)
    harness.pre_ends("B", 4)
    assert len(harness.ever(do.WriteSavePoint)) == 1
    harness = make.harness_of("JOB B n.sub NOOP\nSAVE_POINT_FILE B b.save")
    assert names(harness) == ["B"]


def test_a_halted_dag_still_writes_save_files() -> None:
    harness = make.harness_of("A -> B; C\nSAVE_POINT_FILE B b.save")
    harness.take("A", 1)
    harness.take("C", 2)
    harness.tell(inputs.Halt())
    harness.tell(make.terminated(1))
    harness.tell(inputs.Resume())
    assert len(harness.ever(do.WriteSavePoint)) == 1


# Restarts.


def test_a_restart_before_the_node_began_writes_its_save_file() -> None:
    harness = make.harness_of("A -> B\nSAVE_POINT_FILE B b.save")
    harness.run_node("A", 1)
    other = harness.replay()
    assert not other.ever(do.WriteSavePoint)
    other.tell(inputs.LogCaughtUp())
    assert not other.ever(do.WriteSavePoint)
    other.tell(inputs.QueueListed([]))
    assert names(other) == ["B"]


@pytest.mark.parametrize("how", ["submitted", "pre", "skip", "retry", "submit failed", "done"])
def test_a_restart_after_the_node_began_writes_no_save_file(how: str) -> None:
    more = {"pre": "SCRIPT PRE B p", "skip": "SCRIPT PRE B p", "retry": "RETRY B 1"}.get(how, "")
    harness = make.harness_of(f"A -> B; C\nSAVE_POINT_FILE B b.save\nPRE_SKIP B 4\n{more}")
    harness.run_node("A", 1)
    harness.run_node("C", 3)
    if how == "submitted":
        harness.take("B", 2)
    elif how == "pre":
        harness.pre_ends("B")
    elif how == "skip":
        harness.pre_ends("B", 4)
    elif how == "submit failed":
        harness.happens(inputs.SubmitFailed(1, "no", permanent=True))
    else:
        harness.run_node("B", 2, value=int(how == "retry"))
    assert len(harness.ever(do.WriteSavePoint)) == 1
    assert not harness.restart().ever(do.WriteSavePoint)


def test_a_restart_that_finds_its_job_in_the_queue_only() -> None:
    harness = make.harness_of("A -> B\nSAVE_POINT_FILE B b.save")
    harness.run_node("A", 1)
    other = harness.replay()
    other.tell(inputs.LogCaughtUp(), inputs.QueueListed([inputs.QueuedJob(2, 0, "B", 0)]))
    assert other.state("B").name == "SUBMITTED"
    assert not other.ever(do.WriteSavePoint)


def test_an_abort_before_its_node_was_asked_for() -> None:
    harness = make.harness_of("""
        A -> B
        FINAL F n.sub
        ABORT-DAG-ON A 0
        SAVE_POINT_FILE B b.save
    """)
    harness.run_node("A", 1)
    harness.read_back()
    assert harness.state("B").name == "WAITING"
    assert not harness.ever(do.WriteSavePoint)
    assert harness.submits() == ["F"]
    harness.take("F", 9)
    harness.tell(make.of_job(EventKind.EXECUTE, 9), make.record(JournalRecord.FINAL_STARTED, "F"))
    assert not harness.ever(do.WriteSavePoint)


def test_a_replayed_failed_submission_writes_no_save_file() -> None:
    made = make.dag("B\nSCRIPT POST B q\nSAVE_POINT_FILE B b.save")
    harness = make.EngineHarness(made).begin(recovering=True)
    harness.tell(
        make.record(JournalRecord.SUBMIT_FAILED, "B"), inputs.LogCaughtUp(), inputs.QueueListed(())
    )
    assert harness.state("B").name == "POST_RUN"
    assert not harness.ever(do.WriteSavePoint)
