"""What the legend says of shapes and dashes."""

from __future__ import annotations

from itertools import combinations

from condor_pydagman.features.enough.commands import EnoughsOfDag
from condor_pydagman.picture.fold import make_sketch
from condor_pydagman.picture.legend import HIGH, KINDS, WIDE, marks
from condor_pydagman.picture.shapes import kind_outline
from condor_pydagman.picture.sketch import Edge
from condor_pydagman.vocabulary import NodeKind
from tests.make import dag as make_dag
from tests.unit.picture import dag_of

ALL_KINDS = """\
JOB A a.sub
JOB B b.sub
JOB C c.sub
JOB D d.sub
SUBDAG EXTERNAL S s.dag
FINAL F f.sub
PARENT A CHILD B
WEAK PARENT B CHILD S
PARENT B CHILD C
PARENT B C CHILD D
RUN_IF C Parents.B.size > 1
ENOUGH PARENTS D 1
"""


def test_every_kind_has_a_shape_of_its_own() -> None:
    assert KINDS.keys() == set(NodeKind) - {NodeKind.JOB}
    shapes = [kind_outline(kind, WIDE, HIGH) for kind in NodeKind]
    assert all(one != other for one, other in combinations(shapes, 2))


def test_a_plain_dag_needs_no_legend() -> None:
    dag = dag_of("AB", [([0], [1])])
    assert not list(marks(make_sketch(dag, bytes(2), 10)))


def test_kinds_of_nodes_and_edges_that_are_there() -> None:
    dag = make_dag(ALL_KINDS)
    assert EnoughsOfDag.of(dag).enough_of
    found = list(marks(make_sketch(dag, bytes(len(dag)), 50)))
    assert [one.words for one in found if one.outline] == [
        KINDS[NodeKind.SUBDAG],
        KINDS[NodeKind.FINAL],
    ]
    assert [one.look for one in found if one.look] == ["weak", "condition", "enough"]
    assert {one.words for one in found if one.look} == {
        edge.value for edge in Edge if edge is not Edge.PLAIN
    }
