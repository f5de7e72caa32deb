"""Groups that leave their sites: what is in no scene (`leaving.scene`), for it comes between two
inputs, or what the DAG or the log says."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import inputs
from condor_pydagman.engine.node_states import State
from condor_pydagman.features.common import rerun
from condor_pydagman.features.steering.run import NodesSteered
from condor_pydagman.features.steering.selection import one_of_each_group
from condor_pydagman.features.steering.steer_commands import NodeCommand
from condor_pydagman.graph.model import USER_DONE
from condor_pydagman.vocabulary import ScriptKind
from tests import make
from tests.features.sites.matched import placed


def test_a_parent_runs_again_while_its_child_leaves_with_its_group() -> None:
    """A replay numbers the child's next run as the live run did, which had dropped it."""
    harness = placed("""
        A -> B; C
        SCRIPT PRE B x
        SITE_GROUP g NODES B C
        SITE_POLICY g FAILURES 1
    """)
    run = harness.engine.run
    harness.take("C", 1)
    harness.run_node("A", 2)
    harness.tell(inputs.Halt())
    harness.happens(inputs.ScriptEnded(run.dag.ids["B"], ScriptKind.PRE, 0))
    assert State(run.nodes.states[run.dag.ids["B"]]) == State.READY
    for number, (command, node) in enumerate((("REMATCH", "B"), ("RERUN", "A"))):
        ids, options = [run.dag.ids[node]], "1" if command == "REMATCH" else ""
        harness.tell(NodesSteered(number, NodeCommand[command], ids, "ann", options, True))
        harness.read_back()
    harness.happens(make.terminated(1, value=-9))
    assert run.nodes.retries[run.dag.ids["B"]] == 1


@pytest.mark.parametrize("then", ["its group leaves", "it gets a parent", "FINAL begins"])
def test_a_node_that_waits_again_when_its_parent_has_failed_is_futile(then: str) -> None:
    """It goes on after its parent has started over, and can't be submitted."""
    harness = placed(
        """
            A -> X; B; Y
            FINAL F n.sub
            SITE_GROUP g NODES A B
            SITE_GROUP h NODES X Y
            SITE_POLICY ALL_GROUPS FAILURES 1
            SITE_POLICY g ROUNDS 1
        """,
        "s:2",
    )
    for number, name in enumerate("ABY", 1):
        harness.take(name, number)
    harness.tell(make.terminated(1))
    harness.happens(make.terminated(3, value=int(then == "its group leaves")))
    harness.happens(make.terminated(2, value=1))
    assert (harness.state("A"), harness.state("X")) == (State.FAILED, State.SUBMITTING)
    node = harness.dag.ids["X"]
    harness.tell(inputs.Halt(), inputs.SubmitFailed(node, "it is busy", False))
    assert harness.state("X") is (State.FUTILE if "leaves" in then else State.READY)
    if then == "it gets a parent":
        rerun.wait_for_more(harness.engine.run, node)
        harness.engine.settle()
    harness.wait(60)
    harness.read_back()
    assert harness.state("X") is State.FUTILE


@pytest.mark.parametrize(("runs", "is_done"), [(False, True), (True, False)])
def test_nodes_that_the_file_calls_done_stay_done_unless_they_have_run(
    runs: bool, is_done: bool
) -> None:
    of = make.dag("""
        A -> B
        DONE A
        SITE_GROUP g NODES A B
        SITE_POLICY g FAILURES 1
    """)
    of.flags[0] |= USER_DONE
    harness = placed(of)
    if runs:
        harness.tell(inputs.SubmitFailed(1, "it is busy", False))
        harness.tell(NodesSteered(1, NodeCommand.RERUN, [0], "ann", "", True))
        harness.read_back()
        harness.run_node("A", 2)
    harness.run_node("B", 1, value=1)
    harness.back()
    assert (harness.state("A") is State.DONE) == is_done
    assert harness.state("B") is State.WAITING


def test_a_wish_about_an_earlier_site_comes_too_late() -> None:
    harness = placed("A -> B\nSITE_GROUP g NODES A B")
    wish = make.record("STEERED", "A", value=9)
    harness.tell(wish._replace(text="ann rematch 7"))
    assert harness.groups() == "g=MATCHED@s"
    assert harness.said("comes too late: the group has been matched again")


def test_one_node_stands_for_its_group() -> None:
    dag = make.dag("A; B; C; X; Y\nSITE_GROUP g NODES A B\nSITE_GROUP h NODES C")
    names = [dag.names[node] for node in one_of_each_group(dag, range(len(dag)))]
    assert names == ["A", "C", "X", "Y"]
