"""Events of the nodes log: what each does, and that none can do harm."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import REMOVE_AGAIN
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, EventKind, Note, ScriptKind
from tests import make


def counts(bench: make.Bench) -> tuple[int, int, int]:
    """Idle, running and held procs as published."""
    report = bench.engine.report()
    return report.procs_idle, report.procs_running, report.procs_held


def test_life_of_a_proc() -> None:
    bench = make.Bench("A").begin()
    bench.take("A", 5)
    assert counts(bench) == (1, 0, 0)
    for kind, want in (
        (EventKind.EXECUTE, (0, 1, 0)),
        (EventKind.JOB_SUSPENDED, (1, 0, 0)),
        (EventKind.JOB_UNSUSPENDED, (0, 1, 0)),
        (EventKind.JOB_EVICTED, (1, 0, 0)),
        (EventKind.EXECUTE, (0, 1, 0)),
        (EventKind.SHADOW_EXCEPTION, (1, 0, 0)),
        (EventKind.EXECUTE, (0, 1, 0)),
        (EventKind.JOB_RECONNECT_FAILED, (1, 0, 0)),
        (EventKind.EXECUTE, (0, 1, 0)),
        (EventKind.JOB_HELD, (0, 0, 1)),
        (EventKind.JOB_HELD, (0, 0, 1)),
        (EventKind.JOB_RELEASED, (1, 0, 0)),
        (EventKind.IMAGE_SIZE, (1, 0, 0)),
        (EventKind.JOB_TERMINATED, (0, 0, 0)),
    ):
        bench.tell(make.of_job(kind, 5))
        assert counts(bench) == want, kind
    assert bench.asked(do.Exit) == [do.Exit(0)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "Node A job proc (5.0.0) completed successfully."),
        (3, "Node A job proc (5.0.0) failed with status 3."),
        (-9, "Node A job proc (5.0.0) failed with signal 9."),
    ],
)
def test_words_for_an_end(value: int, text: str) -> None:
    bench = make.Bench("A").begin()
    bench.run_node("A", 5, value)
    assert bench.said(text)
    assert bench.state("A").name == ("DONE" if value == 0 else "FAILED")


def test_an_aborted_job_fails_the_node() -> None:
    bench = make.Bench("A").begin()
    bench.take("A", 5)
    bench.tell(make.of_job(EventKind.JOB_ABORTED, 5, text="by hand"))
    assert bench.engine.nodes.values[0] == RETURN_JOB_ABORTED
    assert bench.said("was removed: by hand")
    assert bench.asked(do.Exit) == [do.Exit(1)]


def test_the_first_failing_proc_takes_the_cluster_with_it() -> None:
    bench = make.Bench("A").begin()
    bench.take("A", 5, procs=3)
    bench.tell(make.terminated(5, 1, 2))
    assert [action.cluster for action in bench.asked(do.RemoveJobs)] == [5]
    assert "reached failure tolerance after 1 failures" in bench.asked(do.RemoveJobs)[0].reason
    bench.tell(make.terminated(5, 0, 7))
    assert not bench.asked(do.RemoveJobs)
    bench.tell(make.of_job(EventKind.JOB_ABORTED, 5, 2))
    assert bench.engine.nodes.values[0] == 2
    assert bench.asked(do.Exit) == [do.Exit(1)]


def test_a_cluster_may_be_left_to_run_to_its_end() -> None:
    bench = make.Bench("A", Config(remove_job_list_on_failure=False)).begin()
    bench.take("A", 5, procs=2)
    bench.tell(make.terminated(5, 0, 2))
    assert not bench.asked(do.RemoveJobs)
    assert bench.state("A").name == "SUBMITTED"
    bench.tell(make.terminated(5, 1))
    assert bench.state("A").name == "FAILED"


def test_a_late_materialising_cluster_ends_with_its_own_event() -> None:
    bench = make.Bench("A").begin()
    bench.tell(LogEvent(EventKind.CLUSTER_SUBMIT, 5, node="A"), inputs.Submitted(0, 5, 2))
    bench.tell(make.submit("A", 5, 0), make.terminated(5, 0))
    assert bench.state("A").name == "SUBMITTED"
    bench.tell(make.submit("A", 5, 1), make.terminated(5, 1))
    assert bench.state("A").name == "SUBMITTED"
    bench.tell(LogEvent(EventKind.CLUSTER_REMOVE, 5))
    assert bench.asked(do.Exit) == [do.Exit(0)]


@pytest.mark.parametrize("post", [False, True])
def test_doubled_events_change_nothing(post: bool) -> None:
    made = make.dag("A -> B", retries={"A": 2}, post={"A": "q"} if post else {})
    bench = make.Bench(made).begin()

    def twice(*events: LogEvent) -> None:
        for event in events:
            bench.tell(event, event)

    bench.tell(inputs.Submitted(0, 5, 1))
    twice(make.submit("A", 5), make.of_job(EventKind.EXECUTE, 5), make.terminated(5, value=1))
    if post:
        first = bench.tell(inputs.ScriptEnded(0, ScriptKind.POST, 1))
        twice(*bench.echo(first))
    assert bench.engine.nodes.retries[0] == 1
    assert bench.state("A").name == "SUBMITTING"
    assert bench.engine.book.submitted == 1


def test_late_doubles_are_not_taken_for_the_next_runs_events() -> None:
    bench = make.Bench(make.dag("A", retries={"A": 1})).begin()
    bench.run_node("A", 5, 1)
    bench.tell(make.submit("A", 5), make.terminated(5))
    assert bench.state("A").name == "SUBMITTING"
    bench.take("A", 6)
    bench.tell(make.submit("A", 5), make.terminated(5))
    assert bench.state("A").name == "SUBMITTED"
    assert bench.engine.nodes.clusters[0] == 6


def test_a_late_double_of_a_submit_two_runs_back() -> None:
    """Found by the simulator (seed 11415): it was taken for the node's new job."""
    bench = make.Bench(make.dag("A", retries={"A": 2})).begin()
    bench.run_node("A", 5, 1)
    bench.run_node("A", 6, 1)
    bench.tell(make.submit("A", 5))
    assert bench.state("A").name == "SUBMITTING"


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
        make.note(Note.PRE_ENDED, "A"),
        make.note(Note.PRE_ENDED, "Z"),
        make.note(Note.JOB_LOST, "A", cluster=9, proc=0),
        make.note(Note.SUBMIT_FAILED, "B"),
        LogEvent(EventKind.GENERIC, text="somebody else's"),
        LogEvent(999, 5, 0),
        LogEvent(999, 9, 0),
        LogEvent(EventKind.CLUSTER_REMOVE, 5),
        *make.noop("Z", 3),
        make.noop("A", 3)[1],
    ],
)
def test_events_out_of_place_are_ignored(event: LogEvent) -> None:
    bench = make.Bench("A -> B").begin()
    bench.take("A", 5)
    before = bench.states()
    bench.tell(event)
    assert bench.states() == before
    bench.tell(make.terminated(5))
    bench.run_node("B", 6)
    assert bench.asked(do.Exit) == [do.Exit(0)]


def test_a_strange_submit_event_of_a_node_that_has_a_job_is_said_and_ignored() -> None:
    bench = make.Bench("A").begin()
    bench.take("A", 5)
    bench.tell(make.submit("A", 6))
    assert bench.said("unexpected submit event of job 6.0 for node A, which is SUBMITTED")
    assert bench.engine.nodes.clusters[0] == 5


def test_a_submit_event_of_a_node_with_unfinished_parents_ends_the_run() -> None:
    bench = make.Bench("A -> B").begin()
    bench.tell(make.submit("B", 6))
    assert bench.said("DAG semantics violated! Node B was submitted but has unfinished parents!")
    assert bench.asked(do.Exit) == [do.Exit(1)]


def test_an_execute_event_before_its_submit_event() -> None:
    bench = make.Bench("A").begin()
    bench.tell(inputs.Submitted(0, 5, 1), make.of_job(EventKind.EXECUTE, 5), make.submit("A", 5))
    assert counts(bench) == (0, 1, 0)
    bench.tell(make.terminated(5))
    assert bench.asked(do.Exit) == [do.Exit(0)]


def test_a_note_about_an_earlier_run_is_ignored() -> None:
    made = make.dag("A", pre={"A": "p"}, retries={"A": 1})
    bench = make.Bench(made).begin()
    bench.pre_ends("A", 1)
    bench.tell(make.note(Note.PRE_ENDED, "A", value=0, retry=0))
    assert bench.said("Ignoring a note about an earlier run of node A")
    assert bench.state("A").name == "PRE_RUN"


def test_messages_carry_the_ids_as_tools_parse_them() -> None:
    bench = make.Bench("A").begin()
    bench.tell(make.submit("A", 5)._replace(stamp="11/21/26 12:00:00"))
    assert bench.said("Event: ULOG_SUBMIT for HTCondor Node A (5.0.0) {11/21/26 12:00:00}")
    bench.tell(make.terminated(9))
    assert bench.said("Event: ULOG_JOB_TERMINATED for unknown Node (9.0.0) {}: ignoring...")


def test_jobstate_lines() -> None:
    bench = make.Bench(make.dag("A", jobstate_log="j.log", retries={"A": 1})).begin()
    bench.run_node("A", 5, 1)
    bench.run_node("A", 6)
    lines = [(line.event, line.job, line.sequence) for line in bench.ever(do.JobState)]
    assert lines == [
        ("SUBMIT", "5.0", 1),
        ("JOB_TERMINATED", "5.0", 1),
        ("JOB_FAILURE", "1", 1),
        ("SUBMIT", "6.0", 2),
        ("JOB_TERMINATED", "6.0", 2),
        ("JOB_SUCCESS", "0", 2),
    ]


def test_a_removal_that_failed_is_asked_for_again() -> None:
    bench = make.Bench("A").begin()
    bench.take("A", 5, procs=2)
    bench.tell(make.terminated(5, 0, value=1))
    assert [action.cluster for action in bench.asked(do.RemoveJobs)] == [5]
    bench.tell(inputs.RemoveFailed(5, "no schedd"))
    assert not bench.asked(do.RemoveJobs)
    bench.wait(REMOVE_AGAIN)
    assert [action.cluster for action in bench.asked(do.RemoveJobs)] == [5]
