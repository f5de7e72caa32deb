"""What the schedd's queue says, against what we believe: adopt, lose, submit again."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.inputs import QueuedJob, QueueListed
from condor_pydagman.engine.reconcile import CONFIRM_LOST
from condor_pydagman.vocabulary import EventKind, Note
from tests import make

LOST = inputs.SubmitFailed(0, "lost", permanent=False, unknown=True)


def recovered(text: str, *log: inputs.Input) -> make.Bench:
    """A bench whose engine has replayed a log and has asked the schedd."""
    bench = make.Bench(text).begin(recovering=True)
    bench.tell(*log, inputs.LogCaughtUp())
    assert bench.asked(do.QueryQueue) == [do.QueryQueue(history=True)]
    return bench


def test_nothing_is_started_before_the_schedd_has_answered() -> None:
    bench = recovered("A B")
    assert bench.engine.phase is Phase.RECONCILING
    assert not bench.ever(do.SubmitNode)
    bench.tell(QueueListed([]))
    assert bench.submits() == ["A"]


def test_a_job_of_the_queue_that_the_log_does_not_know_is_adopted() -> None:
    bench = recovered("A")
    bench.tell(QueueListed([QueuedJob(5, 0, "A", 0), QueuedJob(5, 1, "A", 0)]))
    assert bench.state("A").name == "SUBMITTED"
    assert not bench.submits()
    assert bench.engine.book.submitted == 2
    bench.tell(make.submit("A", 5, 0), make.terminated(5, 0), make.terminated(5, 1))
    assert bench.asked(do.Exit) == [do.Exit(0)]


def test_a_job_of_another_run_of_the_node_is_not_adopted() -> None:
    bench = recovered("A")
    bench.tell(QueueListed([QueuedJob(5, 0, "A", 1)]))
    assert bench.submits() == ["A"]


def test_a_job_that_the_log_ended_but_the_queue_still_has_is_not_adopted() -> None:
    bench = make.Bench(make.dag("A", retries={"A": 1})).begin(recovering=True)
    bench.tell(make.submit("A", 5), make.terminated(5, value=1), inputs.LogCaughtUp())
    bench.tell(QueueListed([QueuedJob(5, 0, "A", 0)]))
    assert bench.submits() == ["A"]


def test_jobs_of_nobody_we_know_are_ignored() -> None:
    bench = recovered("A")
    bench.tell(QueueListed([QueuedJob(5, 0, "Z", 0), QueuedJob(6, 0, "", 0)]))
    assert bench.submits() == ["A"]


def test_a_job_whose_node_still_waits_is_adopted_when_its_turn_comes() -> None:
    bench = recovered("A -> B")
    bench.tell(QueueListed([QueuedJob(6, 0, "B", 0)]))
    assert bench.submits() == ["A"]
    bench.run_node("A", 5)
    assert bench.state("B").name == "SUBMITTED"
    assert len(bench.ever(do.SubmitNode)) == 1


def test_a_node_whose_reply_was_lost_takes_its_job_from_the_queue() -> None:
    bench = make.Bench("A").begin()
    bench.tell(LOST)
    bench.wait(1.0)
    bench.tell(QueueListed([QueuedJob(5, 0, "A", 0)]))
    assert bench.state("A").name == "SUBMITTED"
    assert bench.engine.nodes.clusters[0] == 5


def test_a_proc_is_lost_when_it_is_missing_twice() -> None:
    bench = make.Bench(make.dag("A", retries={"A": 1}), Config(check_queue_interval=300)).begin()
    bench.take("A", 5, procs=2)
    assert bench.engine.next_deadline() == 1300.0
    bench.wait(300.0)
    here = QueuedJob(5, 0, "A", 0)
    bench.tell(QueueListed([here]))
    assert not bench.asked(do.AppendNote)
    assert bench.engine.next_deadline() == bench.now + CONFIRM_LOST
    bench.wait(CONFIRM_LOST)
    bench.tell(QueueListed([here]))
    note = do.AppendNote(Note.JOB_LOST, 0, 0, cluster=5, proc=1)
    assert bench.asked(do.AppendNote) == [note]
    bench.tell(*bench.echo(bench.last))
    assert bench.said("Node A job proc (5.1.0) is lost")
    assert bench.asked(do.RemoveJobs)[0].cluster == 5  # the rest of the cluster goes too
    bench.tell(make.of_job(EventKind.JOB_ABORTED, 5, 0))
    assert bench.submits() == ["A"]  # the retry


def test_a_lost_cluster_is_told_once_in_the_words_of_the_stock_program() -> None:
    words = "ERROR: DAGMan lost track of node A (ClusterId=5)."
    bench = make.Bench(make.dag("A; B"), Config(check_queue_interval=300)).begin()
    bench.take("A", 5, procs=3)
    bench.take("B", 6)
    other = QueuedJob(6, 0, "B", 0)
    for seconds in (300.0, CONFIRM_LOST):
        assert not bench.said(words)
        bench.wait(seconds)
        bench.tell(QueueListed([other]))
    bench.read_back()
    assert bench.said("Node A job proc (5.2.0) is lost")
    said = [line.text for line in bench.ever(do.Say) if "lost track" in line.text]
    assert said == [words]
    assert not bench.restart().said("lost track")


def test_an_end_that_was_on_its_way_is_no_loss() -> None:
    bench = make.Bench("A -> B").begin()
    bench.take("A", 5)
    bench.wait(300.0)
    bench.tell(QueueListed([]), make.terminated(5))
    bench.take("B", 6)
    bench.wait(CONFIRM_LOST)
    bench.tell(QueueListed([QueuedJob(6, 0, "B", 0)]))
    assert not bench.ever(do.AppendNote)
    assert bench.states() == "A=DONE B=SUBMITTED"


def test_a_proc_that_comes_back_must_be_missed_twice_again() -> None:
    bench = make.Bench("A").begin()
    bench.take("A", 5)
    here = [QueuedJob(5, 0, "A", 0)]
    for listed in ([], here, []):
        bench.wait(300.0)
        bench.tell(QueueListed(listed))
    assert not bench.ever(do.AppendNote)


def test_a_lost_job_is_found_in_recovery_too() -> None:
    bench = recovered("A", make.submit("A", 5))
    bench.tell(QueueListed([]))
    bench.wait(CONFIRM_LOST)
    bench.tell(QueueListed([]))
    assert bench.asked(do.AppendNote)[0].note is Note.JOB_LOST


def test_a_noop_is_never_lost() -> None:
    bench = make.Bench(make.dag("A B", noop="A")).begin()
    bench.tell(make.noop("A", 1)[0])
    bench.take("B", 5)
    for _ in range(2):
        bench.wait(300.0)
        bench.tell(QueueListed([QueuedJob(5, 0, "B", 0)]))
    assert not bench.ever(do.AppendNote)


def test_a_schedd_that_does_not_answer_is_asked_ever_more_patiently() -> None:
    bench = recovered("A")
    waits = []
    for _ in range(8):
        bench.tell(inputs.QueueUnknown("down"))
        deadline = bench.engine.next_deadline()
        assert deadline is not None
        waits.append(deadline - bench.now)
        bench.wait(waits[-1])
        assert bench.asked(do.QueryQueue)
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]
    assert not bench.ever(do.SubmitNode)
    bench.tell(QueueListed([]))
    assert bench.submits() == ["A"]


@pytest.mark.parametrize("every", [0, 60])
def test_the_queue_is_looked_at_again_and_again_unless_told_not_to(every: int) -> None:
    bench = make.Bench("A", Config(check_queue_interval=every, pending_report_interval=0)).begin()
    bench.take("A", 5)
    assert bench.engine.next_deadline() == (1060.0 if every else None)


def test_a_run_whose_job_is_being_removed_is_not_done_over() -> None:
    """Its submit event lagged behind a crash, and somebody removed the job meanwhile."""
    bench = recovered("A")
    bench.tell(QueueListed([QueuedJob(5, 0, "A", 0, leaving=True)]))
    assert bench.submits() == []
    assert bench.engine.nodes.clusters[0] == 5


def test_a_job_that_stays_is_taken_rather_than_a_later_one_that_is_leaving() -> None:
    bench = recovered("A")
    bench.tell(QueueListed([QueuedJob(5, 0, "A", 0), QueuedJob(6, 0, "A", 0, leaving=True)]))
    assert bench.engine.nodes.clusters[0] == 5


def test_an_adoption_is_noted_and_a_replay_knows_the_job() -> None:
    bench = recovered("A -> B")
    bench.tell(QueueListed([QueuedJob(5, 0, "A", 0), QueuedJob(5, 1, "A", 0)]))
    assert bench.ever(do.AppendNote) == [do.AppendNote(Note.ADOPTED, 0, 0, 2, 5)]
    again = recovered(
        "A -> B",
        make.note(Note.ADOPTED, "A", value=2, cluster=5),
        make.terminated(5, 0),
        make.terminated(5, 1),
        make.submit("B", 6),
    )
    again.tell(QueueListed([QueuedJob(6, 0, "B", 0)]))
    assert (again.state("A").name, again.state("B").name) == ("DONE", "SUBMITTED")
    assert not again.submits()


def test_two_looks_in_a_row_are_not_enough_to_call_a_job_lost() -> None:
    bench = recovered("A", make.submit("A", 5))
    bench.tell(QueueListed([]))
    bench.wait(CONFIRM_LOST / 4)
    bench.tell(QueueListed([]))
    assert not bench.ever(do.AppendNote)
    bench.wait(CONFIRM_LOST)
    bench.tell(QueueListed([]))
    assert [a.note for a in bench.ever(do.AppendNote)] == [Note.JOB_LOST]


def test_what_only_the_history_shows_is_not_done_over() -> None:
    """The log lost its end: A and B have run, C was running."""
    bench = recovered("A -> B -> C -> D")
    ended = [inputs.EndedJob(5, 0, "A", 0, 0), inputs.EndedJob(6, 0, "B", 0, 0)]
    bench.tell(QueueListed([QueuedJob(7, 0, "C", 0)], ended))
    bench.read_back()
    assert [bench.state(name).name for name in "ABCD"] == ["DONE", "DONE", "SUBMITTED", "WAITING"]
    assert not bench.ever(do.SubmitNode)
    bench.tell(make.terminated(7))
    assert bench.submits() == ["D"]
    assert bench.same_replay()


def test_an_end_in_the_history_counts_as_the_log_would_have_shown_it() -> None:
    bench = make.Bench(make.dag("A", retries={"A": 1})).begin(recovering=True)
    bench.tell(inputs.LogCaughtUp())
    failed, removed = inputs.EndedJob(5, 0, "A", 0, 3), inputs.EndedJob(6, 0, "A", 1, -1002)
    bench.tell(QueueListed([], [removed, failed]))
    bench.read_back()
    assert not bench.ever(do.SubmitNode)
    assert bench.said("ended with 3, as the schedd's history says")
    assert bench.state("A").name == "FAILED"
    assert bench.asked(do.Exit) == [do.Exit(1)]


def test_the_history_of_an_earlier_run_of_a_node_is_not_its_present_run() -> None:
    bench = make.Bench(make.dag("A", retries={"A": 1})).begin(recovering=True)
    bench.tell(make.submit("A", 5), make.terminated(5, value=1), inputs.LogCaughtUp())
    bench.tell(QueueListed([], [inputs.EndedJob(5, 0, "A", 0, 1)]))
    assert bench.submits() == ["A"]


def test_the_history_is_asked_before_a_job_counts_as_lost() -> None:
    bench = make.Bench("A").begin()
    bench.take("A", 5, procs=2)
    bench.wait(400)
    assert bench.asked(do.QueryQueue) == [do.QueryQueue()]
    bench.tell(QueueListed([QueuedJob(5, 1, "A", 0)]))
    bench.wait(CONFIRM_LOST)
    assert bench.asked(do.QueryQueue) == [do.QueryQueue(history=True)]
    ended = [inputs.EndedJob(5, 0, "A", 0, 0)]
    bench.tell(QueueListed([QueuedJob(5, 1, "A", 0)], ended))
    assert bench.asked(do.AppendNote) == [do.AppendNote(Note.JOB_ENDED, 0, 0, 0, 5, 0)]
    bench.read_back()
    bench.tell(make.terminated(5, 0), make.terminated(5, 1))  # the first comes after all
    assert bench.asked(do.Exit) == [do.Exit(0)]


def test_the_history_is_left_alone_where_the_administrator_says_so() -> None:
    bench = make.Bench("A", Config(ask_history=False)).begin(recovering=True)
    bench.tell(inputs.LogCaughtUp())
    assert bench.asked(do.QueryQueue) == [do.QueryQueue(history=False)]


def test_a_node_waits_for_procs_whose_submit_events_the_log_has_lost() -> None:
    """The queue has proc 2, and the history what became of proc 1."""
    bench = recovered("A -> B", make.submit("A", 5, 0))
    queue, ended = [QueuedJob(5, 2, "A", 0)], [inputs.EndedJob(5, 1, "A", 0, 0)]
    bench.tell(QueueListed([QueuedJob(5, 0, "A", 0), *queue], ended))
    assert bench.asked(do.AppendNote) == [do.AppendNote(Note.ADOPTED, 0, 0, 3, 5)]
    bench.read_back()
    bench.tell(make.terminated(5, 0))
    assert bench.state("A").name == "SUBMITTED"
    bench.same_replay()
    bench.wait(CONFIRM_LOST)
    bench.tell(QueueListed(queue, ended))
    bench.read_back()
    bench.tell(make.terminated(5, 2))
    assert bench.submits() == ["B"]
    bench.same_replay()


def test_what_the_log_shows_of_a_cluster_is_not_noted_again() -> None:
    bench = make.Bench(make.dag("A", retries={"A": 1}), Config(check_queue_interval=300)).begin()
    bench.take("A", 5, procs=2)
    bench.tell(make.terminated(5, 0))
    bench.wait(300.0)
    bench.tell(QueueListed([QueuedJob(5, 1, "A", 0)], [inputs.EndedJob(5, 0, "A", 0, 0)]))
    assert not bench.asked(do.AppendNote)
