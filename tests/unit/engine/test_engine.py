"""Whole runs of the engine: order, retries, recovery, size; all its inputs and actions."""

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
from condor_pydagman.engine.inputs import QueueListed
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.graph.model import DONE, NOOP, Dag
from condor_pydagman.vocabulary import EventKind
from tests import make

STARTERS = (do.SubmitNode, do.RunScript, do.AppendNoop, do.AppendJournalRecord, do.RemoveJobs)


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


def busy() -> make.EngineHarness:
    """A run in the middle of things: nodes in as many states as possible."""
    made = make.dag("""
        R -> A B C D E; S; T; U; V
        JOB E n.sub NOOP
        SCRIPT PRE A p
        SCRIPT PRE B p
        SCRIPT POST C q
        SCRIPT POST D q
        SCRIPT POST T q
        SCRIPT PRE U p
        RETRY D 2
        RETRY T 1
        PRE_SKIP U 4
    """)
    harness = make.EngineHarness(made, limits=Throttles(pre=2)).begin()
    harness.run_node("R", 1)
    for name, cluster in (("S", 2), ("T", 3), ("V", 4), ("C", 5), ("D", 6)):
        harness.take(name, cluster)
    harness.tell(make.noop("E", 1)[0], make.noop("E", 1)[1])
    harness.pre_ends("U", 4)
    harness.pre_ends("A", 0)
    harness.tell(make.terminated(3, value=1), make.terminated(5), make.terminated(6, value=2))
    harness.post_ends("D", 1)
    harness.post_ends("T", 0)
    return harness


def test_replay_of_the_log_gives_the_states_of_the_live_engine() -> None:
    harness = busy()
    assert harness.states() == (
        "R=DONE A=SUBMITTING B=PRE_RUN C=POST_RUN D=READY E=DONE S=SUBMITTED T=DONE U=DONE"
        " V=SUBMITTED"
    )
    replayed = harness.replay()
    assert replayed.states() == (
        "R=DONE A=READY B=PRE_WAIT C=POST_WAIT D=READY E=DONE S=SUBMITTED T=DONE U=DONE V=SUBMITTED"
    )
    assert replayed.engine.run.nodes.retries == harness.engine.run.nodes.retries == {4: 1}
    assert replayed.engine.run.nodes.clusters == harness.engine.run.nodes.clusters


@pytest.mark.parametrize("cut", range(0, 40, 3))
def test_a_log_may_end_anywhere(cut: int) -> None:
    """Wherever an old log ends, the replay starts nothing, and can be gone on with."""
    harness = busy()
    other = make.EngineHarness(harness.dag).begin(recovering=True)
    other.tell(*harness.log[:cut])
    assert not [action for action in other.all if isinstance(action, STARTERS)]
    other.tell(inputs.LogCaughtUp(), QueueListed([]))
    assert other.engine.run.phase is Phase.RUNNING
    assert not other.asked(do.Exit)


def test_publish_when_something_moved_and_only_then() -> None:
    harness = make.harness_of("A")
    assert harness.last[-1] == do.Publish()
    assert harness.wait(1.0) == []


def test_same_inputs_same_actions() -> None:
    assert busy().all == busy().all


def test_states_are_counted_right_from_the_start() -> None:
    assert make.EngineHarness("A B").engine.run.nodes.counts[State.WAITING] == 2


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
