"""Whether a child of nodes that wait to be bundled could start before all of them have ended."""

from __future__ import annotations

import pytest

from condor_pydagman.features.bundle.packing import Group, fewest_parents
from condor_pydagman.graph.build import build
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.graph.model import Dag

NODES = "".join(f"JOB {name} x.sub\n" for name in "ABCDEF")


def dag(lines: str) -> Dag:
    return build(["t.dag"], lambda _: NODES + lines, BuildOptions())


@pytest.mark.parametrize(
    ("lines", "fewest"),
    [
        ("", 0),
        ("PARENT B CHILD A\n", 0),
        ("PARENT A CHILD F\n", 1),
        ("PARENT A B C CHILD F\n", 3),
        ("PARENT A B C CHILD F\nPARENT A D CHILD E\n", 2),
        ("PARENT A B C CHILD D E F\n", 3),
        ("PARENT A B C CHILD F\nRUN_IF F true\n", 1),
    ],
)
def test_how_many_must_end_before_a_child_can_start(lines: str, fewest: int) -> None:
    assert fewest_parents(dag(lines), 0) == fewest


def test_those_that_wait_no_more_do_not_count() -> None:
    group, graph = Group("k", is_live=False), dag("PARENT A B C CHILD F\nPARENT D CHILD E\n")
    for node in range(4):
        group.add(graph, node, 0.0)
    assert not group.needs_all()  # E may start when D has ended
    group.drop(3)
    assert group.needs_all()
    group.add(graph, 4, 0.0)  # E has no children, but is one of those that are waited for
    assert not group.needs_all()
    for node in (0, 1, 2):
        group.drop(node)
    assert group.needs_all()
