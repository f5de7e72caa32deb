"""Jobs that the queue has beside, or instead of, what we believe: second clusters, procs between
those that are listed, clusters that go on making procs."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import EndedJob, QueuedJob, QueueListed
from condor_pydagman.engine.jobs import CLUSTER_ITSELF
from condor_pydagman.engine.reconcile import CONFIRM_LOST_S
from condor_pydagman.vocabulary import EventKind, JournalRecord, NodeKind
from tests import make

LOST = inputs.SubmitFailed(0, "lost", permanent=False, unknown=True)


def submitted_twice(of: str = "A -> B", **more: object) -> make.EngineHarness:
    """The reply was lost, the first question came too early, and the node has cluster 6; then
    cluster 5 of the same run shows up."""
    harness = make.EngineHarness(make.dag(of, **more)).begin()  # type: ignore[arg-type]
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
    harness = make.EngineHarness(make.dag("A", retries={"A": 1})).begin()
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
    harness = make.EngineHarness("A -> B").begin()
    harness.tell(LOST)
    harness.wait(1.0)
    harness.tell(QueueListed([QueuedJob(5, proc, "A", 0) for proc in procs]))
    harness.read_back()
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
        if record.record is JournalRecord.JOB_LOST
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
    harness = make.EngineHarness("A -> B", Config(check_queue_interval=300)).begin()
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
        harness.tell(QueueListed([], ended))
        harness.read_back()
        harness.wait(CONFIRM_LOST_S)
    records = [
        record
        for record in harness.ever(do.AppendJournalRecord)
        if record.record is JournalRecord.JOB_ENDED
    ]
    assert [record.proc for record in records] == [0, 1, 2, CLUSTER_ITSELF]
    assert harness.state("A").name == "DONE"
    harness.same_replay()


# Nothing but SERVICE jobs in the queue.


def test_a_service_is_asked_about_while_it_is_alone_in_the_queue() -> None:
    made = make.dag("A; S", kinds={"S": NodeKind.SERVICE}, pre={"A": "p"})
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
    harness.tell(QueueListed([]))
    harness.read_back()
    assert harness.state("S").name == "FAILED"
    assert not harness.ever(do.Exit)


@pytest.mark.parametrize("when", ["before it is listed", "before the record is read"])
def test_the_end_of_a_proc_that_stands_before_the_record_of_its_adoption(when: str) -> None:
    harness = make.EngineHarness("A -> B").begin()
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
    harness = make.EngineHarness("A -> B; C").begin()
    harness.run_node("A", 5, value=1)
    harness.take("C", 7)
    harness.tell(QueueListed([QueuedJob(6, 0, "B", 0), *harness.queue()]))
    assert removed(harness) == [6]
    assert "a cluster of DAG node B, which is not to run" in harness.asked(do.RemoveJobs)[0].reason
