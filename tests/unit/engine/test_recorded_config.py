"""Knobs that decide states are in the nodes log, if they are not at their defaults."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.state import Mode
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.vocabulary import EventKind, JournalRecord
from tests import make

TOLERANT = Config(node_job_failure_tolerance=1)
ABORTED = EventKind.JOB_ABORTED


def written(harness: make.EngineHarness) -> list[str]:
    """What the engine has written of its knobs."""
    appended = harness.ever(do.AppendJournalRecord)
    return [one.text for one in appended if one.record == JournalRecord.CONFIG]


def restarted(harness: make.EngineHarness, config: Config) -> make.EngineHarness:
    """A DAGMan with that configuration, which has read the same log."""
    other = make.EngineHarness(harness.dag, config).begin(recovering=True)
    other.now = harness.now
    other.tell(*harness.log)
    other.tell(inputs.LogCaughtUp())
    other.tell(inputs.QueueListed(other.queue()))
    return other


@pytest.mark.parametrize("config", [Config(), Config(max_jobs_idle=3, submit_depth_first=True)])
def test_a_plain_log_grows_by_nothing(config: Config) -> None:
    assert not make.harness_of("A", config).ever(do.AppendJournalRecord)


def test_it_is_the_first_in_the_log() -> None:
    harness = make.harness_of("A\nSCRIPT PRE A x", Config(always_run_post=True, allow_events=114))
    assert written(harness) == ["allow_events=114 always_run_post=1"]
    harness.read_back()
    assert written(restarted(harness, Config(always_run_post=True, allow_events=114))) == []


def test_it_is_written_once_more_if_it_is_lost() -> None:
    harness = make.harness_of("A", TOLERANT)
    harness.wait(61)
    assert written(harness) == ["node_job_failure_tolerance=1"] * 2
    assert written(restarted(harness, TOLERANT)) == ["node_job_failure_tolerance=1"]


def test_nothing_is_written_where_there_is_no_log() -> None:
    engine = Engine(make.dag("A"), TOLERANT, Throttles(), mode=Mode.DRY_RUN)
    actions = engine.handle(inputs.Begin(False), 0.0)
    assert not any(isinstance(action, do.AppendJournalRecord) for action in actions)


def test_what_has_happened_stays_though_another_configuration_is_in_force() -> None:
    harness = make.harness_of("A -> B -> C", TOLERANT)
    harness.read_back()
    harness.take("A", 1, procs=2)
    harness.tell(make.terminated(1, 0, 1), make.terminated(1, 1))
    assert harness.state("A").name == "DONE"
    other = restarted(harness, Config())
    assert other.state("A").name == "DONE"
    assert written(other) == [""]
    other.tell(*other.echo(other.all))
    other.take("B", 2, procs=2)
    other.tell(make.terminated(2, 0, 1))
    other.tell(make.of_job(ABORTED, 2, 1))
    assert other.state("B").name == "FAILED"
    for config in (TOLERANT, Config()):
        again = restarted(other, config)
        assert again.states() == "A=DONE B=FAILED C=FUTILE"


def test_who_follows_the_log_knows_it() -> None:
    harness = make.harness_of("A", TOLERANT)
    harness.read_back()
    harness.take("A", 1, procs=2)
    harness.tell(make.terminated(1, 0, 1), make.terminated(1, 1))
    engine = Engine(harness.dag, Config(), Throttles(), mode=Mode.FOLLOW)
    engine.handle(inputs.Begin(True), 0.0)
    for event in harness.log:
        engine.follow(event)
    assert engine.run.nodes.states == harness.engine.run.nodes.states


DECIDING = some.builds(
    Config,
    allow_events=some.integers(-1, 127),
    always_run_post=some.booleans(),
    munge_node_names=some.booleans(),
    node_job_failure_tolerance=some.integers(0, 99),
    put_failed_jobs_on_hold=some.booleans(),
)


@given(DECIDING, DECIDING)
def test_its_text_says_all(config: Config, other: Config) -> None:
    assert other.with_deciding(config.deciding()) == config
    assert (config.deciding() == "") == (config == Config())


@given(some.text())
def test_any_text_is_a_configuration(text: str) -> None:
    assert isinstance(TOLERANT.with_deciding(text), Config)


@pytest.mark.parametrize(
    "text", ["verbosity=7", "node_job_failure_tolerance=x", "always_run_post", "a=1 =2 b="]
)
def test_what_can_not_be_is_passed_over(text: str) -> None:
    assert TOLERANT.with_deciding(text) == Config()
