"""DAG files to Dag: what stock DAGMan said to the same lines, and several files at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from condor_pydagman.graph.build import DagFileErrors
from tests.unit.graph.texts import JOBS, build_files, build_text, children, parents, problems

# Lines that follow three JOB lines (A, B, C), and what stock condor_dagman 25.14 logged of them.
STOCK = json.loads((Path(__file__).parent / "stock_reactions.json").read_text())
SHOWN = ("ERROR", "Error", "       Example", "Processing error", "DAG marked")


def reaction(text: str) -> list[str]:
    try:
        dag = build_files({"t.dag": text})
    except DagFileErrors as error:
        detail = error.errors[0].detail().split("\n")
        said = [line for line in detail if line.startswith(SHOWN)]
        warnings = error.warnings
    else:
        said = [f"Dag contains {len(dag)} total nodes"]
        warnings = dag.warnings
    return [line for warning in warnings for line in warning.split("\n")] + said


@pytest.mark.parametrize("case", STOCK, ids=lambda case: case["dag"][:40])
def test_reacts_as_stock_does(case: dict[str, object]) -> None:
    assert reaction(f"{JOBS}{case['dag']}\n") == case["stock"]


def test_nodes_may_be_defined_after_their_use() -> None:
    dag = build_text("PARENT A CHILD B\nRETRY B 2\nJOB A x\nJOB B x\n")
    assert children(dag, "A") == ["B"]
    assert dag.retries[dag.ids["B"]].limit == 2


def test_an_empty_dag_is_legal() -> None:
    dag = build_text("# nothing\n")
    assert len(dag) == 0
    assert dag.vertex_count == 0


def test_many_errors_are_counted() -> None:
    assert problems("FOO\n" * 30).detail().endswith("and 10 more")


def test_errors_of_several_files_are_all_reported() -> None:
    with pytest.raises(DagFileErrors) as caught:
        build_files({"a.dag": "FOO\n", "b.dag": "JOB\n"})
    assert [error.file for error in caught.value.errors] == ["a.dag", "b.dag"]


def test_several_files_get_numbered_names() -> None:
    text = "JOB A x\nJOB B x\nPARENT A CHILD B\nSUBMIT-DESCRIPTION d {\n}\nMAXJOBS c 1\n"
    dag = build_files({"one.dag": text, "d/two.dag": text})
    assert dag.names == ["0.A", "0.B", "1.A", "1.B"]
    assert parents(dag, "1.B") == ["1.A"]
    assert dag.files == ["one.dag", "d/two.dag"]
    assert set(dag.descriptions) == {"d"}
    assert set(dag.category_limits) == {"c"}


def test_several_files_without_numbers_share_their_names() -> None:
    one, two = "JOB A x\n", "JOB B x\nPARENT A CHILD B\n"
    dag = build_files({"one.dag": one, "two.dag": two}, munge_node_names=False)
    assert dag.names == ["A", "B"]
    with pytest.raises(DagFileErrors, match="Node A already exists in DAG"):
        build_files({"one.dag": one, "two.dag": one}, munge_node_names=False)


def test_one_file_is_not_numbered_and_another_file_is_out_of_reach() -> None:
    assert build_text("JOB A x").names == ["A"]
    with pytest.raises(DagFileErrors, match=r"Unknown node 1\.0\.A referenced"):
        build_files({"one.dag": "JOB A x\n", "two.dag": "RETRY 0.A 1\n"})


def test_a_file_named_twice_is_read_twice() -> None:
    dag = build_files({"a": "JOB A x\n", "./a": "JOB A x\n"})
    assert dag.names == ["0.A", "1.A"]


def test_use_dag_dir() -> None:
    texts = {"d/one.dag": "JOB A x\n", "two.dag": "JOB A x\n"}
    assert build_files(texts, use_dag_dir=True).directories == {0: "d"}
    assert build_files(texts, use_dag_dir=True, cwd="/top").directories == {0: "/top/d"}
    with pytest.raises(DagFileErrors) as caught:
        build_files({"d/one.dag": "JOB A x DIR e\n"}, use_dag_dir=True)
    assert caught.value.errors[0].detail().split("\n")[:2] == [
        "ERROR: Node DIR <directory> sub-command can not be used with -UseDagDir",
        "Processing error at one.dag:1",
    ]


def test_plus_in_names() -> None:
    assert "illegal charater" in str(problems("JOB a+b x"))
    assert build_text("JOB a+b x", allow_any_node_name_characters=True).names == ["a+b"]


def test_commands_for_condor_submit_dag_are_not_checked() -> None:
    assert build_text("CONFIG\nENV\nSET_JOB_ATTR\n").warnings == []


def test_warnings_come_before_the_error_that_ends_it() -> None:
    caught = problems(JOBS + "PRE_SKIP A 0\nRETRY Z 1\n")
    assert caught.warnings == ["Warning: exit code 0 for a PRE_SKIP value is weird."]
