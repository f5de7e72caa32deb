"""DAG files to Dag: what stock DAGMan said to the same lines, and several files at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from condor_pydagman.graph.build import DagFileErrors
from tests.unit.graph.texts import JOBS, build_files, problems

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


def test_many_errors_are_counted() -> None:
    assert problems("FOO\n" * 30).detail().endswith("and 10 more")


def test_errors_of_several_files_are_all_reported() -> None:
    with pytest.raises(DagFileErrors) as caught:
        build_files({"a.dag": "FOO\n", "b.dag": "JOB\n"})
    assert [error.file for error in caught.value.errors] == ["a.dag", "b.dag"]


def test_warnings_come_before_the_error_that_ends_it() -> None:
    caught = problems(JOBS + "PRE_SKIP A 0\nRETRY Z 1\n")
    assert caught.warnings == ["Warning: exit code 0 for a PRE_SKIP value is weird."]
