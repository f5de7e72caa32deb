"""Long chains, what is worth publishing, an engine that has ended; actions as values."""

from __future__ import annotations

import inspect
import sys
from typing import get_args

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.graph.model import DONE, NOOP, Dag
from condor_pydagman.vocabulary import EventKind
from tests import make


def chain(length: int, flag: int) -> Dag:
    made = Dag(files=["t.dag"])
    for number in range(length):
        made.add_node(f"N{number}", "n.sub", flags=flag)
    for number in range(length - 1):
        made.add_edges([number], [number + 1])
    made.finish()
    return made


def test_a_chain_of_100000_done_nodes_does_not_recurse() -> None:
    made = chain(100_000, DONE)
    assert len(made) > sys.getrecursionlimit()
    engine = Engine(made, Config(), Throttles())
    assert do.Exit(0) in engine.handle(inputs.Begin(False), 0.0)


def test_a_long_chain_of_noops_does_not_recurse() -> None:
    made = chain(2_000, NOOP)
    engine = Engine(made, Config(), Throttles())
    todo = engine.handle(inputs.Begin(False), 0.0)
    told = 0
    while not any(isinstance(action, do.Exit) for action in todo):
        events = [event for action in todo for event in make.appended(made, action)]
        todo = [action for event in events for action in engine.handle(event, 0.0)]
        told += len(events)
    assert told == 4_000


def test_a_failure_above_a_long_chain_does_not_recurse() -> None:
    engine = Engine(chain(20_000, 0), Config(), Throttles())
    engine.handle(inputs.Begin(False), 0.0)
    engine.handle(inputs.Submitted(0, 1, 1), 0.0)
    engine.handle(make.submit("N0", 1), 0.0)
    assert do.WriteRescue() in engine.handle(make.terminated(1, value=1), 0.0)
    assert engine.report().futile == 19_999


def test_publish_when_something_moved_and_only_then() -> None:
    harness = make.harness_of("A")
    assert harness.last[-1] == do.Publish()
    assert harness.wait(1.0) == []


def test_a_proc_that_starts_to_run_is_worth_publishing() -> None:
    harness = make.harness_of("A", procs=1)
    harness.tell(make.of_job(EventKind.EXECUTE, 5))
    assert harness.asked(do.Publish) == [do.Publish()]
    harness.tell(make.of_job(EventKind.IMAGE_SIZE, 5))
    assert not harness.asked(do.Publish)


# An ended engine hears nothing.


@pytest.mark.parametrize(
    "an_input",
    [
        make.submit("A", 5),
        inputs.LogCaughtUp(),
        inputs.LogBroken("gone"),
        inputs.Submitted(0, 5, 1),
        inputs.SubmitFailed(0, "no", permanent=True),
        inputs.QueueListed([]),
        inputs.QueueUnknown("no"),
        inputs.AppendFailed("full"),
        inputs.DagRemoved(),
        inputs.Shutdown("bye"),
        inputs.Wake(),
    ],
)
def test_an_ended_engine_ignores_all_inputs(an_input: inputs.Input) -> None:
    harness = make.harness_of("A")
    harness.tell(inputs.Shutdown("bye"))
    assert harness.engine.run.phase is Phase.ENDED
    assert harness.tell(an_input) == []
    assert harness.engine.next_deadline() is None


# Actions are plain values, all named in the union that adapters go by.


def test_every_action_is_in_the_union() -> None:
    classes = {
        one for _, one in inspect.getmembers(do, inspect.isclass) if one.__module__ == do.__name__
    }
    assert classes == set(get_args(do.Action))


def test_actions_are_values() -> None:
    assert do.RemoveJobs("why") == do.RemoveJobs("why", 0)
    assert len({do.Exit(1), do.Exit(1, False), do.Exit(1, True)}) == 2


def test_it_rests_while_the_dag_runs_and_nothing_is_asked_or_decided() -> None:
    harness = make.EngineHarness("JOB A a.sub\n")
    assert not harness.engine.rests
    harness.begin().take("A", 1)
    assert harness.engine.rests
    harness.tell(inputs.DagRemoved())
    assert not harness.engine.rests
