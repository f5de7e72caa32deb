"""Whether a child of nodes that wait to be bundled could start before all of them have ended."""

from __future__ import annotations

import pytest

from condor_pydagman.features.bundle.awaited import Awaited, fewest_parents
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
    awaited, graph = Awaited(), dag("PARENT A B C CHILD F\nPARENT D CHILD E\n")
    for node in range(5):
        awaited.add(graph, node)
    assert awaited.any_before(2)
    awaited.drop(3)
    assert not awaited.any_before(3)
    assert awaited.any_before(4)
    for node in range(5):
        awaited.drop(node)
    assert not awaited.any_before(4)
