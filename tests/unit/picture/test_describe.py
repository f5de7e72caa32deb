"""Details of boxes: bounded whatever the DAG holds."""

from __future__ import annotations

from condor_pydagman.picture.describe import details
from condor_pydagman.picture.fold import make_sketch
from condor_pydagman.picture.states import States
from tests.unit.picture import dag_of


def test_a_stack_lists_some_members_failed_ones_marked() -> None:
    dag = dag_of([f"w{n}" for n in range(100)])
    states = States(dag)
    (box,) = make_sketch(dag, states.of, 10).boxes
    lines = details(dag, states, box)
    assert lines[:4] == ["w0 … w99", "100 nodes, alike", "100 waiting", "  w0"]
    assert lines[-1] == "  and 92 more"


def test_every_line_is_bounded() -> None:
    dag = dag_of(["n" * 100_000])
    dag.submits[0] = "s" * 100_000
    states = States(dag)
    (box,) = make_sketch(dag, states.of, 10).boxes
    assert all(len(line) <= 1000 for line in details(dag, states, box))
