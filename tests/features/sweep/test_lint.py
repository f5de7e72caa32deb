"""Sweeps as condor_dag_checker counts them."""

from __future__ import annotations

from condor_pydagman.graph.build import BuildOptions
from condor_pydagman.graph.statistics import count_arcs
from condor_pydagman.lint.lint import lint
from tests.unit.lint.paper import PaperWorld
from tests.unit.lint.test_outline import issues, read

TEXT = (
    "SWEEP a_{x}_{y} s.sub OVER x IN 1 2 OVER y IN 1..3\n"
    "SWEEP b_{x} s.sub OVER x IN 1 2\nJOB C c.sub\n"
    "SWEEP_PARENT a_{x}_{y} CHILD b_{x} BY x\nPARENT b_{x} CHILD C\nRETRY a_{x}_{y} 1\n"
)


def test_nodes_and_edges() -> None:
    outline = read(TEXT)
    assert outline.issues == []
    assert outline.dag.names[:3] == ["a_1_1", "a_1_2", "a_1_3"]
    assert len(outline.dag) == 9
    assert count_arcs(outline.dag) == 8


def test_a_splice_and_a_table() -> None:
    files = {
        "d/u.dag": "SWEEP n{i} s ROWS t.csv\nPARENT n{i} CHILD E\nJOB E s\n",
        "d/t.csv": "i\n4\n5\n",
    }
    outline = read("SPLICE S u.dag DIR d\n", files)
    assert outline.issues == []
    assert outline.dag.names == ["S+n4", "S+n5", "S+E"]


def test_a_column_that_nothing_uses_is_told_at_the_sweep() -> None:
    dag = 'SWEEP n{i} x.sub ROWS t.csv\nVARS ALL_NODES v="1"\nVARS n{i} w="1"\n'
    submit = "executable = /bin/true\narguments = $(i)\nqueue\n"
    world = PaperWorld({"t.dag": dag, "x.sub": submit, "t.csv": "i,unused\n4,5\n"})
    found = lint(["t.dag"], world, BuildOptions(strict=0)).kept
    assert [(one.code, one.line, one.message.split()[0]) for one in found] == [
        ("DAG401", 1, "$(unused)"),
        ("DAG401", 2, "$(v)"),
        ("DAG401", 3, "$(w)"),
    ]


def test_mistakes() -> None:
    text = (
        TEXT + "SWEEP b_{x} s OVER x IN 3\nSWEEP C{z} s OVER x IN 1\nSWEEP {x} s OVER x IN C D\n"
        "SWEEP n s ROWS no.csv\nSWEEP_PARENT a_{x}_{y} CHILD q BY x\n"
        "SWEEP_PARENT a_{x}_{y} CHILD b_{x} ONE_TO_ONE\nDONE b_{x}\n"
    )
    found = issues(text)
    assert found[0] == "t.dag:7 SWEEP: Sweep b_{x} is already defined in the DAG"
    assert found[1].startswith("t.dag:8 SWEEP: The name has {z}, and the sweep no variable")
    assert found[2] == "t.dag:9 SWEEP: Node C is already defined in the DAG"
    assert found[3] == "t.dag:10 SWEEP: Failed to read no.csv: Provided file path does not exist"
    assert found[4] == "t.dag:11 SWEEP_PARENT: References undefined sweep q"
    assert found[5].startswith("t.dag:12 SWEEP_PARENT: a_{x}_{y} has 6 nodes, and b_{x} 2")
    assert found[6] == "t.dag:13 DONE: References undefined node b_{x}"
