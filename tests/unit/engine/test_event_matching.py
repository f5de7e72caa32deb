"""The nodes log as a whole: whose an event is, what is said and recorded of it."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.vocabulary import EventKind, JournalRecord
from tests import make


@pytest.mark.parametrize(
    "event",
    [
        make.submit("Z", 9),
        make.submit("", 9),
        make.terminated(9),
        make.of_job(EventKind.JOB_HELD, 9),
        make.post_ended("Z", 0),
        make.post_ended("A", 0),
        make.pre_skip("A", 3),
        make.pre_skip("Z", 3),
        make.record(JournalRecord.PRE_ENDED, "A"),
        make.record(JournalRecord.PRE_ENDED, "Z"),
        make.record(JournalRecord.JOB_LOST, "A", cluster=9, proc=0),
        make.record(JournalRecord.SUBMIT_FAILED, "B"),
        LogEvent(EventKind.GENERIC, text="somebody else's"),
        LogEvent(999, 5, 0),
        LogEvent(999, 9, 0),
        LogEvent(EventKind.CLUSTER_REMOVE, 5),
        *make.noop("Z", 3),
        make.noop("A", 3)[1],
    ],
)
def test_events_out_of_place_are_ignored(event: LogEvent) -> None:
    harness = make.harness_of("A -> B", procs=1)
    before = harness.states()
    harness.tell(event)
    assert harness.states() == before
    harness.tell(make.terminated(5))
    harness.run_node("B", 6)
    assert harness.asked(do.Exit) == [do.Exit(0)]


@pytest.mark.parametrize("proc", [-1, -2, -1000, -1001])
@pytest.mark.parametrize("recovering", [False, True])
@pytest.mark.parametrize(
    "kind",
    [
        EventKind.SUBMIT,
        EventKind.EXECUTE,
        EventKind.JOB_EVICTED,
        EventKind.JOB_TERMINATED,
        EventKind.SHADOW_EXCEPTION,
        EventKind.JOB_ABORTED,
        EventKind.JOB_SUSPENDED,
        EventKind.JOB_HELD,
        EventKind.JOB_RELEASED,
        EventKind.JOB_RECONNECT_FAILED,
    ],
)
def test_events_of_what_is_no_job_change_nothing(
    kind: EventKind, proc: int, recovering: bool
) -> None:
    harness = make.harness_of("A\nSCRIPT HOLD A h\nJOBSTATE_LOG j.log", procs=1)
    harness.tell(make.of_job(EventKind.EXECUTE, 5))
    before = harness.live_procs(), harness.engine.report(), len(harness.ever(do.JobState))
    node = "A" if kind is EventKind.SUBMIT else ""
    harness.tell(make.of_job(kind, 5, proc)._replace(node=node))
    assert harness.said(f"Event: ULOG_{kind.name} for HTCondor Node A (5.{proc}.0)")
    assert harness.said(f"Warning: Skipping event due to non-job proc id {proc}")
    assert (": Common Transfer Shadow" in str(harness.last)) == (proc <= -1000)
    assert (harness.live_procs(), harness.engine.report(), len(harness.ever(do.JobState))) == before
    if recovering:
        harness = harness.restart()
    harness.tell(make.terminated(5))
    assert harness.asked(do.Exit) == [do.Exit(0)]


@pytest.mark.parametrize(
    "event",
    [
        make.cluster_submit("A", 5),
        make.cluster_remove(5),
        make.post_ended("A", 1),
        make.pre_skip("A", 1),
    ],
)
def test_cluster_events_of_helper_procs_change_nothing(event: LogEvent) -> None:
    harness = make.harness_of("A\nSCRIPT POST A q", procs=1)
    harness.tell(event._replace(cluster=5, proc=-1000))
    harness.tell(make.terminated(5))
    assert harness.state("A").name == "POST_RUN"


def test_messages_carry_the_ids_as_tools_parse_them() -> None:
    harness = make.harness_of("A")
    harness.tell(make.submit("A", 5)._replace(stamp="11/21/26 12:00:00"))
    assert harness.said("Event: ULOG_SUBMIT for HTCondor Node A (5.0.0) {11/21/26 12:00:00}")
    harness.tell(make.terminated(9))
    assert harness.said("Event: ULOG_JOB_TERMINATED for unknown Node (9.0.0) {}: ignoring...")


def test_jobstate_lines() -> None:
    harness = make.harness_of("A\nRETRY A 1\nJOBSTATE_LOG j.log")
    harness.run_node("A", 5, 1)
    harness.run_node("A", 6)
    lines = [(line.event, line.job, line.sequence) for line in harness.ever(do.JobState)]
    assert lines == [
        ("SUBMIT", "5.0", 1),
        ("JOB_TERMINATED", "5.0", 1),
        ("JOB_FAILURE", "1", 1),
        ("SUBMIT", "6.0", 2),
        ("JOB_TERMINATED", "6.0", 2),
        ("JOB_SUCCESS", "0", 2),
    ]


def test_the_number_of_unmatched_events_kept_is_bounded() -> None:
    harness = make.harness_of("A")
    harness.tell(*(make.terminated(cluster) for cluster in range(100, 2200)))
    assert len(harness.engine.run.log.unmatched_events) == 1000


def test_a_late_double_of_one_noop_is_not_said_again_for_every_other() -> None:
    harness = make.harness_of("""
        A; B; C; D
        JOB A n.sub NOOP
        JOB B n.sub NOOP
        JOB C n.sub NOOP
    """)
    events = harness.echo(harness.all)
    harness.tell(*events[:2], events[1], *events[2:])
    said = [say.text for say in harness.ever(do.Say) if "unknown Node" in say.text]
    assert len(said) == 1
    assert harness.states() == "A=DONE B=DONE C=DONE D=SUBMITTING"
    harness.same_replay()
