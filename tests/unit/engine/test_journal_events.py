"""Our own decisions, read back from the nodes log: once, twice, late, or of another run."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.feature_table import RECORDS
from condor_pydagman.timers import CONFIRM_TIMEOUT_S
from condor_pydagman.vocabulary import CORE_RECORDS, EventKind, JournalRecord, ScriptKind
from tests import make


def test_a_record_about_an_earlier_run_is_ignored() -> None:
    harness = make.harness_of("A\nSCRIPT PRE A p\nRETRY A 1")
    harness.pre_ends("A", 1)
    harness.tell(make.record(JournalRecord.PRE_ENDED, "A", value=0, retry=0))
    assert harness.said("Ignoring a journal record about an earlier run of node A")
    assert harness.state("A").name == "PRE_RUN"


EVERYTHING = make.dag("""
    A -> B; C
    PROVISIONER P n.sub
    SERVICE S n.sub
    FINAL F n.sub
    SCRIPT PRE A p
    SCRIPT POST B q
    SCRIPT PRE C p
    RETRY A 2
    RETRY C 1 DELAY 60
    PRE_SKIP C 4
    TIMEOUT B QUEUED 60
""")


def everything() -> make.EngineHarness:
    """A DAG with a node for every kind of record."""
    return make.EngineHarness(EVERYTHING).begin()


@pytest.mark.parametrize("kind", sorted(CORE_RECORDS | RECORDS))
@pytest.mark.parametrize("name", ["A", "B", "C", "P", "S", "F", "Z", ""])
@pytest.mark.parametrize("retry", [0, 1, -5])
def test_any_record_about_any_node_at_any_time_does_no_harm(
    kind: str, name: str, retry: int
) -> None:
    """Written by a bug, by somebody else or by a log of another DAG: no crash, no loop."""
    for value in (0, 3, -9):
        event = make.record(kind, name, value=value, retry=retry, cluster=5, proc=0)
        harness = everything()
        harness.tell(event, event)
        other = make.EngineHarness(harness.dag).begin(recovering=True)
        other.tell(event, event, inputs.LogCaughtUp())
        if other.asked(do.QueryQueue):
            other.tell(inputs.QueueListed([]))
        other.tell(event)


@pytest.mark.parametrize(
    "kind",
    [JournalRecord.JOB_ENDED, JournalRecord.JOB_LOST, JournalRecord.ADOPTED, JournalRecord.SURPLUS],
)
def test_a_record_of_a_job_tells_nothing_of_another_node(kind: str) -> None:
    harness = make.harness_of("A; B -> C", procs=1)
    harness.tell(make.record(kind, "B", value=1, cluster=5, proc=0))
    assert harness.said("ignoring a journal record of job (5.0.")
    assert harness.engine.run.job_table.by_cluster[5] == harness.dag.ids["A"]


def test_a_generic_event_of_somebody_else() -> None:
    harness = make.harness_of("A")
    assert not harness.tell(LogEvent(EventKind.GENERIC, 5, 0, 0, node="A", text="hello"))


def test_a_record_of_an_unknown_node_is_said() -> None:
    harness = make.harness_of("A")
    harness.tell(make.record(JournalRecord.PRE_ENDED, "Z"))
    assert harness.said("for unknown Node")


def test_a_failed_submission_is_recorded_with_its_reason() -> None:
    harness = make.harness_of("A -> B\nRETRY A 3")
    harness.tell(inputs.SubmitFailed(0, "no such file", permanent=True))
    (record,) = harness.asked(do.AppendJournalRecord)
    assert (record.record, record.text) == (JournalRecord.SUBMIT_FAILED, "no such file")
    assert harness.state("A").name == "SUBMIT_UNCONFIRMED"
    harness.read_back()
    assert harness.engine.run.nodes.errors[0] == "Job submit failed: no such file"
    assert harness.states() == "A=FAILED B=FUTILE"
    harness.same_replay()


def test_a_failed_submission_with_a_post_script() -> None:
    words = "q $RETURN $SUCCESS $JOBID $RETRY"
    harness = make.harness_of(f"A -> B\nRETRY A 3\nSCRIPT POST A {words}")
    harness.happens(inputs.SubmitFailed(0, "no such file", permanent=True))
    assert harness.asked(do.RunScript)[0].words[:4] == ("q", "-1001", "True", "-1.-1")
    harness.same_replay()
    harness.post_ends("A")
    assert harness.states() == "A=DONE B=SUBMITTING"
    harness.same_replay()


def test_a_failed_submission_whose_post_script_fails_is_not_retried() -> None:
    harness = make.harness_of("A -> B\nSCRIPT POST A q\nRETRY A 3")
    harness.happens(inputs.SubmitFailed(0, "no such file", permanent=True))
    harness.post_ends("A", 1)
    assert harness.states() == "A=FAILED B=FUTILE"
    assert harness.engine.run.nodes.errors[0].startswith(
        "Job submit failed and POST Script failed with status 1"
    )


def test_a_doubled_record_of_a_failed_submission() -> None:
    harness = make.harness_of("A; B\nSCRIPT POST A q")
    first = harness.tell(inputs.SubmitFailed(0, "no", permanent=True))
    harness.tell(*harness.echo(first), *harness.echo(first))
    assert len(harness.asked(do.RunScript)) == 1


def test_an_adoption_is_recorded_until_it_has_been_read_back() -> None:
    """The log shows nothing else of that job: a replay without the record would run it twice."""
    harness = make.EngineHarness("A").begin(recovering=True)
    harness.tell(inputs.LogCaughtUp(), inputs.QueueListed([inputs.QueuedJob(5, 0, "A", 0)]))
    recorded = harness.asked(do.AppendJournalRecord)
    assert [record.record for record in recorded] == [JournalRecord.ADOPTED]
    harness.wait(CONFIRM_TIMEOUT_S)
    assert harness.asked(do.AppendJournalRecord) == recorded
    harness.read_back()
    harness.wait(CONFIRM_TIMEOUT_S)
    assert not harness.asked(do.AppendJournalRecord)


def test_adopted_procs_in_a_replay() -> None:
    harness = make.EngineHarness("A -> B").begin(recovering=True)
    harness.tell(make.record(JournalRecord.ADOPTED, "A", value=3, cluster=5))
    assert harness.state("A").name == "SUBMITTED"
    assert harness.engine.report().procs_submitted == 3
    harness.tell(*(make.terminated(5, proc) for proc in range(3)))
    assert harness.states() == "A=DONE B=READY"


def test_a_record_of_more_procs_than_any_schedd_has_is_damaged() -> None:
    harness = make.EngineHarness("A").begin(recovering=True)
    harness.tell(make.record(JournalRecord.ADOPTED, "A", value=9_999_999_999, cluster=5))
    assert harness.engine.report().procs_submitted == 0
    assert harness.said("it is damaged")


def test_an_adopted_job_whose_submit_event_comes_after_all() -> None:
    harness = make.EngineHarness("A -> B").begin(recovering=True)
    harness.tell(make.record(JournalRecord.ADOPTED, "A", value=1, cluster=5), make.submit("A", 5))
    assert harness.engine.report().procs_submitted == 1
    harness.tell(make.terminated(5))
    assert harness.state("A").name == "DONE"


def test_a_lost_proc_of_another_cluster() -> None:
    harness = make.harness_of("A", procs=1)
    harness.tell(make.record(JournalRecord.JOB_LOST, "A", cluster=4, proc=0))
    assert harness.state("A").name == "SUBMITTED"
    harness.tell(make.record(JournalRecord.JOB_LOST, "A", cluster=5, proc=0))
    assert harness.state("A").name == "FAILED"


def test_the_end_of_a_proc_that_was_given_up_as_lost() -> None:
    harness = make.harness_of("A; B\nRETRY A 1", procs=1)
    harness.take("B", 6)
    harness.tell(make.record(JournalRecord.JOB_LOST, "A", cluster=5, proc=0))
    assert harness.submits() == ["A"]
    harness.tell(make.terminated(5))
    assert harness.state("A").name == "SUBMITTING"


def test_a_record_that_is_not_read_back_is_written_again_and_only_it() -> None:
    harness = make.harness_of("A B\nSCRIPT PRE ALL_NODES p")
    harness.tell(inputs.ScriptEnded(0, ScriptKind.PRE, 0))
    lost = harness.asked(do.AppendJournalRecord)
    harness.wait(10.0)
    harness.happens(inputs.ScriptEnded(1, ScriptKind.PRE, 0))
    assert harness.engine.next_deadline() == harness.now - 10 + CONFIRM_TIMEOUT_S
    harness.wait(CONFIRM_TIMEOUT_S - 10)
    assert harness.asked(do.AppendJournalRecord) == lost
    harness.tell(*harness.echo(lost), *harness.echo(lost))  # both after all
    assert harness.state("A").name == "READY"
    harness.wait(CONFIRM_TIMEOUT_S)
    assert not harness.asked(do.AppendJournalRecord)


@pytest.mark.parametrize("kind", ["post", "skip", "noop"])
def test_other_events_of_ours_are_written_again_too(kind: str) -> None:
    commands = {
        "post": "SCRIPT POST A q",
        "skip": "SCRIPT PRE A p\nPRE_SKIP A 4",
        "noop": "JOB A n.sub NOOP",
    }
    harness = make.harness_of(f"A; B\n{commands[kind]}")
    if kind == "post":
        harness.run_node("A", 5)
        harness.tell(inputs.ScriptEnded(0, ScriptKind.POST, 0))
    elif kind == "skip":
        harness.tell(inputs.ScriptEnded(0, ScriptKind.PRE, 4))
    appends = (do.AppendPostEnded, do.AppendPreSkip, do.AppendNoop)
    lost = [action for action in harness.all if isinstance(action, appends)]
    harness.wait(CONFIRM_TIMEOUT_S)
    assert [action for action in harness.last if isinstance(action, appends)] == lost
    harness.read_back()
    assert harness.state("A").name == "DONE"


def test_half_of_a_noop_is_read_back() -> None:
    harness = make.harness_of("A; B\nJOB A n.sub NOOP")
    harness.tell(make.noop("A", 1)[0])
    assert harness.state("A").name == "SUBMITTED"
    harness.wait(CONFIRM_TIMEOUT_S)
    harness.read_back()
    assert harness.state("A").name == "DONE"


def test_an_old_log_with_half_of_a_noop() -> None:
    harness = make.EngineHarness("A -> B\nJOB A n.sub NOOP").begin(recovering=True)
    harness.happens(make.noop("A", 1)[0], inputs.LogCaughtUp(), inputs.QueueListed([]))
    assert harness.states() == "A=DONE B=SUBMITTING"


def timed_out_and_not_read_back() -> make.EngineHarness:
    harness = make.harness_of("A\nTIMEOUT A TOTAL 50", procs=2)
    harness.wait(50.0)
    assert [action.record for action in harness.asked(do.AppendJournalRecord)] == ["TIMED_OUT"]
    return harness


@pytest.mark.parametrize(
    "other",
    [
        make.record(JournalRecord.JOB_LOST, "A", cluster=4, proc=0),
        make.record(JournalRecord.ADOPTED, "A", value=2, cluster=5),
        make.record("TIMED_OUT", "A", retry=7, cluster=5),
        make.post_ended("A", 0),
        make.pre_skip("A", 3),
    ],
)
def test_another_event_of_ours_about_the_node_is_not_the_one_that_is_awaited(
    other: LogEvent,
) -> None:
    harness = timed_out_and_not_read_back()
    lost = harness.asked(do.AppendJournalRecord)
    harness.tell(other)
    harness.wait(CONFIRM_TIMEOUT_S)
    assert harness.asked(do.AppendJournalRecord) == lost
    harness.read_back()
    assert [removal.cluster for removal in harness.asked(do.RemoveJobs)] == [5]
    harness.wait(CONFIRM_TIMEOUT_S)
    assert not harness.asked(do.AppendJournalRecord)
