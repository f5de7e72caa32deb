"""Jobs that the queue has beside, or instead of, what we believe: second clusters, procs between
those that are listed, clusters that go on making procs."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import EndedJob, QueuedJob, QueueListed
from condor_pydagman.engine.reconcile import CLUSTER_ITSELF, CONFIRM_LOST
from condor_pydagman.vocabulary import EventKind, NodeKind, Note
from tests import make

LOST = inputs.SubmitFailed(0, "lost", permanent=False, unknown=True)


def submitted_twice(of: str = "A -> B", **more: object) -> make.Bench:
    """The reply was lost, the first question came too early, and the node has cluster 6; then
    cluster 5 of the same run shows up."""
    bench = make.Bench(make.dag(of, **more)).begin()  # type: ignore[arg-type]
    bench.tell(LOST)
    bench.wait(1.0)
    bench.tell(QueueListed([]))
    bench.wait(5.0)
    bench.take("A", 6)
    return bench


def removed(bench: make.Bench) -> list[int]:
    return [removal.cluster for removal in bench.asked(do.RemoveJobs)]


def test_a_second_cluster_of_the_same_run_is_removed() -> None:
    bench = submitted_twice()
    bench.tell(QueueListed([QueuedJob(5, 0, "A", 0), QueuedJob(5, 1, "A", 0), *bench.queue()]))
    assert removed(bench) == [5]
    assert "a second cluster of DAG node A, which has 6" in bench.asked(do.RemoveJobs)[0].reason
    assert [say.level for say in bench.asked(do.Say) if "removing cluster 5" in say.text] == [0]
    bench.tell(make.of_job(EventKind.JOB_ABORTED, 5))
    assert bench.state("A").name == "SUBMITTED"
    bench.tell(make.terminated(6))
    assert bench.states() == "A=DONE B=SUBMITTING"


def test_it_is_removed_though_the_node_has_ended() -> None:
    bench = submitted_twice()
    bench.tell(make.terminated(6))
    bench.tell(QueueListed([QueuedJob(5, 0, "A", 0), QueuedJob(6, 0, "A", 0)]))
    assert removed(bench) == [5]  # the end of the other is on its way


def test_it_is_asked_for_until_it_leaves() -> None:
    bench = submitted_twice()
    stray = QueuedJob(5, 0, "A", 0)
    bench.tell(QueueListed([stray, *bench.queue()]), inputs.RemoveFailed(5, "schedd is down"))
    bench.tell(QueueListed([stray, *bench.queue()]))
    assert removed(bench) == [5]
    bench.tell(QueueListed([stray._replace(leaving=True), *bench.queue()]))
    assert not removed(bench)


def test_jobs_of_an_earlier_run_are_no_strays() -> None:
    bench = make.Bench(make.dag("A", retries={"A": 1})).begin()
    bench.run_node("A", 5, value=1)
    bench.take("A", 6)
    bench.tell(QueueListed([QueuedJob(5, 0, "A", 0), *bench.queue()]))
    assert not removed(bench)


def test_after_a_restart_too() -> None:
    other = submitted_twice().replay()
    other.tell(inputs.LogCaughtUp())
    other.tell(QueueListed([QueuedJob(5, 0, "A", 0), *other.queue()]))
    assert removed(other) == [5]
    assert other.state("A").name == "SUBMITTED"


# Procs between those that are listed.


def adopted(*procs: int) -> make.Bench:
    """Node A's cluster 5 has been adopted, by these procs."""
    bench = make.Bench("A -> B").begin()
    bench.tell(LOST)
    bench.wait(1.0)
    bench.tell(QueueListed([QueuedJob(5, proc, "A", 0) for proc in procs]))
    bench.read_back()
    return bench


def test_live_expects_the_procs_that_a_replay_of_the_note_expects() -> None:
    bench = adopted(1, 2)
    assert bench.book() == {"A": {0: 2, 1: 2, 2: 2}}
    bench.same_replay()
    bench.tell(make.terminated(5, 1), make.terminated(5, 2))
    assert bench.state("A").name == "SUBMITTED"
    bench.same_replay()


@pytest.mark.parametrize("restarted", [False, True])
def test_the_one_that_is_not_there_is_found_to_be_lost(restarted: bool) -> None:
    bench = adopted(1)
    if restarted:
        bench = bench.replay()
        bench.tell(inputs.LogCaughtUp(), QueueListed([QueuedJob(5, 1, "A", 0)]))
    bench.tell(make.terminated(5, 1), QueueListed([]))
    bench.wait(CONFIRM_LOST)
    bench.tell(QueueListed([]))
    notes = [note for note in bench.ever(do.AppendNote) if note.note is Note.JOB_LOST]
    assert [(note.cluster, note.proc) for note in notes] == [(5, 0)]
    bench.read_back()
    assert bench.states() == "A=FAILED B=FUTILE"


# A cluster that goes on making procs, of which the log does not say so.

LISTED = [QueuedJob(5, CLUSTER_ITSELF, "A", 0), QueuedJob(5, 0, "A", 0)]


@pytest.mark.parametrize("restarted", [False, True])
def test_the_queue_shows_that_a_cluster_makes_more_procs(restarted: bool) -> None:
    bench = make.Bench("A -> B").begin(recovering=restarted)
    bench.tell(make.submit("A", 5, 0))  # its event 035 is garbage, and so was our reply
    if restarted:
        bench.tell(inputs.LogCaughtUp())
    bench.tell(QueueListed(LISTED), make.terminated(5, 0))
    assert bench.states() == "A=SUBMITTED B=WAITING"
    bench.tell(make.submit("A", 5, 1), make.terminated(5, 1))
    assert bench.state("A").name == "SUBMITTED"
    bench.tell(make.cluster_remove(5))
    assert bench.state("A").name == "DONE"


def test_a_cluster_that_leaves_no_trace_is_lost() -> None:
    bench = make.Bench("A -> B", Config(check_queue_interval=300)).begin()
    bench.tell(inputs.Submitted(0, 5, 0))
    bench.wait(300.0)
    bench.tell(QueueListed([]))
    bench.wait(CONFIRM_LOST)
    bench.tell(QueueListed([]))
    (note,) = bench.asked(do.AppendNote)
    assert (note.note, note.cluster, note.proc) == (Note.JOB_LOST, 5, CLUSTER_ITSELF)
    bench.read_back()
    assert bench.states() == "A=FAILED B=FUTILE"


def test_of_a_cluster_that_made_its_procs_unseen_the_history_tells() -> None:
    bench = make.Bench("A -> B", Config(check_queue_interval=300)).begin(recovering=True)
    bench.tell(make.cluster_submit("A", 5), make.submit("A", 5, 0), inputs.LogCaughtUp())
    ended = [EndedJob(5, proc, "A", 0, 0) for proc in (CLUSTER_ITSELF, 0, 1, 2)]
    for _ in range(4):
        bench.tell(QueueListed([], ended))
        bench.read_back()
        bench.wait(CONFIRM_LOST)
    notes = [note for note in bench.ever(do.AppendNote) if note.note is Note.JOB_ENDED]
    assert [note.proc for note in notes] == [0, 1, 2, CLUSTER_ITSELF]
    assert bench.state("A").name == "DONE"
    bench.same_replay()


# Nothing but SERVICE jobs in the queue.


def test_a_service_is_asked_about_while_it_is_alone_in_the_queue() -> None:
    made = make.dag("A; S", kinds={"S": NodeKind.SERVICE}, pre={"A": "p"})
    bench = make.Bench(made, Config(check_queue_interval=300)).begin()
    bench.take("S", 3)
    for _ in range(3):
        bench.wait(300.0)
        assert bench.asked(do.QueryQueue)
        bench.tell(QueueListed(bench.queue()))
        assert bench.engine.next_deadline() == bench.now + 300
    bench.wait(300.0)
    bench.tell(QueueListed([]))
    bench.wait(CONFIRM_LOST)
    bench.tell(QueueListed([]))
    bench.read_back()
    assert bench.state("S").name == "FAILED"
    assert not bench.ever(do.Exit)


@pytest.mark.parametrize("when", ["before it is listed", "before the note is read"])
def test_the_end_of_a_proc_that_stands_before_the_note_of_its_adoption(when: str) -> None:
    bench = make.Bench("A -> B").begin()
    bench.tell(LOST)
    bench.wait(1.0)
    listed = [QueuedJob(5, 0, "A", 0), QueuedJob(5, 1, "A", 0)]
    if when == "before it is listed":
        bench.tell(make.terminated(5, 0))
        listed = listed[1:]
    bench.tell(QueueListed(listed))
    note = bench.echo(bench.last)
    if when == "before the note is read":
        bench.tell(make.terminated(5, 0))
    bench.tell(*note, make.terminated(5, 1))
    assert bench.states() == "A=DONE B=SUBMITTING"
    bench.same_replay()


def test_a_cluster_of_a_node_that_is_not_to_run() -> None:
    """The log has lost the run of the parent after which it was submitted."""
    bench = make.Bench("A -> B; C").begin()
    bench.run_node("A", 5, value=1)
    bench.take("C", 7)
    bench.tell(QueueListed([QueuedJob(6, 0, "B", 0), *bench.queue()]))
    assert removed(bench) == [6]
    assert "a cluster of DAG node B, which is not to run" in bench.asked(do.RemoveJobs)[0].reason
