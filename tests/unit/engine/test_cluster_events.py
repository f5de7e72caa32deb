"""Events of a node's jobs: what each does, and that none can do harm."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.removals import GRACE
from condor_pydagman.graph.model import Tolerance
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, EventKind, NodeKind, ScriptKind
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
    bench.wait(GRACE)
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


def test_a_strange_submit_event_of_a_node_that_has_a_job_is_said_and_ignored() -> None:
    bench = make.Bench("A").begin()
    bench.take("A", 5)
    bench.tell(make.submit("A", 6))
    assert bench.said("unexpected submit event of job 6.0 for node A, which is SUBMITTED")
    assert bench.engine.nodes.clusters[0] == 5


@pytest.mark.parametrize("recovering", [False, True])
def test_a_submit_event_of_a_node_with_unfinished_parents_ends_the_run(recovering: bool) -> None:
    """At once, and nothing is thrown away: no rescue file, no removal, the lock file stays."""
    kinds = {"F": NodeKind.FINAL}
    bench = make.Bench(make.dag("A -> B; C; F", kinds=kinds)).begin(recovering=recovering)
    bench.tell(make.submit("A", 5), make.submit("C", 4))
    bench.tell(make.submit("B", 6), make.terminated(6), make.terminated(5))
    assert bench.said("DAG semantics violated! Node B was submitted but has unfinished parents!")
    assert bench.said("the DAG in recovery mode by giving the command 'condor_submit t.dag.condor")
    assert bench.ever(do.Exit) == [do.Exit(1, keep_lock=True, concluded=False)]
    assert bench.ever(do.SayFailed) == [do.SayFailed(node=1, job="6.0.0")]
    for kind in (do.WriteRescue, do.RemoveJobs, do.Publish, do.AppendNote):
        assert not [action for action in bench.last if isinstance(action, kind)]
    bench.tell(inputs.LogCaughtUp(), inputs.Wake())
    assert not bench.last


def test_a_submit_event_of_a_final_node_that_has_not_been_called_is_ignored() -> None:
    bench = make.Bench(make.dag("A; F", kinds={"F": NodeKind.FINAL})).begin()
    bench.take("A", 5)
    bench.tell(make.submit("F", 6))
    assert bench.said("unexpected submit event of job 6.0 for node F")
    assert bench.states() == "A=SUBMITTED F=WAITING"


def test_an_execute_event_before_its_submit_event() -> None:
    bench = make.Bench("A").begin()
    bench.tell(inputs.Submitted(0, 5, 1), make.of_job(EventKind.EXECUTE, 5), make.submit("A", 5))
    assert counts(bench) == (0, 1, 0)
    bench.tell(make.terminated(5))
    assert bench.asked(do.Exit) == [do.Exit(0)]


# Late materialization.


def factory(**more: object) -> make.Bench:
    """A cluster whose first two procs have been made."""
    bench = make.Bench(make.dag("A -> B", **more)).begin()  # type: ignore[arg-type]
    bench.tell(inputs.Submitted(0, 5, 0), make.cluster_submit("A", 5))
    bench.tell(make.submit("A", 5, 0), make.submit("A", 5, 1))
    return bench


def test_a_factory_ends_with_its_own_event() -> None:
    bench = factory()
    bench.tell(make.terminated(5, 0), make.terminated(5, 1))
    assert bench.state("A").name == "SUBMITTED"
    assert not bench.said("job(s) have exited the queue")
    bench.tell(make.submit("A", 5, 2), make.terminated(5, 2))
    bench.tell(make.cluster_remove(5))
    assert bench.said("Node A job completed")
    assert bench.states() == "A=DONE B=SUBMITTING"
    bench.same_replay()


@pytest.mark.parametrize("order", ["reply first", "log first", "no reply"])
def test_a_factorys_reply(order: str) -> None:
    bench = make.Bench("A -> B").begin()
    told: list[inputs.Input] = [make.cluster_submit("A", 5), make.submit("A", 5, 0)]
    if order == "reply first":
        told.insert(0, inputs.Submitted(0, 5, 0))
    elif order == "log first":
        told.append(inputs.Submitted(0, 5, 0))
    bench.tell(*told)
    assert bench.engine.report().procs_submitted == 1
    bench.tell(make.terminated(5, 0))
    assert bench.state("A").name == "SUBMITTED"
    bench.tell(make.cluster_remove(5))
    assert bench.state("A").name == "DONE"


def test_a_factory_counts_as_one_job_for_its_post_script() -> None:
    words = "q $JOBID $JOB_COUNT $EXIT_CODE_LIST $EXIT_CODE_COUNTS $RETURN"
    bench = factory(post={"A": words})
    bench.tell(make.terminated(5, 0), make.terminated(5, 1))
    assert not bench.asked(do.RunScript)
    bench.tell(make.cluster_remove(5))
    assert " ".join(bench.asked(do.RunScript)[0].words) == "q 5.1 1 0,0 0:2 0"


@pytest.mark.parametrize("retries", [0, 1])
def test_a_factory_that_fails(retries: int) -> None:
    bench = factory(retries={"A": retries})
    bench.tell(make.terminated(5, 0, 3))
    bench.wait(GRACE)
    assert [removal.cluster for removal in bench.asked(do.RemoveJobs)] == [5]
    bench.tell(make.of_job(EventKind.JOB_ABORTED, 5, 1))
    assert bench.state("A").name == "SUBMITTED"
    bench.tell(make.cluster_remove(5))
    assert bench.state("A").name == ("SUBMITTING" if retries else "FAILED")
    assert bench.engine.report().failed == (0 if retries else 1)
    bench.same_replay()


def test_a_factory_whose_only_proc_failed_is_removed_since_more_may_come() -> None:
    bench = make.Bench("A").begin()
    bench.tell(make.cluster_submit("A", 5), inputs.Submitted(0, 5, 0), make.submit("A", 5, 0))
    bench.tell(make.terminated(5, 0, 3))
    bench.wait(GRACE)
    assert [removal.cluster for removal in bench.asked(do.RemoveJobs)] == [5]


def test_a_factory_with_tolerance() -> None:
    bench = factory()
    bench.dag.tolerances[0] = Tolerance(5)
    bench.tell(make.terminated(5, 0, 3), make.terminated(5, 1, 3), make.cluster_remove(5))
    assert bench.state("A").name == "DONE"


def test_a_factory_whose_end_of_a_proc_is_missing_in_the_log() -> None:
    bench = factory()
    bench.tell(make.terminated(5, 0), make.cluster_remove(5))
    assert bench.said("Node A job proc (5.1.0) is lost")
    assert bench.states() == "A=FAILED B=FUTILE"
    assert bench.engine.nodes.values[0] == RETURN_JOB_ABORTED
    assert bench.engine.book.idle == 0


def test_a_factorys_events_twice() -> None:
    bench = make.Bench("A -> B").begin()
    events = (
        make.cluster_submit("A", 5),
        make.submit("A", 5, 0),
        make.terminated(5, 0),
        make.cluster_remove(5),
    )
    for event in events:
        bench.tell(event, event)
    assert bench.states() == "A=DONE B=READY"  # no reply to the first submission yet
    assert bench.engine.report().procs_submitted == 1


def test_a_factory_after_a_restart() -> None:
    bench = factory()
    bench.tell(make.terminated(5, 0), make.terminated(5, 1))
    other = bench.restart()  # between two procs: the queue shows none
    assert other.state("A").name == "SUBMITTED"
    other.wait(30.0)
    other.tell(inputs.QueueListed([]))
    assert other.state("A").name == "SUBMITTED"
    other.tell(make.submit("A", 5, 2), make.terminated(5, 2), make.cluster_remove(5))
    assert other.state("A").name == "DONE"


@pytest.mark.parametrize("reply_first", [False, True])
def test_the_reply_alone_says_that_a_cluster_is_a_factory(reply_first: bool) -> None:
    bench = make.Bench("A -> B").begin()
    told: list[inputs.Input] = [inputs.Submitted(0, 5, 0), make.submit("A", 5, 0)]
    bench.tell(*(told if reply_first else reversed(told)))  # its event 035 is garbage
    bench.tell(make.terminated(5, 0))
    assert bench.states() == "A=SUBMITTED B=WAITING"
    bench.tell(make.submit("A", 5, 1), make.terminated(5, 1), make.cluster_remove(5))
    assert bench.states() == "A=DONE B=SUBMITTING"


@pytest.mark.parametrize("retries", [0, 1])
def test_a_factory_that_left_the_queue_before_it_had_made_all_its_procs(retries: int) -> None:
    bench = factory(retries={"A": retries})
    bench.tell(make.terminated(5, 0), make.terminated(5, 1))
    bench.tell(make.cluster_remove(5)._replace(value=RETURN_JOB_ABORTED))
    if retries:
        assert bench.submits() == ["A"]
    else:
        assert bench.states() == "A=FAILED B=FUTILE"
        error = "Cluster 5 left the queue before all its jobs were made (after 0 node retries)"
        assert bench.engine.nodes.errors == {0: error}
    bench.same_replay()


def test_a_factory_of_which_nothing_but_its_end_is_in_the_log() -> None:
    bench = make.Bench("A -> B").begin()
    bench.tell(inputs.Submitted(0, 5, 0))
    bench.tell(make.cluster_remove(5)._replace(value=RETURN_JOB_ABORTED))
    assert bench.states() == "A=FAILED B=FUTILE"


def test_a_cluster_remove_event_of_a_cluster_that_is_no_factory() -> None:
    bench = make.Bench("A").begin()
    bench.take("A", 5)
    bench.tell(make.cluster_remove(5))
    assert bench.state("A").name == "SUBMITTED"


# Several procs.


def test_a_node_is_done_when_its_last_proc_is() -> None:
    bench = make.Bench("A -> B").begin()
    bench.take("A", 5, procs=3)
    for proc in (2, 0):
        bench.tell(make.terminated(5, proc))
        assert bench.state("A").name == "SUBMITTED"
    bench.tell(make.terminated(5, 1))
    assert bench.submits() == ["B"]


def test_a_proc_that_the_reply_shows_is_waited_for_before_the_log_shows_it() -> None:
    bench = make.Bench("A -> B").begin()
    bench.tell(inputs.Submitted(0, 5, 2), make.submit("A", 5, 0), make.terminated(5, 0))
    assert bench.state("A").name == "SUBMITTED"
    bench.tell(make.submit("A", 5, 1), make.terminated(5, 1))
    assert bench.state("A").name == "DONE"


def test_a_reply_that_comes_after_the_end() -> None:
    bench = make.Bench("A -> B").begin()
    bench.tell(make.submit("A", 5), make.terminated(5))
    assert bench.state("A").name == "DONE"
    bench.tell(inputs.Submitted(0, 5, 1))
    assert bench.state("A").name == "DONE"
    assert bench.submits() == ["B"]
    assert bench.engine.report().procs_submitted == 1


def test_a_reply_that_comes_after_the_end_of_a_retried_node() -> None:
    bench = make.Bench(make.dag("A", retries={"A": 1})).begin()
    bench.tell(make.submit("A", 5), make.terminated(5, value=1))
    assert bench.state("A").name == "READY"
    bench.tell(inputs.Submitted(0, 5, 1))
    assert bench.submits() == ["A"]
    bench.run_node("A", 6)
    assert bench.asked(do.Exit) == [do.Exit(0)]


def test_one_proc_may_abort_the_dag_before_the_others_have_ended() -> None:
    made = make.dag("A -> B", aborts={"A": 3})
    bench = make.Bench(made).begin()
    bench.take("A", 5, procs=3)
    bench.tell(make.terminated(5, 1, 3))
    assert bench.asked(do.Exit) == [do.Exit(3)]
    assert bench.state("A").name == "SUBMITTED"
    assert bench.engine.report().failed == 0


def test_an_aborted_job_never_matches_abort_dag_on() -> None:
    bench = make.Bench(make.dag("A B", aborts={"A": -1002})).begin()
    bench.take("A", 5)
    bench.take("B", 6)
    bench.tell(make.of_job(EventKind.JOB_ABORTED, 5))
    assert not bench.ever(do.Exit)


def test_held_procs_in_numbers() -> None:
    bench = make.Bench("A").begin()
    bench.take("A", 5, procs=3)
    bench.tell(make.of_job(EventKind.EXECUTE, 5, 1), make.of_job(EventKind.JOB_HELD, 5, 1))
    bench.tell(make.of_job(EventKind.JOB_HELD, 5, 2))
    assert counts(bench) == (1, 0, 2)
    bench.tell(make.of_job(EventKind.JOB_ABORTED, 5, 2))
    assert counts(bench) == (1, 0, 1)
    bench.tell(make.of_job(EventKind.JOB_RELEASED, 5, 1))
    assert counts(bench) == (2, 0, 0)
    bench.same_replay()
