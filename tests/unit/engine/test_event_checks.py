"""Events that can't be: never harmful, and fatal only to those who ask for it."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.event_checks import Bad
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.vocabulary import DagStatus, EventKind
from tests import make

EXECUTE = make.of_job(EventKind.EXECUTE, 5)
ABORTED = make.of_job(EventKind.JOB_ABORTED, 5)
TERMINATED = make.terminated(5)
SUBMIT = make.submit("A", 5)

# What is told of a job that has been submitted, which bit of the knob that is, words for it.
STORIES: dict[str, tuple[tuple[LogEvent, ...], Bad, str]] = {
    "submitted twice": ((SUBMIT,), Bad.DOUBLED, "submitted, but it had been before"),
    "terminated twice": ((TERMINATED, TERMINATED), Bad.TERMINATED_TWICE, "ended, but it had ended"),
    "terminated, then aborted": (
        (TERMINATED, ABORTED),
        Bad.TERMINATED_AND_ABORTED,
        "ended, but it had ended",
    ),
    "aborted, then terminated": (
        (ABORTED, TERMINATED),
        Bad.TERMINATED_AND_ABORTED,
        "ended, but it had ended",
    ),
    "aborted twice": ((ABORTED, ABORTED), Bad.DOUBLED, "ended, but it had ended"),
    "runs after its end": ((TERMINATED, EXECUTE), Bad.RUN_AFTER_END, "runs, but it had ended"),
}
every_story = pytest.mark.parametrize("story", STORIES.values(), ids=STORIES.keys())


def told(story: tuple[tuple[LogEvent, ...], Bad, str], allow: int, other_proc: bool) -> make.Bench:
    """A run that has been told that; other nodes, and perhaps another proc, still run."""
    config = Config(allow_events=allow, remove_job_list_on_failure=False)
    bench = make.Bench(make.dag("A; B", retries={"A": 0}), config).begin()
    bench.take("A", 5, procs=2 if other_proc else 1)
    bench.take("B", 9)
    bench.tell(*story[0])
    return bench


@every_story
@pytest.mark.parametrize("other_proc", [False, True])
@pytest.mark.parametrize("allow", [0, 1, 2, 4, 8, 16, 32, 64, 114, 127])
def test_the_knob(
    story: tuple[tuple[LogEvent, ...], Bad, str], allow: int, other_proc: bool
) -> None:
    _, bad, words = story
    bench = told(story, allow, other_proc)
    mercy = allow & Bad.ALMOST_ANYTHING and bad is not Bad.RUN_AFTER_END
    if allow & bad or mercy:
        assert not bench.ever(do.Exit)
        assert bench.said(words)
        assert bench.said("ignoring it")
        bench.tell(make.terminated(9))
    else:
        assert bench.said("ERROR: aborting DAG because of bad event (BAD EVENT: job (5.0.0)")
        assert bench.ever(do.Exit) == [do.Exit(1)]
        assert bench.ever(do.WriteRescue)
        assert bench.engine.status is DagStatus.ERROR


@every_story
@pytest.mark.parametrize("other_proc", [False, True])
def test_unset_nothing_ends_the_dag(
    story: tuple[tuple[LogEvent, ...], Bad, str], other_proc: bool
) -> None:
    bench = told(story, Config().allow_events, other_proc)
    assert not bench.ever(do.Exit)
    if other_proc:
        bench.tell(make.terminated(5, 1), make.terminated(5))
    bench.tell(make.terminated(9))
    if bench.state("A").name == "SUBMITTED":
        bench.tell(TERMINATED)
    assert len(bench.ever(do.Exit)) == 1
    assert bench.engine.report().procs_completed == (3 if other_proc else 2)


@every_story
def test_counts_of_procs_are_those_without_the_bad_event(
    story: tuple[tuple[LogEvent, ...], Bad, str],
) -> None:
    bench = told(story, -1, True)
    report = bench.engine.report()
    assert report.procs_submitted == 3
    assert report.procs_idle >= 1
    assert report.procs_running == 0


@pytest.mark.parametrize("allow", [-1, 0, 1, 16, 114])
@pytest.mark.parametrize("event", [EXECUTE, TERMINATED, ABORTED])
def test_before_its_submit_event(event: LogEvent, allow: int) -> None:
    """Only for a cluster that the reply has shown, and a proc that it has not."""
    bench = make.Bench("A; B", Config(allow_events=allow)).begin()
    bench.tell(inputs.Submitted(0, 5, 0), event)
    bench.take("B", 9)
    if allow == 0:
        assert bench.ever(do.Exit) == [do.Exit(1)]
    else:
        assert not bench.ever(do.Exit)
        assert bench.engine.book.submitted == 2


@pytest.mark.parametrize("allow", [-1, 0])
def test_a_proc_that_the_reply_has_shown_may_run_before_its_submit_event(allow: int) -> None:
    bench = make.Bench("A; B", Config(allow_events=allow)).begin()
    bench.tell(inputs.Submitted(0, 5, 1), EXECUTE, SUBMIT)
    assert not bench.ever(do.Exit)


@pytest.mark.parametrize("allow", [-1, 0])
def test_events_of_strangers_are_no_bad_events(allow: int) -> None:
    bench = make.Bench("A", Config(allow_events=allow)).begin()
    bench.take("A", 5)
    bench.tell(make.terminated(77), make.of_job(EventKind.EXECUTE, 77), make.submit("Z", 78))
    assert not bench.ever(do.Exit)


@pytest.mark.parametrize("kind", [EventKind.JOB_EVICTED, EventKind.IMAGE_SIZE, EventKind.JOB_HELD])
def test_events_that_are_only_late_are_no_bad_events(kind: EventKind) -> None:
    bench = make.Bench("A", Config(allow_events=0)).begin()
    bench.take("A", 5, procs=2)
    bench.tell(TERMINATED, make.of_job(kind, 5))
    assert not bench.ever(do.Exit)
    assert bench.engine.report().procs_idle == 1


def test_a_bad_event_in_an_old_log_ends_the_dag_when_all_of_it_is_read() -> None:
    bench = make.Bench("A; B", Config(allow_events=0)).begin(recovering=True)
    bench.tell(SUBMIT, SUBMIT, make.submit("B", 9))
    assert not bench.ever(do.Exit)
    bench.tell(inputs.LogCaughtUp())
    assert bench.ever(do.Exit) == [do.Exit(1)]


def test_the_end_of_an_earlier_run_may_not_come_again() -> None:
    bench = make.Bench(make.dag("A", retries={"A": 1}), Config(allow_events=0)).begin()
    bench.run_node("A", 5, value=1)
    bench.tell(make.terminated(5, value=1))
    assert bench.ever(do.Exit) == [do.Exit(1)]


def test_an_abort_that_came_first_is_not_replaced() -> None:
    made = make.dag("A B", aborts={"A": 3})
    bench = make.Bench(made, Config(allow_events=0)).begin(recovering=True)
    bench.tell(SUBMIT, make.terminated(5, value=3), TERMINATED, inputs.LogCaughtUp())
    assert bench.ever(do.Exit) == [do.Exit(3)]


def test_nothing_is_kept_of_ended_clusters_unless_somebody_asks_for_it() -> None:
    assert make.Bench("A").engine.book.ended is None
    assert make.Bench("A", Config(allow_events=114)).engine.book.ended == {}


@pytest.mark.parametrize("allow", [0, 4, 114])
@pytest.mark.parametrize("order", ["both twice", "each twice"])
def test_the_events_of_a_noop_are_ours_and_may_come_twice(allow: int, order: str) -> None:
    config = Config(allow_events=allow)
    bench = make.Bench(make.dag("A -> B; C", noop="A"), config).begin()
    begun, ended = bench.echo(bench.last)
    bench.tell(*((begun, ended) * 2 if order == "both twice" else (begun, begun, ended, ended)))
    assert not bench.ever(do.Exit)
    assert bench.state("A").name == "DONE"
    bench.same_replay()


@pytest.mark.parametrize("allow", [0, 114])
def test_a_crash_between_the_two_events_of_a_noop(allow: int) -> None:
    bench = make.Bench(make.dag("A -> B", noop="A"), Config(allow_events=allow)).begin()
    bench.tell(bench.echo(bench.last)[0])
    other = bench.restart()
    other.read_back()
    assert not other.ever(do.Exit)
    assert other.states() == "A=DONE B=SUBMITTING"


def test_events_of_one_noop_after_another_has_ended() -> None:
    bench = make.Bench(make.dag("A; B; C", noop="A B"), Config(allow_events=0)).begin()
    events = bench.echo(bench.all)
    assert len(events) == 4
    bench.tell(*events, *events)
    assert not bench.ever(do.Exit)
    assert bench.states() == "A=DONE B=DONE C=SUBMITTING"
