"""Events of a node's jobs: what each does, what is kept of it, and that none can do harm."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs, present_run
from condor_pydagman.engine.inputs import LogEvent, QueuedJob
from condor_pydagman.engine.jobs import JobTable, run_key
from condor_pydagman.engine.rules import BadEvent
from condor_pydagman.vocabulary import DagStatus, EventKind
from tests import make

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


@pytest.mark.parametrize("shared", [False, True])
def test_a_submit_event_that_names_no_node(*, shared: bool) -> None:
    """Half of it may be lost on a full disk.  The schedd's reply has told whose it is; who recovers
    must know too, or the node's POST script and its children come from nowhere."""
    harness = make.harness_of("A -> B\nSCRIPT POST A post")
    event = make.submit("", 5, 3 if shared else 0)
    harness.happens(inputs.Submitted(0, 5, 1, 3 if shared else None), event)
    harness.happens(make.terminated(5, 3 if shared else 0))
    harness.post_ends("A")
    harness.take("B", 6)
    assert harness.same_replay().states() == "A=DONE B=SUBMITTED"


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
