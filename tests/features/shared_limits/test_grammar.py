"""SHARED_LIMIT lines: read, written, and refused."""

from __future__ import annotations

import pytest

from condor_pydagman.cli.unparse import dag_lines
from condor_pydagman.graph.problems import DagFileErrors
from tests.unit.graph.texts import JOBS, build_text


@pytest.mark.parametrize(
    "line",
    [
        "SHARED_LIMIT a ALL_NODES",
        "SHARED_LIMIT a CATEGORY big",
        "SHARED_LIMIT a NODES A C",
    ],
)
def test_they_are_written_as_they_are_read(line: str) -> None:
    dag = build_text(JOBS + "CATEGORY A big\n" + line.replace("_", "-") + "\n")
    assert line in list(dag_lines(dag))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("SHARED_LIMIT a JOBS", "JOBS"),
        ("SHARED_LIMIT a = JOBS 2", "A limit can't be defined in a DAG file"),
        ("SHARED_LIMIT a ALL_NODES A", "A"),
        ("SHARED_LIMIT a NODES X", "Unknown node X"),
        ("FINAL F x\nSHARED_LIMIT a NODES F", "FINAL node F can't keep to a shared limit"),
        ("SUBDAG EXTERNAL D d\nSHARED_LIMIT a NODES D", "SUBDAG node D can't keep"),
    ],
)
def test_what_is_wrong_is_told(line: str, told: str) -> None:
    with pytest.raises(DagFileErrors, match=told):
        build_text(JOBS + line + "\n")
