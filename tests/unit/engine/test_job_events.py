"""Events of a node's jobs: what each does, what is kept of it, and that none can do harm."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs, present_run
from condor_pydagman.engine.inputs import LogEvent, QueuedJob
from condor_pydagman.engine.jobs import JobTable, run_key
from condor_pydagman.engine.rules import BadEvent
from condor_pydagman.graph.model import Tolerance
from condor_pydagman.timers import REMOVAL_GRACE_S
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, DagStatus, EventKind, ScriptKind
from tests import make


def counts(harness: make.EngineHarness) -> tuple[int, int, int]:
    """Idle, running and held procs as published."""
    report = harness.engine.report()
    return report.procs_idle, report.procs_running, report.procs_held


def test_life_of_a_proc() -> None:
    harness = make.harness_of("A", procs=1)
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
    harness = make.harness_of("A")
    harness.run_node("A", 5, value)
    assert harness.said(text)
    assert harness.state("A").name == ("DONE" if value == 0 else "FAILED")


def test_an_aborted_job_fails_the_node() -> None:
    harness = make.harness_of("A", procs=1)
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 5, text="by hand"))
    assert harness.engine.run.nodes.values[0] == RETURN_JOB_ABORTED
    assert harness.said("was removed: by hand")
    assert harness.asked(do.Exit) == [do.Exit(1)]


def test_the_first_failing_proc_takes_the_cluster_with_it() -> None:
    harness = make.harness_of("A", procs=3)
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
    harness = make.harness_of("A", Config(remove_job_list_on_failure=False), procs=2)
    harness.tell(make.terminated(5, 0, 2))
    assert not harness.asked(do.RemoveJobs)
    assert harness.state("A").name == "SUBMITTED"
    harness.tell(make.terminated(5, 1))
    assert harness.state("A").name == "FAILED"


def test_a_late_materialising_cluster_ends_with_its_own_event() -> None:
    harness = make.harness_of("A")
    harness.tell(LogEvent(EventKind.CLUSTER_SUBMIT, 5, node="A"), inputs.Submitted(0, 5, 2))
    harness.tell(make.submit("A", 5, 0), make.terminated(5, 0))
    assert harness.state("A").name == "SUBMITTED"
    harness.tell(make.submit("A", 5, 1), make.terminated(5, 1))
    assert harness.state("A").name == "SUBMITTED"
    harness.tell(LogEvent(EventKind.CLUSTER_REMOVE, 5))
    assert harness.asked(do.Exit) == [do.Exit(0)]


@pytest.mark.parametrize("post", [False, True])
def test_doubled_events_change_nothing(post: bool) -> None:
    script = "SCRIPT POST A q" if post else ""
    harness = make.harness_of(f"A -> B\nRETRY A 2\n{script}")

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
    harness = make.harness_of("A\nRETRY A 1")
    harness.run_node("A", 5, 1)
    harness.tell(make.submit("A", 5), make.terminated(5))
    assert harness.state("A").name == "SUBMITTING"
    harness.take("A", 6)
    harness.tell(make.submit("A", 5), make.terminated(5))
    assert harness.state("A").name == "SUBMITTED"
    assert harness.engine.run.nodes.clusters[0] == 6


def test_a_late_double_of_a_submit_two_runs_back() -> None:
    """Found by the simulator (seed 11415): it was taken for the node's new job."""
    harness = make.harness_of("A\nRETRY A 2")
    harness.run_node("A", 5, 1)
    harness.run_node("A", 6, 1)
    harness.tell(make.submit("A", 5))
    assert harness.state("A").name == "SUBMITTING"


def test_a_strange_submit_event_of_a_node_that_has_a_job_is_said_and_ignored() -> None:
    harness = make.harness_of("A", procs=1)
    harness.tell(make.submit("A", 6))
    assert harness.said("unexpected submit event of job 6.0 for node A, which is SUBMITTED")
    assert harness.engine.run.nodes.clusters[0] == 5


@pytest.mark.parametrize("recovering", [False, True])
def test_a_submit_event_of_a_node_with_unfinished_parents_ends_the_run(recovering: bool) -> None:
    """At once, and nothing is thrown away: no rescue file, no removal, the lock file stays."""
    harness = make.EngineHarness("A -> B; C\nFINAL F n.sub").begin(recovering=recovering)
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
    harness = make.harness_of("A\nFINAL F n.sub", procs=1)
    harness.tell(make.submit("F", 6))
    assert harness.said("unexpected submit event of job 6.0 for node F")
    assert harness.states() == "A=SUBMITTED F=WAITING"


def test_an_execute_event_before_its_submit_event() -> None:
    harness = make.harness_of("A")
    harness.tell(inputs.Submitted(0, 5, 1), make.of_job(EventKind.EXECUTE, 5), make.submit("A", 5))
    assert counts(harness) == (0, 1, 0)
    harness.tell(make.terminated(5))
    assert harness.asked(do.Exit) == [do.Exit(0)]


# Late materialization.


def factory(commands: str = "") -> make.EngineHarness:
    """A cluster whose first two procs have been made."""
    harness = make.harness_of(f"A -> B\n{commands}")
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
    harness = make.harness_of("A -> B")
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
    harness = factory(f"SCRIPT POST A {words}")
    harness.tell(make.terminated(5, 0), make.terminated(5, 1))
    assert not harness.asked(do.RunScript)
    harness.tell(make.cluster_remove(5))
    assert " ".join(harness.asked(do.RunScript)[0].words) == "q 5.1 1 0,0 0:2 0"


@pytest.mark.parametrize("retries", [0, 1])
def test_a_factory_that_fails(retries: int) -> None:
    harness = factory(f"RETRY A {retries}")
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
    harness = make.harness_of("A")
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
    harness = make.harness_of("A -> B")
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
    harness = make.harness_of("A -> B")
    told: list[inputs.Input] = [inputs.Submitted(0, 5, 0), make.submit("A", 5, 0)]
    harness.tell(*(told if reply_first else reversed(told)))  # its event 035 is garbage
    harness.tell(make.terminated(5, 0))
    assert harness.states() == "A=SUBMITTED B=WAITING"
    harness.tell(make.submit("A", 5, 1), make.terminated(5, 1), make.cluster_remove(5))
    assert harness.states() == "A=DONE B=SUBMITTING"


@pytest.mark.parametrize("retries", [0, 1])
def test_a_factory_that_left_the_queue_before_it_had_made_all_its_procs(retries: int) -> None:
    harness = factory(f"RETRY A {retries}")
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
    harness = make.harness_of("A -> B")
    harness.tell(inputs.Submitted(0, 5, 0))
    harness.tell(make.cluster_remove(5)._replace(value=RETURN_JOB_ABORTED))
    assert harness.states() == "A=FAILED B=FUTILE"


def test_a_cluster_remove_event_of_a_cluster_that_is_no_factory() -> None:
    harness = make.harness_of("A", procs=1)
    harness.tell(make.cluster_remove(5))
    assert harness.state("A").name == "SUBMITTED"


# Several procs.


def test_a_node_is_done_when_its_last_proc_is() -> None:
    harness = make.harness_of("A -> B", procs=3)
    for proc in (2, 0):
        harness.tell(make.terminated(5, proc))
        assert harness.state("A").name == "SUBMITTED"
    harness.tell(make.terminated(5, 1))
    assert harness.submits() == ["B"]


def test_a_proc_that_the_reply_shows_is_waited_for_before_the_log_shows_it() -> None:
    harness = make.harness_of("A -> B")
    harness.tell(inputs.Submitted(0, 5, 2), make.submit("A", 5, 0), make.terminated(5, 0))
    assert harness.state("A").name == "SUBMITTED"
    harness.tell(make.submit("A", 5, 1), make.terminated(5, 1))
    assert harness.state("A").name == "DONE"


def test_a_reply_that_comes_after_the_end() -> None:
    harness = make.harness_of("A -> B")
    harness.tell(make.submit("A", 5), make.terminated(5))
    assert harness.state("A").name == "DONE"
    harness.tell(inputs.Submitted(0, 5, 1))
    assert harness.state("A").name == "DONE"
    assert harness.submits() == ["B"]
    assert harness.engine.report().procs_submitted == 1


def test_a_reply_that_comes_after_the_end_of_a_retried_node() -> None:
    harness = make.harness_of("A\nRETRY A 1")
    harness.tell(make.submit("A", 5), make.terminated(5, value=1))
    assert harness.state("A").name == "READY"
    harness.tell(inputs.Submitted(0, 5, 1))
    assert harness.submits() == ["A"]
    harness.run_node("A", 6)
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_one_proc_may_abort_the_dag_before_the_others_have_ended() -> None:
    harness = make.harness_of("A -> B\nABORT-DAG-ON A 3", procs=3)
    harness.tell(make.terminated(5, 1, 3))
    assert harness.asked(do.Exit) == [do.Exit(3)]
    assert harness.state("A").name == "SUBMITTED"
    assert harness.engine.report().failed == 0


def test_an_aborted_job_never_matches_abort_dag_on() -> None:
    harness = make.harness_of("A B\nABORT-DAG-ON A -1002", procs=1)
    harness.take("B", 6)
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 5))
    assert not harness.ever(do.Exit)


def test_held_procs_in_numbers() -> None:
    harness = make.harness_of("A", procs=3)
    harness.tell(make.of_job(EventKind.EXECUTE, 5, 1), make.of_job(EventKind.JOB_HELD, 5, 1))
    harness.tell(make.of_job(EventKind.JOB_HELD, 5, 2))
    assert counts(harness) == (1, 0, 2)
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 5, 2))
    assert counts(harness) == (1, 0, 1)
    harness.tell(make.of_job(EventKind.JOB_RELEASED, 5, 1))
    assert counts(harness) == (2, 0, 0)
    harness.same_replay()


# Events that can't be: never harmful, and fatal only to those who ask for it.


EXECUTE = make.of_job(EventKind.EXECUTE, 5)
ABORTED = make.of_job(EventKind.JOB_ABORTED, 5)
TERMINATED = make.terminated(5)
SUBMIT = make.submit("A", 5)

# What is told of a job that has been submitted, which bit of the knob that is, words for it.
CASES: dict[str, tuple[tuple[LogEvent, ...], BadEvent, str]] = {
    "submitted twice": ((SUBMIT,), BadEvent.DOUBLED, "submitted, but it had been before"),
    "terminated twice": (
        (TERMINATED, TERMINATED),
        BadEvent.TERMINATED_TWICE,
        "ended, but it had ended",
    ),
    "terminated, then aborted": (
        (TERMINATED, ABORTED),
        BadEvent.TERMINATED_AND_ABORTED,
        "ended, but it had ended",
    ),
    "aborted, then terminated": (
        (ABORTED, TERMINATED),
        BadEvent.TERMINATED_AND_ABORTED,
        "ended, but it had ended",
    ),
    "aborted twice": ((ABORTED, ABORTED), BadEvent.DOUBLED, "ended, but it had ended"),
    "runs after its end": ((TERMINATED, EXECUTE), BadEvent.RUN_AFTER_END, "runs, but it had ended"),
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def told(
    case: tuple[tuple[LogEvent, ...], BadEvent, str], allow: int, other_proc: bool
) -> make.EngineHarness:
    """A run that has been told that; other nodes, and perhaps another proc, still run."""
    config = Config(allow_events=allow, remove_job_list_on_failure=False)
    harness = make.harness_of("A; B\nRETRY A 0", config, procs=2 if other_proc else 1)
    harness.take("B", 9)
    harness.tell(*case[0])
    return harness


@every_case
@pytest.mark.parametrize("other_proc", [False, True])
@pytest.mark.parametrize("allow", [0, 1, 2, 4, 8, 16, 32, 64, 114, 127])
def test_allow_events_decides_which_bad_events_end_the_dag(
    case: tuple[tuple[LogEvent, ...], BadEvent, str], allow: int, other_proc: bool
) -> None:
    _, bad, words = case
    harness = told(case, allow, other_proc)
    mercy = allow & BadEvent.ALMOST_ANYTHING and bad is not BadEvent.RUN_AFTER_END
    if allow & bad or mercy:
        assert not harness.ever(do.Exit)
        assert harness.said(words)
        assert harness.said("ignoring it")
        harness.tell(make.terminated(9))
    else:
        assert harness.said("ERROR: aborting DAG because of bad event (BAD EVENT: job (5.0.0)")
        assert harness.ever(do.Exit) == [do.Exit(1)]
        assert harness.ever(do.WriteRescue)
        assert harness.engine.run.status is DagStatus.ERROR


@every_case
@pytest.mark.parametrize("other_proc", [False, True])
def test_by_default_no_bad_event_ends_the_dag(
    case: tuple[tuple[LogEvent, ...], BadEvent, str], other_proc: bool
) -> None:
    harness = told(case, Config().allow_events, other_proc)
    assert not harness.ever(do.Exit)
    if other_proc:
        harness.tell(make.terminated(5, 1), make.terminated(5))
    harness.tell(make.terminated(9))
    if harness.state("A").name == "SUBMITTED":
        harness.tell(TERMINATED)
    assert len(harness.ever(do.Exit)) == 1
    assert harness.engine.report().procs_completed == (3 if other_proc else 2)


@every_case
def test_counts_of_procs_are_those_without_the_bad_event(
    case: tuple[tuple[LogEvent, ...], BadEvent, str],
) -> None:
    harness = told(case, -1, True)
    report = harness.engine.report()
    assert report.procs_submitted == 3
    assert report.procs_idle >= 1
    assert report.procs_running == 0


@pytest.mark.parametrize("allow", [-1, 0, 1, 16, 114])
@pytest.mark.parametrize("event", [EXECUTE, TERMINATED, ABORTED])
def test_events_before_the_submit_event(event: LogEvent, allow: int) -> None:
    """Only for a cluster that the reply has shown, and a proc that it has not."""
    harness = make.harness_of("A; B", Config(allow_events=allow))
    harness.tell(inputs.Submitted(0, 5, 0), event)
    harness.take("B", 9)
    if allow == 0:
        assert harness.ever(do.Exit) == [do.Exit(1)]
    else:
        assert not harness.ever(do.Exit)
        assert harness.engine.run.job_table.submitted == 2


@pytest.mark.parametrize("allow", [-1, 0])
def test_a_proc_that_the_reply_has_shown_may_run_before_its_submit_event(allow: int) -> None:
    harness = make.harness_of("A; B", Config(allow_events=allow))
    harness.tell(inputs.Submitted(0, 5, 1), EXECUTE, SUBMIT)
    assert not harness.ever(do.Exit)


@pytest.mark.parametrize("allow", [-1, 0])
def test_events_of_unknown_clusters_are_no_bad_events(allow: int) -> None:
    harness = make.harness_of("A", Config(allow_events=allow), procs=1)
    harness.tell(make.terminated(77), make.of_job(EventKind.EXECUTE, 77), make.submit("Z", 78))
    assert not harness.ever(do.Exit)


@pytest.mark.parametrize("kind", [EventKind.JOB_EVICTED, EventKind.IMAGE_SIZE, EventKind.JOB_HELD])
def test_events_that_are_only_late_are_no_bad_events(kind: EventKind) -> None:
    harness = make.harness_of("A", Config(allow_events=0), procs=2)
    harness.tell(TERMINATED, make.of_job(kind, 5))
    assert not harness.ever(do.Exit)
    assert harness.engine.report().procs_idle == 1


def test_a_bad_event_in_an_old_log_ends_the_dag_when_all_of_it_is_read() -> None:
    harness = make.EngineHarness("A; B", Config(allow_events=0)).begin(recovering=True)
    harness.tell(SUBMIT, SUBMIT, make.submit("B", 9))
    assert not harness.ever(do.Exit)
    harness.tell(inputs.LogCaughtUp())
    assert harness.ever(do.Exit) == [do.Exit(1)]


def test_the_end_of_an_earlier_run_may_not_come_again() -> None:
    harness = make.harness_of("A\nRETRY A 1", Config(allow_events=0))
    harness.run_node("A", 5, value=1)
    harness.tell(make.terminated(5, value=1))
    assert harness.ever(do.Exit) == [do.Exit(1)]


def test_an_abort_that_came_first_is_not_replaced() -> None:
    made = make.dag("A B\nABORT-DAG-ON A 3")
    harness = make.EngineHarness(made, Config(allow_events=0)).begin(recovering=True)
    harness.tell(SUBMIT, make.terminated(5, value=3), TERMINATED, inputs.LogCaughtUp())
    assert harness.ever(do.Exit) == [do.Exit(3)]


def test_nothing_is_kept_of_ended_clusters_unless_somebody_asks_for_it() -> None:
    for config, kept in ((Config(), False), (Config(allow_events=114), True)):
        harness = make.harness_of("A", config)
        harness.tell(make.submit("A", 5), make.terminated(5))
        assert (harness.engine.run.job_table.ended(5, 0) is not None) == kept


@pytest.mark.parametrize("allow", [0, 4, 114])
@pytest.mark.parametrize("order", ["both twice", "each twice"])
def test_the_events_of_a_noop_are_ours_and_may_come_twice(allow: int, order: str) -> None:
    config = Config(allow_events=allow)
    harness = make.harness_of("A -> B; C\nJOB A n.sub NOOP", config)
    _, begun, ended = harness.echo(harness.last)
    harness.tell(*((begun, ended) * 2 if order == "both twice" else (begun, begun, ended, ended)))
    assert not harness.ever(do.Exit)
    assert harness.state("A").name == "DONE"
    harness.same_replay()


@pytest.mark.parametrize("allow", [0, 114])
def test_a_crash_between_the_two_events_of_a_noop(allow: int) -> None:
    harness = make.harness_of("A -> B\nJOB A n.sub NOOP", Config(allow_events=allow))
    harness.tell(*harness.echo(harness.last)[:2])
    other = harness.restart()
    other.read_back()
    assert not other.ever(do.Exit)
    assert other.states() == "A=DONE B=SUBMITTING"


def test_events_of_one_noop_after_another_has_ended() -> None:
    harness = make.harness_of("A; B; C\nJOB A n.sub NOOP\nJOB B n.sub NOOP", Config(allow_events=0))
    events = harness.echo(harness.all)
    assert len(events) == 5  # the knob that is not at its default, too
    harness.tell(*events, *events)
    assert not harness.ever(do.Exit)
    assert harness.states() == "A=DONE B=DONE C=SUBMITTING"


# The job table: what is known of clusters and their procs, whoever speaks first.


def test_reply_first_then_the_log() -> None:
    table = JobTable()
    jobs = table.open(4, 77)
    table.expect(jobs, range(2))
    assert (table.submitted, table.idle, jobs.live()) == (2, 2, [0, 1])
    assert table.submit_seen(jobs, 0)
    assert not table.submit_seen(jobs, 0)
    assert table.submitted == 2


def test_log_first_then_the_reply() -> None:
    table = JobTable()
    jobs = table.open(4, 77)
    assert table.submit_seen(jobs, 1)
    table.expect(jobs, range(2))
    assert table.submit_seen(jobs, 0)
    assert (table.submitted, jobs.job(jobs.last_proc)) == (2, "77.0.0")


def test_lower_procs_of_a_log_that_has_lost_their_submit_events_are_expected() -> None:
    """The schedd numbers them without a gap; a number out of all reason is not believed."""
    table = JobTable()
    jobs = table.open(4, 77)
    assert table.submit_seen(jobs, 2)
    assert jobs.live() == [0, 1, 2]
    assert table.submit_seen(jobs, 0)
    assert not table.submit_seen(jobs, 0)
    assert table.submit_seen(jobs, 1_000_000_000)
    assert len(jobs.live()) == 4


def test_first_failure_decides_the_value() -> None:
    table = JobTable()
    jobs = table.open(0, 5)
    table.expect(jobs, range(4))
    assert table.end(jobs, 0, 0, 0)
    assert table.end(jobs, 1, 3, 3)
    assert table.end(jobs, 2, None, -1002)
    assert not jobs.all_ended
    assert table.end(jobs, 3, -9, -9)
    assert jobs.all_ended
    assert (jobs.value, jobs.failed, table.completed) == (3, 3, 4)
    assert jobs.codes == {0: 0, 1: 3, 2: None, 3: -9}


def test_a_second_end_changes_nothing() -> None:
    table = JobTable()
    jobs = table.open(0, 5)
    table.submit_seen(jobs, 0)
    assert table.end(jobs, 0, 0, 0)
    assert not table.end(jobs, 0, 1, 1)
    table.set_idle(jobs, 0, True)
    table.set_held(jobs, 0, True)
    assert (table.idle, table.held, jobs.value, table.completed) == (0, 0, 0, 1)


def test_idle_and_held_are_counted_once() -> None:
    table = JobTable()
    jobs = table.open(0, 5)
    table.submit_seen(jobs, 0)
    table.set_idle(jobs, 0, False)
    table.set_idle(jobs, 0, False)
    assert table.idle == 0
    for _ in range(2):
        table.set_idle(jobs, 0, True)
        table.set_held(jobs, 0, True)
    assert (table.idle, table.held) == (1, 1)
    table.end(jobs, 0, None, -1002)
    assert (table.idle, table.held) == (0, 0)


def test_a_proc_whose_submit_event_is_missing_is_added() -> None:
    table = JobTable()
    jobs = table.open(0, 5)
    table.set_idle(jobs, 2, False)
    assert (table.submitted, table.idle) == (1, 0)


def test_close_makes_events_nobodys_and_forget_drops_the_rest() -> None:
    table = JobTable()
    table.open(3, 5)
    assert table.by_cluster == {5: 3}
    table.close(3)
    assert table.by_cluster == {}
    assert 3 in table.by_node
    table.forget(3)
    table.forget(3)
    assert table.by_node == {}


def test_a_noop_has_no_cluster() -> None:
    table = JobTable()
    table.open(3, 0)
    assert table.by_cluster == {}


def test_a_proc_that_runs_is_not_on_hold() -> None:
    table = JobTable()
    jobs = table.open(0, 5)
    table.submit_seen(jobs, 0)
    table.set_held(jobs, 0, True)
    table.set_idle(jobs, 0, False)
    assert (table.idle, table.held) == (0, 0)


def test_run_keys_tell_runs_of_a_noop_node_apart() -> None:
    assert run_key(5, 0) == 5
    assert run_key(0, 1) != run_key(0, 2)


def test_the_procs_of_a_cluster_that_are_on_hold_are_counted() -> None:
    table = JobTable()
    one, other = table.open(0, 5), table.open(1, 6)
    for proc in range(3):
        table.set_held(one, proc, True)
    table.set_held(other, 0, True)
    table.set_held(one, 0, True)
    assert (one.held, other.held, table.held) == (3, 1, 4)
    table.set_held(one, 0, False)
    table.set_held(one, 0, False)
    table.set_idle(one, 1, False)
    table.end(one, 2, None, -1002)
    table.set_held(one, 2, True)
    assert (one.held, other.held, table.held) == (0, 1, 1)


# Which jobs are of the present run of a node.


def test_jobs_of_another_retry_are_not_of_the_present_run() -> None:
    harness = make.harness_of("A\nRETRY A 1", procs=1)
    harness.tell(make.terminated(5, value=1))
    run, jobs = harness.engine.run, [QueuedJob(5, 0, "A", 0), QueuedJob(6, 0, "A", 1)]
    assert present_run.of_present_run(run, 0, jobs) == jobs[1:]
    assert present_run.is_of_previous_run(run, 0, 5)
    assert not present_run.is_of_previous_run(run, 0, 6)


def test_of_several_clusters_the_one_that_stays() -> None:
    jobs = [QueuedJob(5, 0, "A", 0), QueuedJob(6, 0, "A", 0, leaving=True)]
    assert present_run.best_cluster(jobs, []) == 5
    assert present_run.best_cluster([], []) is None
    assert not present_run.is_shared(jobs, 5)
