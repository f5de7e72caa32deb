"""Events that can't be: never harmful, and fatal only to those who ask for it."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.decisions import BadEvent
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.vocabulary import DagStatus, EventKind
from tests import make

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
    harness = make.EngineHarness(make.dag("A; B", retries={"A": 0}), config).begin()
    harness.take("A", 5, procs=2 if other_proc else 1)
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
    harness = make.EngineHarness("A; B", Config(allow_events=allow)).begin()
    harness.tell(inputs.Submitted(0, 5, 0), event)
    harness.take("B", 9)
    if allow == 0:
        assert harness.ever(do.Exit) == [do.Exit(1)]
    else:
        assert not harness.ever(do.Exit)
        assert harness.engine.run.job_table.submitted == 2


@pytest.mark.parametrize("allow", [-1, 0])
def test_a_proc_that_the_reply_has_shown_may_run_before_its_submit_event(allow: int) -> None:
    harness = make.EngineHarness("A; B", Config(allow_events=allow)).begin()
    harness.tell(inputs.Submitted(0, 5, 1), EXECUTE, SUBMIT)
    assert not harness.ever(do.Exit)


@pytest.mark.parametrize("allow", [-1, 0])
def test_events_of_unknown_clusters_are_no_bad_events(allow: int) -> None:
    harness = make.EngineHarness("A", Config(allow_events=allow)).begin()
    harness.take("A", 5)
    harness.tell(make.terminated(77), make.of_job(EventKind.EXECUTE, 77), make.submit("Z", 78))
    assert not harness.ever(do.Exit)


@pytest.mark.parametrize("kind", [EventKind.JOB_EVICTED, EventKind.IMAGE_SIZE, EventKind.JOB_HELD])
def test_events_that_are_only_late_are_no_bad_events(kind: EventKind) -> None:
    harness = make.EngineHarness("A", Config(allow_events=0)).begin()
    harness.take("A", 5, procs=2)
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
    harness = make.EngineHarness(make.dag("A", retries={"A": 1}), Config(allow_events=0)).begin()
    harness.run_node("A", 5, value=1)
    harness.tell(make.terminated(5, value=1))
    assert harness.ever(do.Exit) == [do.Exit(1)]


def test_an_abort_that_came_first_is_not_replaced() -> None:
    made = make.dag("A B", aborts={"A": 3})
    harness = make.EngineHarness(made, Config(allow_events=0)).begin(recovering=True)
    harness.tell(SUBMIT, make.terminated(5, value=3), TERMINATED, inputs.LogCaughtUp())
    assert harness.ever(do.Exit) == [do.Exit(3)]


def test_nothing_is_kept_of_ended_clusters_unless_somebody_asks_for_it() -> None:
    for config, kept in ((Config(), False), (Config(allow_events=114), True)):
        harness = make.EngineHarness("A", config).begin()
        harness.tell(make.submit("A", 5), make.terminated(5))
        assert (harness.engine.run.job_table.ended(5, 0) is not None) == kept


@pytest.mark.parametrize("allow", [0, 4, 114])
@pytest.mark.parametrize("order", ["both twice", "each twice"])
def test_the_events_of_a_noop_are_ours_and_may_come_twice(allow: int, order: str) -> None:
    config = Config(allow_events=allow)
    harness = make.EngineHarness(make.dag("A -> B; C", noop="A"), config).begin()
    begun, ended = harness.echo(harness.last)
    harness.tell(*((begun, ended) * 2 if order == "both twice" else (begun, begun, ended, ended)))
    assert not harness.ever(do.Exit)
    assert harness.state("A").name == "DONE"
    harness.same_replay()


@pytest.mark.parametrize("allow", [0, 114])
def test_a_crash_between_the_two_events_of_a_noop(allow: int) -> None:
    harness = make.EngineHarness(make.dag("A -> B", noop="A"), Config(allow_events=allow)).begin()
    harness.tell(harness.echo(harness.last)[0])
    other = harness.restart()
    other.read_back()
    assert not other.ever(do.Exit)
    assert other.states() == "A=DONE B=SUBMITTING"


def test_events_of_one_noop_after_another_has_ended() -> None:
    harness = make.EngineHarness(make.dag("A; B; C", noop="A B"), Config(allow_events=0)).begin()
    events = harness.echo(harness.all)
    assert len(events) == 4
    harness.tell(*events, *events)
    assert not harness.ever(do.Exit)
    assert harness.states() == "A=DONE B=DONE C=SUBMITTING"
