"""What the schedd's queue says, against what we believe: adopt, lose, submit again."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.inputs import EndedJob, QueuedJob, QueueListed
from condor_pydagman.engine.jobs import CLUSTER_ITSELF
from condor_pydagman.timers import CONFIRM_LOST_S
from condor_pydagman.vocabulary import EventKind, JournalRecord
from tests import make

LOST = inputs.SubmitFailed(0, "lost", permanent=False, unknown=True)


def recovered(text: str, *log: inputs.Input) -> make.EngineHarness:
    """A harness whose engine has replayed a log and has asked the schedd."""
    harness = make.EngineHarness(text).begin(recovering=True)
    harness.tell(*log, inputs.LogCaughtUp())
    assert harness.asked(do.QueryQueue) == [do.QueryQueue(history=True)]
    return harness


def test_nothing_is_started_before_the_schedd_has_answered() -> None:
    harness = recovered("A B")
    assert harness.engine.run.phase is Phase.RECONCILING
    assert not harness.ever(do.SubmitNode)
    harness.tell(QueueListed([]))
    assert harness.submits() == ["A"]


def test_a_job_of_the_queue_that_the_log_does_not_know_is_adopted() -> None:
    harness = recovered("A")
    harness.tell(QueueListed([QueuedJob(5, 0, "A", 0), QueuedJob(5, 1, "A", 0)]))
    assert harness.state("A").name == "SUBMITTED"
    assert not harness.submits()
    assert harness.engine.run.job_table.submitted == 2
    harness.tell(make.submit("A", 5, 0), make.terminated(5, 0), make.terminated(5, 1))
    assert harness.asked(do.Exit) == [do.Exit(0)]


@pytest.mark.parametrize("value", [0, 2])
@pytest.mark.parametrize("by_history", [False, True])
def test_a_job_whose_submit_event_is_lost_ends_in_a_replay_too(
    value: int, *, by_history: bool
) -> None:
    """The schedd's reply has told of it, so that nothing was to be adopted."""
    harness = make.harness_of("A->B\nRETRY A 1")
    harness.happens(inputs.Submitted(0, 5, 2), make.terminated(5, 0))
    if by_history:
        ended = [inputs.EndedJob(5, proc, "A", 0, proc * value) for proc in range(2)]
        for _ in range(2):
            harness.wait(CONFIRM_LOST_S + 60)
            harness.happens(QueueListed([], ended))
    else:
        harness.tell(make.terminated(5, 1, value=value))
        harness.read_back()
    assert harness.states() == ("A=SUBMITTING B=WAITING" if value else "A=DONE B=SUBMITTING")
    harness.same_replay()


def test_a_job_of_another_run_of_the_node_is_not_adopted() -> None:
    harness = recovered("A")
    harness.tell(QueueListed([QueuedJob(5, 0, "A", 1)]))
    assert harness.submits() == ["A"]


def test_a_job_that_the_log_ended_but_the_queue_still_has_is_not_adopted() -> None:
    harness = make.EngineHarness("A\nRETRY A 1").begin(recovering=True)
    harness.tell(make.submit("A", 5), make.terminated(5, value=1), inputs.LogCaughtUp())
    harness.tell(QueueListed([QueuedJob(5, 0, "A", 0)]))
    assert harness.submits() == ["A"]


def test_jobs_of_nobody_we_know_are_ignored() -> None:
    harness = recovered("A")
    harness.tell(QueueListed([QueuedJob(5, 0, "Z", 0), QueuedJob(6, 0, "", 0)]))
    assert harness.submits() == ["A"]


def test_a_job_whose_node_still_waits_is_adopted_when_its_turn_comes() -> None:
    harness = recovered("A -> B")
    harness.tell(QueueListed([QueuedJob(6, 0, "B", 0)]))
    assert harness.submits() == ["A"]
    harness.run_node("A", 5)
    assert harness.state("B").name == "SUBMITTED"
    assert len(harness.ever(do.SubmitNode)) == 1


def test_a_job_that_leaves_the_queue_while_its_node_waits_is_adopted_from_the_history() -> None:
    harness = recovered("A -> B")
    harness.tell(QueueListed([QueuedJob(6, 0, "B", 0)]))
    harness.take("A", 5)
    harness.wait(300.0)
    assert harness.asked(do.QueryQueue) == [do.QueryQueue(history=True)]
    harness.tell(QueueListed([QueuedJob(5, 0, "A", 0)], [inputs.EndedJob(6, 0, "B", 0, 0)]))
    harness.wait(600.0)
    assert harness.asked(do.QueryQueue) == [do.QueryQueue(history=False)]
    harness.tell(QueueListed([QueuedJob(5, 0, "A", 0)]))
    harness.happens(make.terminated(5, 0))
    assert harness.state("B").name == "DONE"
    assert harness.ever(do.SubmitNode)[1:] == []


def test_a_node_whose_reply_was_lost_takes_its_job_from_the_queue() -> None:
    harness = make.harness_of("A")
    harness.tell(LOST)
    harness.wait(1.0)
    harness.tell(QueueListed([QueuedJob(5, 0, "A", 0)]))
    assert harness.state("A").name == "SUBMITTED"
    assert harness.engine.run.nodes.clusters[0] == 5


def test_a_proc_is_lost_when_it_is_missing_twice() -> None:
    harness = make.harness_of("A\nRETRY A 1", Config(check_queue_interval=300), procs=2)
    assert harness.engine.next_deadline() == 1300.0
    harness.wait(300.0)
    here = QueuedJob(5, 0, "A", 0)
    harness.tell(QueueListed([here]))
    assert not harness.asked(do.AppendJournalRecord)
    assert harness.engine.next_deadline() == harness.now + CONFIRM_LOST_S
    harness.wait(CONFIRM_LOST_S)
    harness.tell(QueueListed([here]))
    record = do.AppendJournalRecord(JournalRecord.JOB_LOST, 0, 0, cluster=5, proc=1)
    assert harness.asked(do.AppendJournalRecord) == [record]
    harness.tell(*harness.echo(harness.last))
    assert harness.said("Node A job proc (5.1.0) is lost")
    assert harness.asked(do.RemoveJobs)[0].cluster == 5  # the rest of the cluster goes too
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 5, 0))
    assert harness.submits() == ["A"]  # the retry


def test_a_lost_cluster_is_told_once_in_the_words_of_the_stock_program() -> None:
    words = "ERROR: DAGMan lost track of node A (ClusterId=5)."
    harness = make.harness_of("A; B", Config(check_queue_interval=300), procs=3)
    harness.take("B", 6)
    other = QueuedJob(6, 0, "B", 0)
    for seconds in (300.0, CONFIRM_LOST_S):
        assert not harness.said(words)
        harness.wait(seconds)
        harness.tell(QueueListed([other]))
    harness.read_back()
    assert harness.said("Node A job proc (5.2.0) is lost")
    said = [line.text for line in harness.ever(do.Say) if "lost track" in line.text]
    assert said == [words]
    assert not harness.restart().said("lost track")


def test_an_end_that_was_on_its_way_is_no_loss() -> None:
    harness = make.harness_of("A -> B", procs=1)
    harness.wait(300.0)
    harness.tell(QueueListed([]), make.terminated(5))
    harness.take("B", 6)
    harness.wait(CONFIRM_LOST_S)
    harness.tell(QueueListed([QueuedJob(6, 0, "B", 0)]))
    assert not harness.ever(do.AppendJournalRecord)
    assert harness.states() == "A=DONE B=SUBMITTED"


def test_a_proc_that_comes_back_must_be_missed_twice_again() -> None:
    harness = make.harness_of("A", procs=1)
    here = [QueuedJob(5, 0, "A", 0)]
    for listed in ([], here, []):
        harness.wait(300.0)
        harness.tell(QueueListed(listed))
    assert not harness.ever(do.AppendJournalRecord)


def test_a_lost_job_is_found_in_recovery_too() -> None:
    harness = recovered("A", make.submit("A", 5))
    harness.tell(QueueListed([]))
    harness.wait(CONFIRM_LOST_S)
    harness.tell(QueueListed([]))
    assert harness.asked(do.AppendJournalRecord)[0].record == JournalRecord.JOB_LOST


def test_a_noop_is_never_lost() -> None:
    harness = make.harness_of("A B\nJOB A n.sub NOOP")
    harness.tell(make.noop("A", 1)[0])
    harness.take("B", 5)
    for _ in range(2):
        harness.wait(300.0)
        harness.tell(QueueListed([QueuedJob(5, 0, "B", 0)]))
    assert not harness.ever(do.AppendJournalRecord)


def test_a_schedd_that_does_not_answer_is_asked_ever_more_patiently() -> None:
    harness = recovered("A")
    waits = []
    for _ in range(8):
        harness.tell(inputs.QueueUnknown("down"))
        deadline = harness.engine.next_deadline()
        assert deadline is not None
        waits.append(deadline - harness.now)
        harness.wait(waits[-1])
        assert harness.asked(do.QueryQueue)
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]
    assert not harness.ever(do.SubmitNode)
    harness.tell(QueueListed([]))
    assert harness.submits() == ["A"]


@pytest.mark.parametrize("every", [0, 60])
def test_the_queue_is_looked_at_again_and_again_unless_told_not_to(every: int) -> None:
    harness = make.harness_of("A", Config(check_queue_interval=every, pending_report_interval=0))
    harness.take("A", 5)
    assert harness.engine.next_deadline() == (1060.0 if every else None)


def test_the_queue_is_looked_at_less_and_less_often_while_a_log_is_silent() -> None:
    harness = make.harness_of("A", Config(pending_report_interval=0))
    harness.take("A", 5)
    waits = []
    for _ in range(5):
        waits.append(harness.engine.next_deadline() - harness.now)
        harness.wait(waits[-1])
        assert harness.asked(do.QueryQueue)
        harness.tell(QueueListed(harness.queue()))
    assert waits == [300, 600, 1200, 1800, 1800]


def test_a_look_is_put_off_while_events_come() -> None:
    """One for lost jobs costs the schedd a pass through its queue."""
    harness = make.harness_of("A; B", Config(pending_report_interval=0))
    harness.take("A", 5)
    harness.take("B", 6)
    begun, asked = harness.now, []
    while harness.now - begun < 1800:
        harness.wait(200.0)
        asked += [harness.now - begun] * len(harness.asked(do.QueryQueue))
        harness.tell(make.of_job(EventKind.IMAGE_SIZE, 5, 0))
    assert asked == [1800]


def test_after_a_write_that_failed_the_queue_is_looked_at_soon() -> None:
    """What kept DAGMan from writing may have kept a shadow from writing that a job has ended."""
    harness = make.harness_of("A")
    harness.tell(inputs.LogRepaired())
    assert harness.engine.next_deadline() is None  # there is no job yet
    harness.take("A", 5)
    harness.tell(inputs.LogRepaired())
    harness.wait(CONFIRM_LOST_S)
    assert harness.asked(do.QueryQueue)


def test_a_run_whose_job_is_being_removed_is_not_done_over() -> None:
    """Its submit event lagged behind a crash, and somebody removed the job meanwhile."""
    harness = recovered("A")
    harness.tell(QueueListed([QueuedJob(5, 0, "A", 0, leaving=True)]))
    assert harness.submits() == []
    assert harness.engine.run.nodes.clusters[0] == 5


def test_a_job_that_stays_is_taken_rather_than_a_later_one_that_is_leaving() -> None:
    harness = recovered("A")
    harness.tell(QueueListed([QueuedJob(5, 0, "A", 0), QueuedJob(6, 0, "A", 0, leaving=True)]))
    assert harness.engine.run.nodes.clusters[0] == 5


def test_an_adoption_is_recorded_and_a_replay_knows_the_job() -> None:
    harness = recovered("A -> B")
    harness.tell(QueueListed([QueuedJob(5, 0, "A", 0), QueuedJob(5, 1, "A", 0)]))
    assert harness.ever(do.AppendJournalRecord) == [
        do.AppendJournalRecord(JournalRecord.ADOPTED, 0, 0, 2, 5)
    ]
    again = recovered(
        "A -> B",
        make.record(JournalRecord.ADOPTED, "A", value=2, cluster=5),
        make.terminated(5, 0),
        make.terminated(5, 1),
        make.submit("B", 6),
    )
    again.tell(QueueListed([QueuedJob(6, 0, "B", 0)]))
    assert (again.state("A").name, again.state("B").name) == ("DONE", "SUBMITTED")
    assert not again.submits()


def test_two_looks_in_a_row_are_not_enough_to_call_a_job_lost() -> None:
    harness = recovered("A", make.submit("A", 5))
    harness.tell(QueueListed([]))
    harness.wait(CONFIRM_LOST_S / 4)
    harness.tell(QueueListed([]))
    assert not harness.ever(do.AppendJournalRecord)
    harness.wait(CONFIRM_LOST_S)
    harness.tell(QueueListed([]))
    assert [a.record for a in harness.ever(do.AppendJournalRecord)] == [JournalRecord.JOB_LOST]


def test_what_only_the_history_shows_is_not_done_over() -> None:
    """The log lost its end: A and B have run, C was running."""
    harness = recovered("A -> B -> C -> D")
    ended = [inputs.EndedJob(5, 0, "A", 0, 0), inputs.EndedJob(6, 0, "B", 0, 0)]
    harness.happens(QueueListed([QueuedJob(7, 0, "C", 0)], ended))
    assert [harness.state(name).name for name in "ABCD"] == ["DONE", "DONE", "SUBMITTED", "WAITING"]
    assert not harness.ever(do.SubmitNode)
    harness.tell(make.terminated(7))
    assert harness.submits() == ["D"]
    assert harness.same_replay()


def test_an_end_in_the_history_counts_as_the_log_would_have_shown_it() -> None:
    harness = make.EngineHarness("A\nRETRY A 1").begin(recovering=True)
    harness.tell(inputs.LogCaughtUp())
    failed, removed = inputs.EndedJob(5, 0, "A", 0, 3), inputs.EndedJob(6, 0, "A", 1, -1002)
    harness.happens(QueueListed([], [removed, failed]))
    assert not harness.ever(do.SubmitNode)
    assert harness.said("ended with 3, as the schedd's history says")
    assert harness.state("A").name == "FAILED"
    assert harness.asked(do.Exit) == [do.Exit(1)]


def test_the_history_of_an_earlier_run_of_a_node_is_not_its_present_run() -> None:
    harness = make.EngineHarness("A\nRETRY A 1").begin(recovering=True)
    harness.tell(make.submit("A", 5), make.terminated(5, value=1), inputs.LogCaughtUp())
    harness.tell(QueueListed([], [inputs.EndedJob(5, 0, "A", 0, 1)]))
    assert harness.submits() == ["A"]


def test_the_history_is_asked_before_a_job_counts_as_lost() -> None:
    harness = make.harness_of("A", procs=2)
    harness.wait(400)
    assert harness.asked(do.QueryQueue) == [do.QueryQueue()]
    harness.tell(QueueListed([QueuedJob(5, 1, "A", 0)]))
    harness.wait(CONFIRM_LOST_S)
    assert harness.asked(do.QueryQueue) == [do.QueryQueue(history=True)]
    ended = [inputs.EndedJob(5, 0, "A", 0, 0)]
    harness.tell(QueueListed([QueuedJob(5, 1, "A", 0)], ended))
    assert harness.asked(do.AppendJournalRecord) == [
        do.AppendJournalRecord(JournalRecord.JOB_ENDED, 0, 0, 0, 5, 0)
    ]
    harness.read_back()
    harness.tell(make.terminated(5, 0), make.terminated(5, 1))  # the first comes after all
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_the_history_is_left_alone_where_the_administrator_says_so() -> None:
    harness = make.EngineHarness("A", Config(ask_history=False)).begin(recovering=True)
    harness.tell(inputs.LogCaughtUp())
    assert harness.asked(do.QueryQueue) == [do.QueryQueue(history=False)]


def test_a_node_waits_for_procs_whose_submit_events_the_log_has_lost() -> None:
    """The queue has proc 2, and the history what became of proc 1."""
    harness = recovered("A -> B", make.submit("A", 5, 0))
    queue, ended = [QueuedJob(5, 2, "A", 0)], [inputs.EndedJob(5, 1, "A", 0, 0)]
    harness.tell(QueueListed([QueuedJob(5, 0, "A", 0), *queue], ended))
    assert harness.asked(do.AppendJournalRecord) == [
        do.AppendJournalRecord(JournalRecord.ADOPTED, 0, 0, 3, 5)
    ]
    harness.read_back()
    harness.tell(make.terminated(5, 0))
    assert harness.state("A").name == "SUBMITTED"
    harness.same_replay()
    harness.wait(CONFIRM_LOST_S)
    harness.happens(QueueListed(queue, ended))
    harness.tell(make.terminated(5, 2))
    assert harness.submits() == ["B"]
    harness.same_replay()


def test_what_the_log_shows_of_a_cluster_is_not_recorded_again() -> None:
    harness = make.harness_of("A\nRETRY A 1", Config(check_queue_interval=300), procs=2)
    harness.tell(make.terminated(5, 0))
    harness.wait(300.0)
    harness.tell(QueueListed([QueuedJob(5, 1, "A", 0)], [inputs.EndedJob(5, 0, "A", 0, 0)]))
    assert not harness.asked(do.AppendJournalRecord)


def test_an_answer_says_nothing_of_a_submission_after_the_question() -> None:
    """B's reply was lost while the schedd's answer, which is older, was on its way."""
    harness = make.harness_of("A; B")
    harness.tell(LOST)
    harness.wait(10)
    assert len(harness.asked(do.QueryQueue)) == 1
    harness.tell(LOST._replace(node=1), QueueListed([QueuedJob(5, 0, "A", 0)]))
    assert harness.state("A").name == "SUBMITTED"
    assert harness.state("B").name == "UNKNOWN"
    harness.wait(10)
    harness.tell(QueueListed([QueuedJob(5, 0, "A", 0), QueuedJob(6, 0, "B", 0)]))
    assert harness.state("B").name == "SUBMITTED"


# Jobs that the queue has beside, or instead of, what we believe: second clusters, procs between
# those that are listed, clusters that go on making procs.


def submitted_twice(of: str = "A -> B") -> make.EngineHarness:
    """The reply was lost, the first question came too early, and the node has cluster 6; then
    cluster 5 of the same run shows up."""
    harness = make.harness_of(of)
    harness.tell(LOST)
    harness.wait(1.0)
    harness.tell(QueueListed([]))
    harness.wait(5.0)
    harness.take("A", 6)
    return harness


def removed(harness: make.EngineHarness) -> list[int]:
    return [removal.cluster for removal in harness.asked(do.RemoveJobs)]


def test_a_second_cluster_of_the_same_run_is_removed() -> None:
    harness = submitted_twice()
    harness.tell(QueueListed([QueuedJob(5, 0, "A", 0), QueuedJob(5, 1, "A", 0), *harness.queue()]))
    assert removed(harness) == [5]
    assert "a second cluster of DAG node A, which has 6" in harness.asked(do.RemoveJobs)[0].reason
    assert [say.level for say in harness.asked(do.Say) if "removing cluster 5" in say.text] == [0]
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 5))
    assert harness.state("A").name == "SUBMITTED"
    harness.tell(make.terminated(6))
    assert harness.states() == "A=DONE B=SUBMITTING"


def test_a_stray_cluster_is_removed_though_the_node_has_ended() -> None:
    harness = submitted_twice()
    harness.tell(make.terminated(6))
    harness.tell(QueueListed([QueuedJob(5, 0, "A", 0), QueuedJob(6, 0, "A", 0)]))
    assert removed(harness) == [5]  # the end of the other is on its way


def test_the_removal_of_a_stray_is_asked_for_until_it_leaves() -> None:
    harness = submitted_twice()
    stray = QueuedJob(5, 0, "A", 0)
    harness.tell(QueueListed([stray, *harness.queue()]), inputs.RemoveFailed(5, "schedd is down"))
    harness.tell(QueueListed([stray, *harness.queue()]))
    assert removed(harness) == [5]
    harness.tell(QueueListed([stray._replace(leaving=True), *harness.queue()]))
    assert not removed(harness)


def test_jobs_of_an_earlier_run_are_no_strays() -> None:
    harness = make.harness_of("A\nRETRY A 1")
    harness.run_node("A", 5, value=1)
    harness.take("A", 6)
    harness.tell(QueueListed([QueuedJob(5, 0, "A", 0), *harness.queue()]))
    assert not removed(harness)


def test_a_stray_cluster_is_removed_after_a_restart() -> None:
    other = submitted_twice().replay()
    other.tell(inputs.LogCaughtUp())
    other.tell(QueueListed([QueuedJob(5, 0, "A", 0), *other.queue()]))
    assert removed(other) == [5]
    assert other.state("A").name == "SUBMITTED"


# Procs between those that are listed.


def adopted(*procs: int) -> make.EngineHarness:
    """Node A's cluster 5 has been adopted, by these procs."""
    harness = make.harness_of("A -> B")
    harness.tell(LOST)
    harness.wait(1.0)
    harness.happens(QueueListed([QueuedJob(5, proc, "A", 0) for proc in procs]))
    return harness


def test_live_expects_the_procs_that_a_replay_of_the_record_expects() -> None:
    harness = adopted(1, 2)
    assert harness.live_procs() == {"A": {0: 2, 1: 2, 2: 2}}
    harness.same_replay()
    harness.tell(make.terminated(5, 1), make.terminated(5, 2))
    assert harness.state("A").name == "SUBMITTED"
    harness.same_replay()


@pytest.mark.parametrize("restarted", [False, True])
def test_an_expected_proc_that_is_not_in_the_queue_is_lost(restarted: bool) -> None:
    harness = adopted(1)
    if restarted:
        harness = harness.replay()
        harness.tell(inputs.LogCaughtUp(), QueueListed([QueuedJob(5, 1, "A", 0)]))
    harness.tell(make.terminated(5, 1), QueueListed([]))
    harness.wait(CONFIRM_LOST_S)
    harness.tell(QueueListed([]))
    records = [
        record
        for record in harness.ever(do.AppendJournalRecord)
        if record.record == JournalRecord.JOB_LOST
    ]
    assert [(record.cluster, record.proc) for record in records] == [(5, 0)]
    harness.read_back()
    assert harness.states() == "A=FAILED B=FUTILE"


# A cluster that goes on making procs, of which the log does not say so.

LISTED = [QueuedJob(5, CLUSTER_ITSELF, "A", 0), QueuedJob(5, 0, "A", 0)]


@pytest.mark.parametrize("restarted", [False, True])
def test_the_queue_shows_that_a_cluster_makes_more_procs(restarted: bool) -> None:
    harness = make.EngineHarness("A -> B").begin(recovering=restarted)
    harness.tell(make.submit("A", 5, 0))  # its event 035 is garbage, and so was our reply
    if restarted:
        harness.tell(inputs.LogCaughtUp())
    harness.tell(QueueListed(LISTED), make.terminated(5, 0))
    assert harness.states() == "A=SUBMITTED B=WAITING"
    harness.tell(make.submit("A", 5, 1), make.terminated(5, 1))
    assert harness.state("A").name == "SUBMITTED"
    harness.tell(make.cluster_remove(5))
    assert harness.state("A").name == "DONE"


def test_a_cluster_that_leaves_no_trace_is_lost() -> None:
    harness = make.harness_of("A -> B", Config(check_queue_interval=300))
    harness.tell(inputs.Submitted(0, 5, 0))
    harness.wait(300.0)
    harness.tell(QueueListed([]))
    harness.wait(CONFIRM_LOST_S)
    harness.tell(QueueListed([]))
    (record,) = harness.asked(do.AppendJournalRecord)
    assert (record.record, record.cluster, record.proc) == (
        JournalRecord.JOB_LOST,
        5,
        CLUSTER_ITSELF,
    )
    harness.read_back()
    assert harness.states() == "A=FAILED B=FUTILE"


def test_of_a_cluster_that_made_its_procs_unseen_the_history_tells() -> None:
    harness = make.EngineHarness("A -> B", Config(check_queue_interval=300)).begin(recovering=True)
    harness.tell(make.cluster_submit("A", 5), make.submit("A", 5, 0), inputs.LogCaughtUp())
    ended = [EndedJob(5, proc, "A", 0, 0) for proc in (CLUSTER_ITSELF, 0, 1, 2)]
    for _ in range(4):
        harness.happens(QueueListed([], ended))
        harness.wait(CONFIRM_LOST_S)
    records = [
        record
        for record in harness.ever(do.AppendJournalRecord)
        if record.record == JournalRecord.JOB_ENDED
    ]
    assert [record.proc for record in records] == [0, 1, 2, CLUSTER_ITSELF]
    assert harness.state("A").name == "DONE"
    harness.same_replay()


# Nothing but SERVICE jobs in the queue.


def test_a_service_is_asked_about_while_it_is_alone_in_the_queue() -> None:
    made = make.dag("A\nSERVICE S n.sub\nSCRIPT PRE A p")
    harness = make.EngineHarness(made, Config(check_queue_interval=300)).begin()
    harness.take("S", 3)
    for _ in range(3):
        harness.wait(300.0)
        assert harness.asked(do.QueryQueue)
        harness.tell(QueueListed(harness.queue()))
        assert harness.engine.next_deadline() == harness.now + 300
    harness.wait(300.0)
    harness.tell(QueueListed([]))
    harness.wait(CONFIRM_LOST_S)
    harness.happens(QueueListed([]))
    assert harness.state("S").name == "FAILED"
    assert not harness.ever(do.Exit)


@pytest.mark.parametrize("when", ["before it is listed", "before the record is read"])
def test_the_end_of_a_proc_that_stands_before_the_record_of_its_adoption(when: str) -> None:
    harness = make.harness_of("A -> B")
    harness.tell(LOST)
    harness.wait(1.0)
    listed = [QueuedJob(5, 0, "A", 0), QueuedJob(5, 1, "A", 0)]
    if when == "before it is listed":
        harness.tell(make.terminated(5, 0))
        listed = listed[1:]
    harness.tell(QueueListed(listed))
    record = harness.echo(harness.last)
    if when == "before the record is read":
        harness.tell(make.terminated(5, 0))
    harness.tell(*record, make.terminated(5, 1))
    assert harness.states() == "A=DONE B=SUBMITTING"
    harness.same_replay()


def test_a_cluster_of_a_node_that_is_not_to_run() -> None:
    """The log has lost the run of the parent after which it was submitted."""
    harness = make.harness_of("A -> B; C")
    harness.run_node("A", 5, value=1)
    harness.take("C", 7)
    harness.tell(QueueListed([QueuedJob(6, 0, "B", 0), *harness.queue()]))
    assert removed(harness) == [6]
    assert "a cluster of DAG node B, which is not to run" in harness.asked(do.RemoveJobs)[0].reason
