"""SWEEP and SWEEP_PARENT: nodes and edges."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.cli.unparse import dag_lines
from condor_pydagman.graph.build import BuildOptions
from condor_pydagman.graph.model import Dag
from tests.unit.graph.texts import build_files, build_text, error, seen

SIMS = "SWEEP sim_{e}_{s} sim.sub OVER e IN 10 20 OVER s IN 1..3\n"
MERGES = "SWEEP merge_{e} merge.sub OVER e IN 10 20\n"


def edges(dag: Dag) -> list[str]:
    return [
        f"{dag.names[node]} {dag.names[child]}"
        for node in range(len(dag))
        for child in sorted(dag.children(node))
    ]


def test_nodes_and_their_variables() -> None:
    dag = build_text(SIMS.replace("\n", ' DIR run/{e} VARS out="r {s}/{e}" My.x=1\n'))
    assert dag.names == [f"sim_{e}_{s}" for e in (10, 20) for s in (1, 2, 3)]
    assert set(dag.submits) == {"sim.sub"}
    assert dag.directories == {n: f"run/{10 if n < 3 else 20}" for n in range(6)}
    assert [tuple(one) for one in dag.variables[5]] == [
        ("My.x", "1", False),
        ("e", "20", False),
        ("out", "r 3/20", False),
        ("s", "3", False),
    ]
    assert dag.place(5) == "x.dag:1"


def test_cells_of_a_table_are_text() -> None:
    table = {"t.csv": "a\n$ENV(HOME)\n"}
    dag = build_text('SWEEP n s ROWS t.csv VARS b="$(ROOT){a}"\n', table)
    values = {one.key: one.value for one in dag.variables[0]}
    assert values == {"a": "$(DAGMAN_DOLLAR)ENV(HOME)", "b": "$(ROOT)$(DAGMAN_DOLLAR)ENV(HOME)"}


def test_a_table_beside_the_dag_file() -> None:
    table = {"d/t.csv": 'id,text\n7,"say ""hé"""\n8,b\n', "d/u.dag": "SWEEP n{id} s ROWS t.csv\n"}
    dag = build_text("SPLICE S u.dag DIR d\n", table)
    assert dag.names == ["S+n7", "S+n8"]
    assert [variable.value for variable in dag.variables[0]] == ["7", 'say "hé"']
    assert set(dag.directories.values()) == {"d"}


def test_other_commands_name_all_nodes_of_a_sweep() -> None:
    dag = build_text(
        "JOB prep x\n" + SIMS + "JOB end x\nPARENT prep CHILD sim_{e}_{s}\n"
        "PARENT sim_{e}_{s} CHILD end\nRETRY sim_{e}_{s} 2\nSCRIPT PRE sim_{e}_{s} x $JOB\n"
        "CATEGORY sim_{e}_{s} big\n"
    )
    assert len(edges(dag)) == 12
    assert sorted(dag.retries) == sorted(dag.scripts) == sorted(dag.categories) == list(range(1, 7))


def test_edges_by_key() -> None:
    dag = build_text(SIMS + MERGES + "SWEEP_PARENT sim_{e}_{s} CHILD merge_{e} BY e\n")
    assert edges(dag) == [f"sim_{e}_{s} merge_{e}" for e in (10, 20) for s in (1, 2, 3)]
    dag = build_text(
        SIMS + SIMS.replace("sim_", "ana_") + "SWEEP_PARENT sim_{e}_{s} CHILD ana_{e}_{s} BY s e\n"
    )
    assert edges(dag) == [f"sim_{e}_{s} ana_{e}_{s}" for e in (10, 20) for s in (1, 2, 3)]


def test_edges_one_to_one_and_many_to_many() -> None:
    again = SIMS.replace("sim_", "ana_").replace("OVER e IN 10 20", "OVER e IN 11 21")
    dag = build_text(SIMS + again + "SWEEP_PARENT sim_{e}_{s} CHILD ana_{e}_{s} ONE_TO_ONE\n")
    assert edges(dag) == [f"sim_{e}_{s} ana_{e + 1}_{s}" for e in (10, 20) for s in (1, 2, 3)]
    dag = build_text(
        SIMS + "SWEEP z_{e}_{t} x OVER e IN 10 20 OVER t IN 1 2\n"
        "SWEEP_PARENT sim_{e}_{s} CHILD z_{e}_{t} BY e\n",
        use_join_nodes=False,
    )
    assert edges(dag) == [
        f"sim_{e}_{s} z_{e}_{t}" for e in (10, 20) for s in (1, 2, 3) for t in (1, 2)
    ]


def test_several_dag_files_have_sweeps_of_their_own() -> None:
    text = SIMS + MERGES + "SWEEP_PARENT sim_{e}_{s} CHILD merge_{e} BY e\n"
    dag = build_files({"a.dag": text, "b.dag": text})
    assert dag.names[0] == "0.sim_10_1"
    assert len(edges(dag)) == 12


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SIMS + SIMS, "There is a sweep sim_{e}_{s} already"),
        ("JOB merge_20 x\n" + MERGES, "Node merge_20 already exists in DAG."),
        (MERGES + "JOB merge_20 x\n", "Node merge_20 already exists in DAG."),
        ("SPLICE merge_20 u\n" + MERGES, "has the name of a splice"),
        ("SWEEP n{a} x OVER b IN 1\n", "The name has {a}, and the sweep no variable"),
        ("SWEEP n{a} x OVER a IN 1 VARS k={b}\n", "VARS k has {b}, and the sweep no variable"),
        ("SWEEP n{a} x ROWS no.csv\n", "no.csv"),
        (
            SIMS + MERGES + "SWEEP_PARENT sim_{e}_{s} CHILD merge_{e} ONE_TO_ONE\n",
            "has 6 nodes, and",
        ),
        (
            SIMS + MERGES + "SWEEP_PARENT merge_{e} CHILD sim_{e}_{s} BY s\n",
            "no variable s: it has e",
        ),
        (
            SIMS + MERGES.replace("20", "30") + "SWEEP_PARENT sim_{e}_{s} CHILD merge_{e} BY e\n",
            "No node of sim_{e}_{s} has e=30",
        ),
        (SIMS + "SWEEP_PARENT sim_{e}_{s} CHILD merge BY e\n", "Unknown sweep merge"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    assert message in str(error(text, {"u": "JOB A x\n"}))


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True),
    st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True),
)
def test_written_out_it_is_the_same_dag(first: list[int], second: list[int]) -> None:
    text = (
        f"SWEEP a{{x}}_{{y}} s OVER x IN {' '.join(map(str, first))} OVER y IN"
        f' {" ".join(map(str, second))} VARS z="q{{y}}"\n'
        f"SWEEP b{{x}} s OVER x IN {' '.join(map(str, first))}\n"
        "SWEEP_PARENT a{x}_{y} CHILD b{x} BY x\n"
    )
    swept = build_text(text)
    lines = list(dag_lines(swept))
    assert not any(line.startswith("SWEEP") for line in lines)
    again = build_text("\n".join(lines) + "\n", **BuildOptions(use_join_nodes=False)._asdict())
    differs = {key for key, value in seen(swept).items() if seen(again)[key] != value}
    assert differs <= {"places", "files"}


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("SWEEP_PARENT merge CHILD t_{e} BY e", "merge is a node: a PARENT line joins it with"),
        ("SWEEP_PARENT s_{e} CHILD t_{e} BY e", "the sweeps are t_{e}"),
        ("RETRY t_{x} 3", "the sweeps of this file are t_{e}"),
        ("RETRY t_* 3", "names are no patterns here"),
        ("PARENT merge CHILD t_{e} BY e", "BY is for SWEEP_PARENT"),
    ],
)
def test_what_to_write_instead(line: str, hint: str) -> None:
    text = "JOB merge x\nSWEEP t_{e} x OVER e IN 1 2\n"
    assert hint in error(text + line + "\n").hint
