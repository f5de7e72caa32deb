"""Events of a node's jobs: what each does, and that none can do harm."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.queues import REMOVAL_GRACE_S
from condor_pydagman.graph.model import Tolerance
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, EventKind, NodeKind, ScriptKind
from tests import make


def counts(harness: make.EngineHarness) -> tuple[int, int, int]:
    """Idle, running and held procs as published."""
    report = harness.engine.report()
    return report.procs_idle, report.procs_running, report.procs_held


def test_life_of_a_proc() -> None:
    harness = make.EngineHarness("A").begin()
    harness.take("A", 5)
    assert counts(harness) == (1, 0, 0)
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
        harness.tell(make.of_job(kind, 5))
        assert counts(harness) == want, kind
    assert harness.asked(do.Exit) == [do.Exit(0)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "Node A job proc (5.0.0) completed successfully."),
        (3, "Node A job proc (5.0.0) failed with status 3."),
        (-9, "Node A job proc (5.0.0) failed with signal 9."),
    ],
)
def test_lines_about_the_end_of_a_proc(value: int, text: str) -> None:
    harness = make.EngineHarness("A").begin()
    harness.run_node("A", 5, value)
    assert harness.said(text)
    assert harness.state("A").name == ("DONE" if value == 0 else "FAILED")


def test_an_aborted_job_fails_the_node() -> None:
    harness = make.EngineHarness("A").begin()
    harness.take("A", 5)
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 5, text="by hand"))
    assert harness.engine.run.nodes.values[0] == RETURN_JOB_ABORTED
    assert harness.said("was removed: by hand")
    assert harness.asked(do.Exit) == [do.Exit(1)]


def test_the_first_failing_proc_takes_the_cluster_with_it() -> None:
    harness = make.EngineHarness("A").begin()
    harness.take("A", 5, procs=3)
    harness.tell(make.terminated(5, 1, 2))
    harness.wait(REMOVAL_GRACE_S)
    assert [action.cluster for action in harness.asked(do.RemoveJobs)] == [5]
    assert "reached failure tolerance after 1 failures" in harness.asked(do.RemoveJobs)[0].reason
    harness.tell(make.terminated(5, 0, 7))
    assert not harness.asked(do.RemoveJobs)
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 5, 2))
    assert harness.engine.run.nodes.values[0] == 2
    assert harness.asked(do.Exit) == [do.Exit(1)]


def test_a_cluster_may_be_left_to_run_to_its_end() -> None:
    harness = make.EngineHarness("A", Config(remove_job_list_on_failure=False)).begin()
    harness.take("A", 5, procs=2)
    harness.tell(make.terminated(5, 0, 2))
    assert not harness.asked(do.RemoveJobs)
    assert harness.state("A").name == "SUBMITTED"
    harness.tell(make.terminated(5, 1))
    assert harness.state("A").name == "FAILED"


def test_a_late_materialising_cluster_ends_with_its_own_event() -> None:
    harness = make.EngineHarness("A").begin()
    harness.tell(LogEvent(EventKind.CLUSTER_SUBMIT, 5, node="A"), inputs.Submitted(0, 5, 2))
    harness.tell(make.submit("A", 5, 0), make.terminated(5, 0))
    assert harness.state("A").name == "SUBMITTED"
    harness.tell(make.submit("A", 5, 1), make.terminated(5, 1))
    assert harness.state("A").name == "SUBMITTED"
    harness.tell(LogEvent(EventKind.CLUSTER_REMOVE, 5))
    assert harness.asked(do.Exit) == [do.Exit(0)]


@pytest.mark.parametrize("post", [False, True])
def test_doubled_events_change_nothing(post: bool) -> None:
    made = make.dag("A -> B", retries={"A": 2}, post={"A": "q"} if post else {})
    harness = make.EngineHarness(made).begin()

    def twice(*events: LogEvent) -> None:
        for event in events:
            harness.tell(event, event)

    harness.tell(inputs.Submitted(0, 5, 1))
    twice(make.submit("A", 5), make.of_job(EventKind.EXECUTE, 5), make.terminated(5, value=1))
    if post:
        first = harness.tell(inputs.ScriptEnded(0, ScriptKind.POST, 1))
        twice(*harness.echo(first))
    assert harness.engine.run.nodes.retries[0] == 1
    assert harness.state("A").name == "SUBMITTING"
    assert harness.engine.run.job_table.submitted == 1


def test_late_doubles_are_not_taken_for_the_next_runs_events() -> None:
    harness = make.EngineHarness(make.dag("A", retries={"A": 1})).begin()
    harness.run_node("A", 5, 1)
    harness.tell(make.submit("A", 5), make.terminated(5))
    assert harness.state("A").name == "SUBMITTING"
    harness.take("A", 6)
    harness.tell(make.submit("A", 5), make.terminated(5))
    assert harness.state("A").name == "SUBMITTED"
    assert harness.engine.run.nodes.clusters[0] == 6


def test_a_late_double_of_a_submit_two_runs_back() -> None:
    """Found by the simulator (seed 11415): it was taken for the node's new job."""
    harness = make.EngineHarness(make.dag("A", retries={"A": 2})).begin()
    harness.run_node("A", 5, 1)
    harness.run_node("A", 6, 1)
    harness.tell(make.submit("A", 5))
    assert harness.state("A").name == "SUBMITTING"


def test_a_strange_submit_event_of_a_node_that_has_a_job_is_said_and_ignored() -> None:
    harness = make.EngineHarness("A").begin()
    harness.take("A", 5)
    harness.tell(make.submit("A", 6))
    assert harness.said("unexpected submit event of job 6.0 for node A, which is SUBMITTED")
    assert harness.engine.run.nodes.clusters[0] == 5


@pytest.mark.parametrize("recovering", [False, True])
def test_a_submit_event_of_a_node_with_unfinished_parents_ends_the_run(recovering: bool) -> None:
    """At once, and nothing is thrown away: no rescue file, no removal, the lock file stays."""
    kinds = {"F": NodeKind.FINAL}
    harness = make.EngineHarness(make.dag("A -> B; C; F", kinds=kinds)).begin(recovering=recovering)
    harness.tell(make.submit("A", 5), make.submit("C", 4))
    harness.tell(make.submit("B", 6), make.terminated(6), make.terminated(5))
    assert harness.said("DAG semantics violated! Node B was submitted but has unfinished parents!")
    assert harness.said(
        "the DAG in recovery mode by giving the command 'condor_submit t.dag.condor"
    )
    assert harness.ever(do.Exit) == [do.Exit(1, keep_lock=True, concluded=False)]
    assert harness.ever(do.SayFailed) == [do.SayFailed(node=1, job="6.0.0")]
    for kind in (do.WriteRescue, do.RemoveJobs, do.Publish, do.AppendJournalRecord):
        assert not [action for action in harness.last if isinstance(action, kind)]
    harness.tell(inputs.LogCaughtUp(), inputs.Wake())
    assert not harness.last


def test_a_submit_event_of_a_final_node_that_has_not_been_called_is_ignored() -> None:
    harness = make.EngineHarness(make.dag("A; F", kinds={"F": NodeKind.FINAL})).begin()
    harness.take("A", 5)
    harness.tell(make.submit("F", 6))
    assert harness.said("unexpected submit event of job 6.0 for node F")
    assert harness.states() == "A=SUBMITTED F=WAITING"


def test_an_execute_event_before_its_submit_event() -> None:
    harness = make.EngineHarness("A").begin()
    harness.tell(inputs.Submitted(0, 5, 1), make.of_job(EventKind.EXECUTE, 5), make.submit("A", 5))
    assert counts(harness) == (0, 1, 0)
    harness.tell(make.terminated(5))
    assert harness.asked(do.Exit) == [do.Exit(0)]


# Late materialization.


def factory(**more: object) -> make.EngineHarness:
    """A cluster whose first two procs have been made."""
    harness = make.EngineHarness(make.dag("A -> B", **more)).begin()  # type: ignore[arg-type]
    harness.tell(inputs.Submitted(0, 5, 0), make.cluster_submit("A", 5))
    harness.tell(make.submit("A", 5, 0), make.submit("A", 5, 1))
    return harness


def test_a_factory_ends_with_its_own_event() -> None:
    harness = factory()
    harness.tell(make.terminated(5, 0), make.terminated(5, 1))
    assert harness.state("A").name == "SUBMITTED"
    assert not harness.said("job(s) have exited the queue")
    harness.tell(make.submit("A", 5, 2), make.terminated(5, 2))
    harness.tell(make.cluster_remove(5))
    assert harness.said("Node A job completed")
    assert harness.states() == "A=DONE B=SUBMITTING"
    harness.same_replay()


@pytest.mark.parametrize("order", ["reply first", "log first", "no reply"])
def test_a_factorys_reply(order: str) -> None:
    harness = make.EngineHarness("A -> B").begin()
    told: list[inputs.Input] = [make.cluster_submit("A", 5), make.submit("A", 5, 0)]
    if order == "reply first":
        told.insert(0, inputs.Submitted(0, 5, 0))
    elif order == "log first":
        told.append(inputs.Submitted(0, 5, 0))
    harness.tell(*told)
    assert harness.engine.report().procs_submitted == 1
    harness.tell(make.terminated(5, 0))
    assert harness.state("A").name == "SUBMITTED"
    harness.tell(make.cluster_remove(5))
    assert harness.state("A").name == "DONE"


def test_a_factory_counts_as_one_job_for_its_post_script() -> None:
    words = "q $JOBID $JOB_COUNT $EXIT_CODE_LIST $EXIT_CODE_COUNTS $RETURN"
    harness = factory(post={"A": words})
    harness.tell(make.terminated(5, 0), make.terminated(5, 1))
    assert not harness.asked(do.RunScript)
    harness.tell(make.cluster_remove(5))
    assert " ".join(harness.asked(do.RunScript)[0].words) == "q 5.1 1 0,0 0:2 0"


@pytest.mark.parametrize("retries", [0, 1])
def test_a_factory_that_fails(retries: int) -> None:
    harness = factory(retries={"A": retries})
    harness.tell(make.terminated(5, 0, 3))
    harness.wait(REMOVAL_GRACE_S)
    assert [removal.cluster for removal in harness.asked(do.RemoveJobs)] == [5]
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 5, 1))
    assert harness.state("A").name == "SUBMITTED"
    harness.tell(make.cluster_remove(5))
    assert harness.state("A").name == ("SUBMITTING" if retries else "FAILED")
    assert harness.engine.report().failed == (0 if retries else 1)
    harness.same_replay()


def test_a_factory_whose_only_proc_failed_is_removed_since_more_may_come() -> None:
    harness = make.EngineHarness("A").begin()
    harness.tell(make.cluster_submit("A", 5), inputs.Submitted(0, 5, 0), make.submit("A", 5, 0))
    harness.tell(make.terminated(5, 0, 3))
    harness.wait(REMOVAL_GRACE_S)
    assert [removal.cluster for removal in harness.asked(do.RemoveJobs)] == [5]


def test_a_factory_with_tolerance() -> None:
    harness = factory()
    harness.dag.tolerances[0] = Tolerance(5)
    harness.tell(make.terminated(5, 0, 3), make.terminated(5, 1, 3), make.cluster_remove(5))
    assert harness.state("A").name == "DONE"


def test_a_factory_whose_end_of_a_proc_is_missing_in_the_log() -> None:
    harness = factory()
    harness.tell(make.terminated(5, 0), make.cluster_remove(5))
    assert harness.said("Node A job proc (5.1.0) is lost")
    assert harness.states() == "A=FAILED B=FUTILE"
    assert harness.engine.run.nodes.values[0] == RETURN_JOB_ABORTED
    assert harness.engine.run.job_table.idle == 0


def test_a_factorys_events_twice() -> None:
    harness = make.EngineHarness("A -> B").begin()
    events = (
        make.cluster_submit("A", 5),
        make.submit("A", 5, 0),
        make.terminated(5, 0),
        make.cluster_remove(5),
    )
    for event in events:
        harness.tell(event, event)
    assert harness.states() == "A=DONE B=READY"  # no reply to the first submission yet
    assert harness.engine.report().procs_submitted == 1


def test_a_factory_after_a_restart() -> None:
    harness = factory()
    harness.tell(make.terminated(5, 0), make.terminated(5, 1))
    other = harness.restart()  # between two procs: the queue shows none
    assert other.state("A").name == "SUBMITTED"
    other.wait(30.0)
    other.tell(inputs.QueueListed([]))
    assert other.state("A").name == "SUBMITTED"
    other.tell(make.submit("A", 5, 2), make.terminated(5, 2), make.cluster_remove(5))
    assert other.state("A").name == "DONE"


@pytest.mark.parametrize("reply_first", [False, True])
def test_the_reply_alone_says_that_a_cluster_is_a_factory(reply_first: bool) -> None:
    harness = make.EngineHarness("A -> B").begin()
    told: list[inputs.Input] = [inputs.Submitted(0, 5, 0), make.submit("A", 5, 0)]
    harness.tell(*(told if reply_first else reversed(told)))  # its event 035 is garbage
    harness.tell(make.terminated(5, 0))
    assert harness.states() == "A=SUBMITTED B=WAITING"
    harness.tell(make.submit("A", 5, 1), make.terminated(5, 1), make.cluster_remove(5))
    assert harness.states() == "A=DONE B=SUBMITTING"


@pytest.mark.parametrize("retries", [0, 1])
def test_a_factory_that_left_the_queue_before_it_had_made_all_its_procs(retries: int) -> None:
    harness = factory(retries={"A": retries})
    harness.tell(make.terminated(5, 0), make.terminated(5, 1))
    harness.tell(make.cluster_remove(5)._replace(value=RETURN_JOB_ABORTED))
    if retries:
        assert harness.submits() == ["A"]
    else:
        assert harness.states() == "A=FAILED B=FUTILE"
        error = "Cluster 5 left the queue before all its jobs were made (after 0 node retries)"
        assert harness.engine.run.nodes.errors == {0: error}
    harness.same_replay()


def test_a_factory_of_which_nothing_but_its_end_is_in_the_log() -> None:
    harness = make.EngineHarness("A -> B").begin()
    harness.tell(inputs.Submitted(0, 5, 0))
    harness.tell(make.cluster_remove(5)._replace(value=RETURN_JOB_ABORTED))
    assert harness.states() == "A=FAILED B=FUTILE"


def test_a_cluster_remove_event_of_a_cluster_that_is_no_factory() -> None:
    harness = make.EngineHarness("A").begin()
    harness.take("A", 5)
    harness.tell(make.cluster_remove(5))
    assert harness.state("A").name == "SUBMITTED"


# Several procs.


def test_a_node_is_done_when_its_last_proc_is() -> None:
    harness = make.EngineHarness("A -> B").begin()
    harness.take("A", 5, procs=3)
    for proc in (2, 0):
        harness.tell(make.terminated(5, proc))
        assert harness.state("A").name == "SUBMITTED"
    harness.tell(make.terminated(5, 1))
    assert harness.submits() == ["B"]


def test_a_proc_that_the_reply_shows_is_waited_for_before_the_log_shows_it() -> None:
    harness = make.EngineHarness("A -> B").begin()
    harness.tell(inputs.Submitted(0, 5, 2), make.submit("A", 5, 0), make.terminated(5, 0))
    assert harness.state("A").name == "SUBMITTED"
    harness.tell(make.submit("A", 5, 1), make.terminated(5, 1))
    assert harness.state("A").name == "DONE"


def test_a_reply_that_comes_after_the_end() -> None:
    harness = make.EngineHarness("A -> B").begin()
    harness.tell(make.submit("A", 5), make.terminated(5))
    assert harness.state("A").name == "DONE"
    harness.tell(inputs.Submitted(0, 5, 1))
    assert harness.state("A").name == "DONE"
    assert harness.submits() == ["B"]
    assert harness.engine.report().procs_submitted == 1


def test_a_reply_that_comes_after_the_end_of_a_retried_node() -> None:
    harness = make.EngineHarness(make.dag("A", retries={"A": 1})).begin()
    harness.tell(make.submit("A", 5), make.terminated(5, value=1))
    assert harness.state("A").name == "READY"
    harness.tell(inputs.Submitted(0, 5, 1))
    assert harness.submits() == ["A"]
    harness.run_node("A", 6)
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_one_proc_may_abort_the_dag_before_the_others_have_ended() -> None:
    made = make.dag("A -> B", aborts={"A": 3})
    harness = make.EngineHarness(made).begin()
    harness.take("A", 5, procs=3)
    harness.tell(make.terminated(5, 1, 3))
    assert harness.asked(do.Exit) == [do.Exit(3)]
    assert harness.state("A").name == "SUBMITTED"
    assert harness.engine.report().failed == 0


def test_an_aborted_job_never_matches_abort_dag_on() -> None:
    harness = make.EngineHarness(make.dag("A B", aborts={"A": -1002})).begin()
    harness.take("A", 5)
    harness.take("B", 6)
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 5))
    assert not harness.ever(do.Exit)


def test_held_procs_in_numbers() -> None:
    harness = make.EngineHarness("A").begin()
    harness.take("A", 5, procs=3)
    harness.tell(make.of_job(EventKind.EXECUTE, 5, 1), make.of_job(EventKind.JOB_HELD, 5, 1))
    harness.tell(make.of_job(EventKind.JOB_HELD, 5, 2))
    assert counts(harness) == (1, 0, 2)
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 5, 2))
    assert counts(harness) == (1, 0, 1)
    harness.tell(make.of_job(EventKind.JOB_RELEASED, 5, 1))
    assert counts(harness) == (2, 0, 0)
    harness.same_replay()
