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
from condor_pydagman.vocabulary import EventKind, JournalRecord, ScriptKind
from tests import make

STARTERS = (do.SubmitNode, do.RunScript, do.AppendNoop, do.AppendJournalRecord, do.RemoveJobs)


def test_a_diamond_a_child_is_submitted_in_the_pass_that_read_its_parents_end() -> None:
    harness = make.harness_of("A -> B C -> D")
    assert harness.submits() == ["A"]
    harness.take("A", 1)
    harness.tell(make.terminated(1))
    assert harness.submits() == ["B"]
    harness.take("B", 2)
    assert harness.submits() == ["C"]
    harness.take("C", 3)
    harness.tell(make.terminated(2))
    assert not harness.submits()
    harness.tell(make.terminated(3))
    assert harness.submits() == ["D"]
    harness.run_node("D", 4)
    assert harness.asked(do.Exit) == [do.Exit(0)]


@pytest.mark.parametrize(
    ("values", "end"),
    [([0], "DONE"), ([1, 0], "DONE"), ([1, 1, 0], "DONE"), ([1, 1, 1], "FAILED")],
)
def test_retries(values: list[int], end: str) -> None:
    harness = make.harness_of("A -> B\nRETRY A 2")
    for cluster, value in enumerate(values, 1):
        assert harness.state("A").name == "SUBMITTING"
        harness.run_node("A", cluster, value)
    assert harness.state("A").name == end
    assert [s.retry for s in harness.ever(do.SubmitNode) if s.node == 0] == list(range(len(values)))
    if end == "FAILED":
        assert harness.engine.run.nodes.errors[0].endswith(
            "failed with status 1 (after 2 node retries)"
        )


def test_unless_exit_ends_retries_and_makes_no_node_futile() -> None:
    harness = make.harness_of("A -> B\nRETRY A 5 UNLESS-EXIT 2")
    harness.run_node("A", 1, 1)
    harness.run_node("A", 2, 2)
    assert harness.states() == "A=FAILED B=WAITING"  # stock: what waits stays NOT_READY
    assert harness.said("Aborting further retries of node A (last attempt returned 2)")
    assert harness.asked(do.Exit) == [do.Exit(1)]


def test_done_nodes_count_and_let_their_children_start() -> None:
    harness = make.harness_of("A -> B -> C\nDONE A")
    assert harness.said("Number of pre-completed nodes: 1")
    assert harness.submits() == ["B"]


def test_a_done_node_below_one_that_is_not_is_warned_of() -> None:
    harness = make.harness_of("A -> B -> C\nDONE B")
    assert harness.said("Node B was marked as done even though parent nodes aren't complete")
    assert harness.submits() == ["A"]
    assert harness.state("C").name == "READY"
    harness.run_node("A", 1)
    harness.run_node("C", 2)
    assert harness.asked(do.Exit) == [do.Exit(0)]


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


def test_numbers_of_noop_events_go_on_after_recovery() -> None:
    harness = make.EngineHarness("A -> B\nJOB A n.sub NOOP\nJOB B n.sub NOOP").begin(
        recovering=True
    )
    harness.tell(*make.noop("A", 4), inputs.LogCaughtUp(), QueueListed([]))
    assert harness.asked(do.AppendNoop) == [do.AppendNoop(1, 5)]


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


def test_pending_work_is_not_dispatched_until_the_schedd_has_been_asked() -> None:
    replayed = busy().replay()
    assert not [action for action in replayed.all if isinstance(action, STARTERS)]
    assert replayed.engine.next_deadline() is None
    assert replayed.engine.report().in_recovery
    replayed.tell(inputs.LogCaughtUp())
    assert replayed.asked(do.QueryQueue)
    assert not [action for action in replayed.all if isinstance(action, STARTERS)]
    jobs = [inputs.QueuedJob(2, 0, "S", 0), inputs.QueuedJob(4, 0, "V", 0)]
    replayed.tell(QueueListed(jobs))
    scripts = [(run.kind, replayed.dag.names[run.node]) for run in replayed.asked(do.RunScript)]
    assert scripts == [(ScriptKind.PRE, "B"), (ScriptKind.POST, "C")]
    assert replayed.submits() == ["A"]


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


def test_recovery_of_a_removal_of_the_rest_asks_for_it_again() -> None:
    harness = make.harness_of("A", procs=2)
    harness.tell(make.terminated(5, 0, 1))
    replayed = harness.replay()
    assert not replayed.ever(do.RemoveJobs)
    replayed.tell(inputs.LogCaughtUp(), QueueListed([inputs.QueuedJob(5, 1, "A", 0)]))
    assert [action.cluster for action in replayed.asked(do.RemoveJobs)] == [5]


def test_recovery_of_a_failed_submit() -> None:
    harness = make.harness_of("A -> B\nRETRY A 3")
    harness.tell(inputs.SubmitFailed(0, "no", permanent=True))
    harness.tell(*harness.echo(harness.last))
    assert harness.replay().states() == "A=FAILED B=FUTILE"


def test_a_log_of_stock_dagman_has_no_records_of_pre_scripts() -> None:
    harness = make.EngineHarness("A\nSCRIPT PRE A p").begin(recovering=True)
    harness.tell(make.submit("A", 5), make.terminated(5), inputs.LogCaughtUp(), QueueListed([]))
    assert harness.asked(do.Exit) == [do.Exit(0)]
    assert not harness.ever(do.RunScript)


def test_a_pre_script_whose_success_is_in_the_log_does_not_run_again() -> None:
    harness = make.EngineHarness("A\nSCRIPT PRE A p").begin(recovering=True)
    harness.tell(make.record(JournalRecord.PRE_ENDED, "A"), inputs.LogCaughtUp(), QueueListed([]))
    assert harness.submits() == ["A"]
    assert not harness.ever(do.RunScript)


def test_an_empty_old_log() -> None:
    harness = make.EngineHarness("A").begin(recovering=True)
    harness.tell(inputs.LogCaughtUp(), QueueListed([]))
    assert harness.submits() == ["A"]


def test_publish_when_something_moved_and_only_then() -> None:
    harness = make.harness_of("A")
    assert harness.last[-1] == do.Publish()
    assert harness.wait(1.0) == []


def test_a_dag_with_nothing_to_do_has_no_deadline() -> None:
    harness = make.harness_of("A", make.QUIET)
    harness.take("A", 1)
    assert harness.engine.next_deadline() is None


def test_what_is_awaited_is_told_after_a_long_silence() -> None:
    harness = make.harness_of("A -> B", Config(check_queue_interval=0))
    harness.take("A", 1)
    assert harness.engine.next_deadline() == 1600.0
    harness.wait(600.0)
    assert harness.said("600 seconds since last log event")
    assert harness.said("  Node A, HTCondor ID 1, status STATUS_SUBMITTED")
    assert harness.engine.next_deadline() == 2200.0


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
