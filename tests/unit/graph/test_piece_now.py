"""What a node would add if it had ended well now."""

from __future__ import annotations

import pytest

from condor_pydagman.graph.build import BuildOptions
from condor_pydagman.graph.piece import Piece
from condor_pydagman.graph.piece_now import read_now
from condor_pydagman.graph.problems import DagFileErrors
from tests.unit.graph.texts import build_text

DAG = "JOB A a.sub\nJOB Z a.sub\nPARENT A CHILD Z\n"


def piece(line: str, text: str, **files: str) -> Piece:
    dag = build_text(DAG + line)
    found = read_now(dag, 0, text, files.__getitem__, BuildOptions())
    assert dag.names == ["A", "Z"]
    return found


def test_a_list() -> None:
    found = piece("SCATTER A l x-{item} a.sub VARS k={number}\n", "a\nb\n")
    assert found.dag.names == ["x-a", "x-b", "A", "Z"]
    assert (found.size, found.known, found.children) == (2, (0, 1), (1,))


def test_a_dag_file_and_those_that_it_includes() -> None:
    found = piece("EXTEND A m ANYWHERE\n", "JOB B b.sub\nINCLUDE n\n", n="JOB C c.sub\n")
    assert found.dag.names == ["B", "C"]


def test_what_is_refused() -> None:
    with pytest.raises(DagFileErrors, match="already exists"):
        piece("EXTEND A m\n", "JOB Z b.sub\n")
