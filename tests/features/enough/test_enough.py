"""ENOUGH: what it counts, when it is reached, what becomes of the rest, after restarts as well."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.node_states import UNWANTED, State
from condor_pydagman.engine.state import Mode
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.features.enough.commands import Enough, EnoughsOfDag
from condor_pydagman.features.enough.counts import FOLLOWS, EnoughCounts
from condor_pydagman.features.run_if.run import EvaluateConditions
from condor_pydagman.features.steering.run import NodesSteered
from condor_pydagman.features.steering.steer_commands import NodeCommand
from condor_pydagman.graph.model import Dag, Tolerance
from condor_pydagman.timers import CONFIRM_TIMEOUT_S
from condor_pydagman.vocabulary import EventKind, ScriptKind
from tests import make
from tests.make import QUIET
from tests.unit.engine.decided import Decided

ALL = "ENOUGH ALL_NODES 2"
FIVE = "A B C D E"
MERGED = "A B C D -> M"


def dag_of(enoughs: str, text: str = FIVE) -> Dag:
    """A DAG with these ENOUGH commands."""
    return make.dag(f"{text}\n{enoughs}")


class EnoughDag(Decided):
    """Checks after each step that a replay comes to the same, but for what is on its way."""

    def replayed(self) -> str:
        other = self.replay()
        other.tell(inputs.LogCaughtUp())
        mine, its = self.engine.run, other.engine.run
        for node, name in enumerate(self.dag.names):
            live, on_its_way = make.LOGGED.get(self.state(name), self.state(name)), State.WAITING
            if mine.nodes.marks[node] & UNWANTED and self.state(name) in (
                *(State.SUBMITTING, State.PRE_RUN, State.READY, State.PRE_WAIT),
            ):
                live = on_its_way
            assert live == other.state(name), (name, other.states())
        assert list(mine.nodes.waiting) == list(its.nodes.waiting)
        assert mine.nodes.retries == its.nodes.retries
        assert mine.nodes.errors == its.nodes.errors
        live_enough, again = mine.features["enough"], its.features["enough"]
        assert live_enough.unwanted == again.unwanted
        assert live_enough.reached == again.reached
        assert live_enough.counts.not_needed == again.counts.not_needed
        assert live_enough.counts.done == again.counts.done
        return other.states()


def running(enoughs: str, text: str = FIVE) -> EnoughDag:
    """Every node that may start has a job: A has cluster 1, and so on."""
    harness = EnoughDag(dag_of(enoughs, text), QUIET)
    harness.files = {}
    harness.begin()
    take_all(harness)
    return harness


def take_all(harness: make.EngineHarness) -> None:
    for number, name in enumerate(harness.dag.names, 1):
        if harness.state(name) == State.SUBMITTING:
            harness.take(name, number)


def done(harness: EnoughDag, *clusters: int, value: int = 0) -> list[do.Action]:
    """Jobs end, and what DAGMan writes comes back."""
    harness.tell(*(make.terminated(cluster, value=value) for cluster in clusters))
    return harness.settle()


def removed(harness: make.EngineHarness) -> list[int]:
    return [action.cluster for action in harness.ever(do.RemoveJobs)]


def aborted(harness: EnoughDag, *clusters: int) -> list[do.Action]:
    harness.tell(*(make.of_job(EventKind.JOB_ABORTED, cluster) for cluster in clusters))
    return harness.settle()


def unneeded(harness: make.EngineHarness) -> str:
    found = harness.engine.run.features["enough"].counts.not_needed
    return " ".join(harness.dag.names[node] for node in sorted(found))


def exit_code(harness: make.EngineHarness) -> int:
    (found,) = harness.ever(do.Exit)
    return found.code


def records(harness: make.EngineHarness, kind: str) -> list[do.AppendJournalRecord]:
    return [one for one in harness.ever(do.AppendJournalRecord) if one.record == kind]


def test_what_is_left_is_removed() -> None:
    harness = running(ALL)
    done(harness, 1)
    assert not records(harness, "ENOUGH")
    done(harness, 3)
    assert removed(harness) == [2, 4, 5]
    assert harness.said("ENOUGH ALL_NODES 2: 2 of 5 nodes are done: 3 that are left are removed")
    aborted(harness, 2, 4, 5)
    assert unneeded(harness) == "B D E"
    assert exit_code(harness) == 0
    assert harness.said("All jobs Completed!")


def test_nothing_starts_before_the_record_is_read_back() -> None:
    harness = EnoughDag(dag_of(ALL), QUIET, Throttles(jobs=2))
    harness.files = {}
    harness.begin()
    harness.run_node("A", 1)
    harness.tell(*harness.echo(harness.last))
    harness.run_node("B", 2)
    (record,) = records(harness, "ENOUGH")
    assert not harness.asked(do.SubmitNode)
    assert harness.state("C") == State.SUBMITTING  # it was on its way
    harness.wait(CONFIRM_TIMEOUT_S)
    assert harness.asked(do.AppendJournalRecord) == [record]


@pytest.mark.parametrize("taken", [True, False])
def test_a_submission_that_was_on_its_way(taken: bool) -> None:
    harness = EnoughDag(dag_of("ENOUGH ALL_NODES 1"), QUIET)
    harness.files = {}
    harness.begin()
    harness.run_node("A", 1)
    assert harness.state("B") == State.SUBMITTING
    harness.settle()
    assert unneeded(harness) == "C D E"  # of B it is not known yet
    if taken:
        harness.take("B", 2)
        harness.settle()
        assert removed(harness) == [2]
        aborted(harness, 2)
    else:
        harness.tell(inputs.SubmitFailed(harness.dag.ids["B"], "busy", permanent=False))
        harness.settle()
    assert unneeded(harness) == "B C D E"
    assert exit_code(harness) == 0


@pytest.mark.parametrize("effect", ["REMOVE", "WAIT"])
def test_what_fails_afterwards_is_not_needed_and_what_ends_well_is_done(effect: str) -> None:
    harness = running(f"{ALL} {effect}\nRETRY C 3\nSCRIPT POST D p.sh")
    done(harness, 1, 2)
    assert removed(harness) == ([3, 4, 5] if effect == "REMOVE" else [])
    done(harness, 3, value=1)
    done(harness, 5)
    aborted(harness, 4)
    if effect == "WAIT":
        assert harness.state("D") == State.POST_RUN
        harness.post_ends("D", 1)
        harness.settle()
    assert unneeded(harness) == "C D"
    assert exit_code(harness) == 0


def test_what_has_failed_before_is_not_needed() -> None:
    harness = running(ALL, text="A B C -> D; C -> E\nRETRY B 1")
    done(harness, 3, value=4)
    assert harness.state("E") == State.FUTILE
    done(harness, 1, 2)
    assert unneeded(harness) == "C D E"
    assert harness.said("Node C is not needed: ENOUGH ALL_NODES 2; it had failed: Job proc (3.0.0)")
    assert exit_code(harness) == 0
    assert harness.engine.report().failed == 0


def test_failures_outside_of_it_count() -> None:
    harness = running("ENOUGH CATEGORY c 1\nCATEGORY A c\nCATEGORY B c")
    done(harness, 3, value=1)
    done(harness, 1, 4, 5)
    aborted(harness, 2)
    assert unneeded(harness) == "B"
    assert exit_code(harness) == 1


def test_a_node_whose_turn_comes_when_enough_parents_are_done() -> None:
    harness = running("ENOUGH PARENTS M 2", text=MERGED)
    done(harness, 1, value=1)
    assert harness.state("M") == State.WAITING
    done(harness, 2, 3)
    assert removed(harness) == [4]
    assert harness.submits() == ["M"]
    harness.take("M", 9)
    aborted(harness, 4)
    done(harness, 9)
    assert unneeded(harness) == "A D"
    assert exit_code(harness) == 0


def test_a_node_of_whose_parents_enough_can_not_be_done() -> None:
    harness = running("ENOUGH PARENTS M 3", text="A B C D -> M; M -> N")
    done(harness, 1, value=1)
    assert harness.state("M") == State.WAITING
    done(harness, 2, value=1)
    assert (harness.state("M"), harness.state("N")) == (State.FUTILE, State.FUTILE)
    done(harness, 3, 4)
    assert exit_code(harness) == 1


def test_children_of_nodes_that_are_not_needed() -> None:
    harness = running(
        """
            CATEGORY A c
            CATEGORY B c
            CATEGORY C c
            ENOUGH CATEGORY c 2
        """,
        "A B C; B -> X; A B -> Y; X -> Z",
    )
    done(harness, 1, 3)
    aborted(harness, 2)
    assert unneeded(harness) == "B X Z"
    assert harness.submits() == ["Y"]
    assert harness.said("Node X is not needed: all its parents are not needed")


def test_nodes_not_needed_are_not_among_those_that_another_counts() -> None:
    harness = running(
        """
            CATEGORY A c
            CATEGORY B c
            CATEGORY C c
            CATEGORY D c
            ENOUGH CATEGORY c 2
            ENOUGH PARENTS M 3
        """,
        MERGED,
    )
    done(harness, 1, 2)
    aborted(harness, 3, 4)
    assert harness.submits() == ["M"]
    none = running(
        """
            CATEGORY A c
            CATEGORY B c
            ENOUGH CATEGORY c 1
            ENOUGH PARENTS M 1
        """,
        "A B; B -> M",
    )
    done(none, 1)
    aborted(none, 2)
    assert unneeded(none) == "B M"
    assert exit_code(none) == 0


def test_a_parent_that_has_failed_and_others_that_are_not_needed() -> None:
    """Four parents of which two are not needed: of the two others one has failed."""
    harness = running(
        """
            CATEGORY A c
            CATEGORY B c
            CATEGORY Q c
            ENOUGH PARENTS M 2
            ENOUGH CATEGORY c 1
        """,
        "A B C D -> M; M -> N; Q",
    )
    done(harness, 3, value=1)
    done(harness, 7)
    assert harness.state("M") is State.WAITING
    aborted(harness, 1, 2)
    assert unneeded(harness) == "A B"
    assert (harness.state("M"), harness.state("N")) == (State.FUTILE, State.FUTILE)
    done(harness, 4)
    assert exit_code(harness) == 1


def test_a_node_in_retry_is_not_done_and_not_retried_any_more() -> None:
    harness = running(f"{ALL}\nRETRY A 3 DELAY 100")
    done(harness, 1, value=1)
    assert harness.state("A") == State.RETRY_WAIT
    done(harness, 2, 3)
    assert unneeded(harness) == "A"


def test_scripts_end_and_do_not_count() -> None:
    harness = EnoughDag(dag_of("ENOUGH ALL_NODES 1\nSCRIPT PRE A p.sh\nSCRIPT PRE B p.sh"), QUIET)
    harness.files = {}
    harness.begin()
    harness.run_node("C", 1)
    harness.settle()
    assert unneeded(harness) == "E"
    harness.pre_ends("A")
    harness.settle()
    harness.pre_ends("B", 3)
    harness.settle()
    assert unneeded(harness) == "A B E"
    assert len(harness.ever(do.RunScript)) == 2
    assert harness.ever(do.RunScript)[0].kind is ScriptKind.PRE


def test_removed_jobs_are_not_tolerated() -> None:
    harness = running(ALL)
    harness.dag.tolerances[2] = Tolerance(9)
    done(harness, 1, 2)
    aborted(harness, 3)
    assert unneeded(harness) == "C"


def test_a_value_that_would_end_the_dag_does_not_count() -> None:
    harness = running(f"{ALL}\nABORT-DAG-ON C 3")
    done(harness, 1, 2)
    done(harness, 3, value=3)
    assert unneeded(harness) == "C"
    assert not harness.said("Aborting DAG")


def test_a_condition_sees_a_node_that_is_not_needed_as_skipped() -> None:
    harness = running(
        """
            CATEGORY A c
            CATEGORY B c
            CATEGORY C c
            ENOUGH CATEGORY c 2
            RUN_IF X Parents.B.Outcome == "SKIPPED"
        """,
        "A B C; B -> X",
    )
    done(harness, 1, 3)
    aborted(harness, 2)
    assert harness.submits() == ["X"]


def test_a_condition_of_a_node_that_is_not_needed_is_not_evaluated() -> None:
    harness = running(ALL, text="A B C -> X\nRUN_IF X true")
    done(harness, 1, 2)
    aborted(harness, 3)
    assert unneeded(harness) == "C X"
    assert not harness.ever(EvaluateConditions)


def test_what_a_node_publishes_is_read_to_its_end() -> None:
    harness = running(f"{ALL} WAIT\nPUBLISH C FILE C.ad")
    harness.files["C.ad"] = "it is not there"
    done(harness, 1, 2)
    done(harness, 3)
    assert unneeded(harness) == "C"


def test_a_person_lets_a_node_run_that_is_not_needed() -> None:
    harness = running("""
        CATEGORY A c
        CATEGORY B c
        CATEGORY C c
        CATEGORY D c
        ENOUGH CATEGORY c 2
    """)
    done(harness, 1, 2)
    aborted(harness, 3, 4)
    assert unneeded(harness) == "C D"
    harness.ask(NodeCommand.RERUN, "C")
    assert harness.submits() == ["C"]
    harness.take("C", 8)
    done(harness, 8, value=1)
    assert harness.state("C") == State.FAILED


def test_a_parent_that_runs_again_is_waited_for() -> None:
    harness = running("ENOUGH PARENTS M 2", text=MERGED)
    harness.tell(inputs.Halt())
    done(harness, 1, 2)
    aborted(harness, 3, 4)
    assert harness.state("M") == State.READY
    harness.ask(NodeCommand.RERUN, "A")
    assert harness.state("M") == State.WAITING
    harness.tell(inputs.Resume())
    assert harness.submits() == ["A"]
    harness.take("A", 8)
    done(harness, 8)
    assert harness.submits() == ["M"]


@pytest.mark.parametrize("command", [NodeCommand.CANCEL, NodeCommand.DONE])
def test_a_parent_runs_again_just_when_a_person_ends_the_node(command: NodeCommand) -> None:
    harness = running("ENOUGH PARENTS M 2", text=MERGED)
    harness.tell(inputs.Halt())
    done(harness, 1, 2)
    aborted(harness, 3, 4)
    merged, parent = harness.dag.ids["M"], harness.dag.ids["A"]
    harness.tell(
        NodesSteered(1, command, [merged], "ann"),
        NodesSteered(2, NodeCommand.RERUN, [parent], "ann"),
    )
    harness.settle()
    ended = State.FAILED if command is NodeCommand.CANCEL else State.DONE
    assert (harness.state("A"), harness.state("M")) == (State.READY, ended)
    harness.replayed()


def test_an_earlier_run_did_not_need_it() -> None:
    dag = dag_of(f"{ALL}\nDONE A\nDONE B\nDONE C", "A B C; C -> X; A C -> Y")
    EnoughsOfDag.put(dag).not_needed[dag.ids["C"]] = None
    harness = EnoughDag(dag, QUIET)
    harness.files = {}
    harness.begin()
    harness.settle()
    assert unneeded(harness) == "C X Y"
    assert exit_code(harness) == 0


def test_a_rescue_file_tells_what_a_condition_could_ask_of_the_parents() -> None:
    harness = running("ENOUGH PARENTS M 3", MERGED)
    done(harness, 1)
    lines = {one.name: one.rescue_lines for one in harness.engine.node_reports()}
    assert lines.pop("A") == ("NODE_RESULT A [ ExitCode = 0; Retries = 0 ]",)
    assert set(lines.values()) == {()}


def test_a_dry_run_needs_all_and_starts_what_would_wait_for_some() -> None:
    dag = dag_of(f"{ALL}\nENOUGH PARENTS M 1", MERGED)
    engine = Engine(dag, QUIET, Throttles(), mode=Mode.DRY_RUN)
    actions = engine.handle(inputs.Begin(recovering=False), 0.0)
    assert actions[-1] == do.Exit(0)
    assert engine.report().done == 5


def test_a_restart_knows_what_was_on_its_way() -> None:
    harness = EnoughDag(dag_of("ENOUGH ALL_NODES 1"), QUIET)
    harness.files = {}
    harness.begin()
    harness.run_node("A", 1)
    harness.settle()  # B and C are being submitted
    other = harness.replay()
    other.tell(inputs.LogCaughtUp())
    other.tell(inputs.QueueListed([inputs.QueuedJob(7, 0, "B", 0)]))
    other.read_back()
    assert removed(other) == [7]
    assert unneeded(other) == "C D E"
    other.tell(make.of_job(EventKind.JOB_ABORTED, 7))
    assert unneeded(other) == "B C D E"
    assert exit_code(other) == 0


def test_the_dag_ends_though_a_node_has_waited_in_between() -> None:
    harness = running(
        """
            CATEGORY A c
            CATEGORY D c
            CATEGORY X k
            ENOUGH CATEGORY c 1
            ENOUGH CATEGORY k 1
        """,
        "A B -> X; D",
    )
    clusters = {name: number for number, name in enumerate(harness.dag.names, 1)}
    done(harness, clusters["A"], clusters["B"], value=1)
    done(harness, clusters["D"])  # A is not needed; X, which waits for B as well, stays futile
    assert harness.states() == "A=DONE B=FAILED X=FUTILE D=DONE"
    due = harness.engine.next_deadline()
    if not harness.ever(do.Exit) and due is not None:
        harness.now = max(harness.now, due)
        harness.tell(inputs.Wake())
    assert [one.code for one in harness.ever(do.Exit)] == [1]


# How many of the nodes of an ENOUGH are done, not needed, or lost.


def counts(enough: Enough) -> EnoughCounts:
    dag = make.dag("""
        A B C D -> M
        CATEGORY A c
        CATEGORY B c
        CATEGORY C c
        CATEGORY D c
    """)
    EnoughsOfDag.put(dag).enoughs = [enough]
    if enough.members == "PARENTS":
        EnoughsOfDag.put(dag).enough_of[dag.ids[enough.name]] = 0
    return EnoughCounts(dag)


def test_a_dag_without() -> None:
    assert not EnoughCounts(make.dag("A"))


def test_what_is_counted() -> None:
    found = counts(Enough(0, "CATEGORY", "c", 50, percent=True))
    assert found.of == {node: [0] for node in range(4)}
    found.moved(0, State.WAITING, State.DONE)
    assert not found.is_reached(0)
    found.moved(1, State.WAITING, State.DONE)
    assert found.is_reached(0)
    found.moved(1, State.DONE, State.WAITING)
    assert not found.is_reached(0)
    assert found.pop_touched() == [0]
    assert found.pop_waiting() == [1]


def test_nodes_that_are_not_needed_make_fewer_enough() -> None:
    found = counts(Enough(0, "CATEGORY", "c", 3))
    for node in (0, 1):
        found.mark(node, FOLLOWS)
        found.moved(node, State.WAITING, State.DONE)
    assert (found.goal(0), found.is_idle(0)) == (2, False)
    for node in (2, 3):
        found.mark(node, FOLLOWS)
        found.moved(node, State.WAITING, State.DONE)
    assert found.is_idle(0)
    found.moved(3, State.DONE, State.WAITING)
    assert (found.goal(0), 3 in found.not_needed) == (1, False)


def test_when_enough_parents_can_not_be_done_any_more() -> None:
    found = counts(Enough(0, "PARENTS", "M", 3))
    found.moved(0, State.WAITING, State.FAILED)
    assert not found.pop_hopeless()
    found.moved(1, State.WAITING, State.FUTILE)
    assert found.pop_hopeless() == [4]
    assert not found.pop_hopeless()
    found.doubt()
    assert found.pop_hopeless() == [4]


def test_nodes_not_needed_can_not_be_waited_for() -> None:
    found = counts(Enough(0, "PARENTS", "M", 3))
    found.moved(0, State.WAITING, State.FAILED)
    assert not found.pop_hopeless()
    found.mark(1, FOLLOWS)
    found.moved(1, State.WAITING, State.DONE)
    assert found.pop_hopeless() == [4]


def test_a_dag_that_grows() -> None:
    dag = make.dag("A B\nCATEGORY ALL_NODES c")
    EnoughsOfDag.put(dag).enoughs = [Enough(0, "CATEGORY", "c", 50, percent=True)]
    found = EnoughCounts(dag)
    found.moved(0, State.WAITING, State.DONE)
    assert found.is_reached(0)
    for name in "CD":
        dag.categories[dag.add_node(name, "x")] = "c"
    found.grow(dag, range(2, 4), (), bytearray(4))
    assert not found.is_reached(0)
