"""Nodes that wait for no parent any more, and nodes that can never run."""

from __future__ import annotations

import random

import pytest

from condor_pydagman.engine.node_states import State
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.graph.model import Dag
from condor_pydagman.trace.countdown import Countdown
from condor_pydagman.trace.futile import FutileNodes, is_unneeded, mark_futile
from condor_pydagman.trace.run_history import NodeRun, Run
from condor_pydagman.vocabulary import NodeStatus
from tests import make
from tests.make import QUIET
from tests.unit.engine.decided import Decided
from tests.unit.report.runs import make_dag

ENDED = {
    "failed": NodeStatus.ERROR, "done": NodeStatus.DONE, "unneeded": NodeStatus.DONE
}  # fmt: skip


def futile(text: str, **ends: str) -> str:
    """The nodes that can't run when others have ended."""
    names = [line.split()[1] for line in text.splitlines() if line.startswith("JOB")]
    run = Run()
    run.nodes = {name: NodeRun(name) for name in names}
    for end, ended in ends.items():
        for name in ended:
            node = run.nodes[name]
            node.status = ENDED[end]
            node.skipped = end == "unneeded"
            node.why = "ENOUGH CATEGORY c 1" if node.skipped else ""
    mark_futile(run, make_dag(text))
    return "".join(name for name in names if run.nodes[name].status is NodeStatus.FUTILE)


def jobs(names: str, text: str) -> str:
    return "".join(f"JOB {name} x\n" for name in names) + text


def test_descendants_of_a_failed_node() -> None:
    text = jobs(
        "ABCDE",
        "PARENT A CHILD B E\nPARENT B CHILD C\nWEAK PARENT A CHILD D\nRUN_IF E Failed > 0\n",
    )
    assert futile(text, failed="A") == "BC"


def test_a_weak_edge_of_a_node_that_can_not_run() -> None:
    text = jobs("ABC", "PARENT A CHILD B\nWEAK PARENT B CHILD C\n")
    assert futile(text, failed="A") == "BC"
    assert futile(text, failed="B") == ""


MERGED = jobs("ABCDMN", "PARENT A B C D CHILD M\nPARENT M CHILD N\nENOUGH PARENTS M 3\n")


def test_enough_parents_that_can_not_be_done_any_more() -> None:
    assert futile(MERGED, failed="A") == ""
    assert futile(MERGED, failed="AB") == "MN"
    assert futile(MERGED, failed="A", unneeded="B") == "MN"
    assert futile(MERGED, unneeded="BCD") == ""
    assert futile(MERGED, unneeded="BCD", failed="A") == "MN"
    below = f"{MERGED}JOB P x\nPARENT P CHILD A B\n"
    assert futile(below, failed="P") == "ABMN"


def test_an_earlier_run_did_not_need_a_node() -> None:
    dag = build(["t.dag"], lambda _: iter([f"{MERGED}NOT_NEEDED A\n"]), BuildOptions())
    assert [is_unneeded(dag, dag.ids[name], NodeRun(name, NodeStatus.DONE)) for name in "AB"] == [
        *(True, False)
    ]
    again = NodeRun("A", NodeStatus.SUBMITTED)
    assert not is_unneeded(dag, dag.ids["A"], again)


def a_dag(choice: random.Random) -> Dag:
    """With edges from nodes to later ones, some of them weak, and one or two ENOUGH."""
    names, lines = "ABCDEFGHI", []
    for place, name in enumerate(names[1:], 1):
        for parent in choice.sample(names[:place], choice.randint(0, min(place, 3))):
            lines.append(f"{choice.choice(('', '', 'WEAK '))}PARENT {parent} CHILD {name}\n")
    lines += [f"CATEGORY {name} c\n" for name in choice.sample(names, 4)]
    text = jobs(names, "".join(lines))
    children = [line.split()[-1] for line in lines if "CHILD" in line]
    if children:
        child = choice.choice(children)
        text += f"ENOUGH PARENTS {child} {choice.randint(1, children.count(child))}\n"
    if choice.random() < 0.5:
        text += f"ENOUGH CATEGORY c {choice.randint(1, 3)} {choice.choice(('REMOVE', 'WAIT'))}\n"
    return build(["t.dag"], lambda _: iter([text]), BuildOptions(use_join_nodes=False))


class Answered(Decided):
    """What a replay makes of it is looked at elsewhere."""

    def replayed(self) -> str:
        return ""


@pytest.mark.parametrize("seed", range(150))
def test_the_engine_marks_the_same(seed: int) -> None:
    choice = random.Random(seed)
    harness = Answered(a_dag(choice), QUIET)
    harness.files = {}
    harness.begin()
    run, cluster = harness.engine.run, 1
    while not run.is_over:
        harness.settle()
        for name in harness.dag.names:
            if harness.state(name) == State.SUBMITTING:
                harness.take(name, cluster := cluster + 1)
        states = run.nodes.states
        busy = [one for one, state in enumerate(states) if state == State.SUBMITTED]
        found = FutileNodes(
            harness.dag,
            lambda node: states[node] in (State.WAITING, State.FUTILE),  # noqa: B023
        )
        steps = [
            (found.leave, node)
            for node in (
                run.features["enough"].counts.not_needed if "enough" in run.features else ()
            )
        ]
        steps += [(found.fail, node) for node in run.nodes.in_state(State.FAILED)]
        choice.shuffle(steps)
        for step, node in steps:
            step(node)
        theirs = {node for node, state in enumerate(states) if state == State.FUTILE}
        assert found.nodes == theirs, harness.states()
        if not busy:
            return
        job = run.job_table.by_node[choice.choice(busy)].cluster
        harness.tell(make.terminated(job, value=choice.choice((0, 0, 1))))


# Nodes that wait for no parent any more.


NODES = "".join(f"JOB {name} a.sub\n" for name in "ABCD")


def countdown_of(text: str) -> tuple[Countdown, Dag]:
    dag = build(["t.dag"], lambda _: iter([NODES + text]), BuildOptions(use_join_nodes=False))
    return Countdown(dag, Run()), dag


def test_a_junction_hands_on() -> None:
    countdown, _ = countdown_of("PARENT A B CHILD C D\n")
    assert [countdown.is_free(node) for node in range(4)] == [True, True, False, False]
    assert countdown.ended(0, failed=False) == []
    assert countdown.ended(1, failed=True) == []
    assert sorted(countdown.ended(1, failed=False)) == [2, 3]
    assert countdown.is_free(3)


def test_a_failure_frees_weak_children_only() -> None:
    countdown, _ = countdown_of("WEAK PARENT A CHILD B\nPARENT A CHILD C\n")
    assert countdown.ended(0, failed=True) == [1]


def test_a_final_node_is_never_free() -> None:
    countdown, dag = countdown_of("FINAL F a.sub\n")
    assert not countdown.is_free(dag.ids["F"])


def test_a_node_with_a_condition_is_never_free() -> None:
    countdown, _ = countdown_of("PARENT A CHILD B\nRUN_IF B true\n")
    assert countdown.ended(0, failed=False) == []
    assert not countdown.is_free(1)
