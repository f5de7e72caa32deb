"""Nodes that wait for no parent any more."""

from __future__ import annotations

from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.graph.model import Dag
from condor_pydagman.trace.countdown import Countdown

NODES = "".join(f"JOB {name} a.sub\n" for name in "ABCD")


def countdown_of(text: str) -> tuple[Countdown, Dag]:
    dag = build(["t.dag"], lambda _: iter([NODES + text]), BuildOptions(use_join_nodes=False))
    return Countdown(dag), dag


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


def test_the_node_of_an_enough_that_is_reached() -> None:
    _, dag = countdown_of("PARENT A B CHILD C\nENOUGH PARENTS C 1\n")
    assert not Countdown(dag).is_free(2)
    assert Countdown(dag, {"ENOUGH PARENTS C 1": "1 of 2"}).is_free(2)
