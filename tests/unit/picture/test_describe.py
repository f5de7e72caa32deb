"""Details of boxes: bounded whatever the DAG holds."""

from __future__ import annotations

from condor_pydagman.follow.shown_states import Shown
from condor_pydagman.graph.model import Retry, Script
from condor_pydagman.picture.describe import details
from condor_pydagman.picture.fold import make_sketch
from condor_pydagman.picture.states import States
from condor_pydagman.vocabulary import ScriptKind
from tests.unit.picture import dag_of


def test_a_node_tells_its_settings_and_why_it_failed() -> None:
    dag = dag_of("a")
    dag.retries[0] = Retry(3)
    dag.scripts[0] = {ScriptKind.PRE: Script("pre.sh one two")}
    states = States(dag)
    states.of[0] = Shown.FAILED
    states.details[0] = "Job proc (1.0.0) failed with status 2"
    (box,) = make_sketch(dag, states.of, 10).boxes
    assert details(dag, states, box) == [
        "a",
        "failed: Job proc (1.0.0) failed with status 2",
        "submit: x.sub",
        "PRE script: pre.sh one two",
        "retries: 3",
    ]


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
