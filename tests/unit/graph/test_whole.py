"""The commands about the whole DAG."""

from __future__ import annotations

import pytest

from condor_pydagman.graph.model import DotFile, StatusFile
from tests.unit.graph.texts import JOBS, build_text, error, problems


def test_files_of_the_dag() -> None:
    dag = build_text(
        "NODE_STATUS_FILE s 5 ALWAYS-UPDATE\nNODE_STATUS_FILE t\nJOBSTATE_LOG j\nJOBSTATE_LOG k\n"
        "DOT a UPDATE\nDOT b OVERWRITE INCLUDE h\n"
    )
    assert dag.status_file == StatusFile("s", 5, True)
    assert dag.jobstate_log == "j"
    assert dag.dot == DotFile("b", False, True, "h")
    assert dag.warnings == [
        "Warning: Attempt to set NODE_STATUS_FILE to t does not override existing value of s",
        "Warning: Attempt to set JOBSTATE_LOG to k does not override existing value of j",
    ]


def test_status_jobstate_and_dot_files_of_a_splice_are_ignored() -> None:
    splice = "NODE_STATUS_FILE s\nJOBSTATE_LOG j\nDOT d\nJOB A x\n"
    dag = build_text("SPLICE S s\n", {"s": splice})
    assert (dag.status_file, dag.jobstate_log, dag.dot) == (None, "", None)
    dag = build_text("INCLUDE s\n", {"s": splice})
    assert (dag.status_file, dag.jobstate_log, dag.dot) == (StatusFile("s"), "j", DotFile("d"))


@pytest.mark.parametrize("where", ["x.dag", "s"])
def test_reject(where: str) -> None:
    if where == "x.dag":
        found = error("JOB A x\n\nREJECT\n")
        assert found.line == 3
    else:
        found = error("JOB A x\nSPLICE S s\n", {"s": "\n\nREJECT\n"})
        assert "x.dag:2" in found.detail()
    assert str(found) == f"DAG marked as rejected at {where}:3"
    assert "take out the REJECT line" in found.hint


@pytest.mark.parametrize(
    ("lines", "level"),
    [
        ("PRIORITY A 1\nPRIORITY A 2", 2),
        ("CATEGORY A c", 2),
        ("MAXJOBS c 1", 2),
        ("VARS A x=1\nVARS A x=2", 3),
        ("PRE_SKIP A 1\nPRE_SKIP A 2", 3),
        ("JOBSTATE_LOG a\nJOBSTATE_LOG b", 3),
        ("NODE_STATUS_FILE a\nNODE_STATUS_FILE b", 3),
        ("CATEGORY A c\nMAXJOBS c 1\nMAXJOBS c 2", 3),
    ],
)
def test_strictness_makes_warnings_fatal(lines: str, level: int) -> None:
    dag = build_text(JOBS + lines, strict=level - 1)
    assert len(dag.warnings) == 1
    caught = problems(JOBS + lines, strict=level)
    assert str(caught) == "ERROR: Warning is fatal error because of DAGMAN_USE_STRICT setting"
    assert caught.warnings == dag.warnings
    assert "the warning is: " in caught.errors[0].hint


def test_priority_is_added_to_every_node() -> None:
    dag = build_text("JOB A x\nJOB B x\nPRIORITY A 2\n", priority=10)
    assert dag.priorities == {0: 12, 1: 10}
