"""Names in a piece: its own, and those of the DAG, which only edges may have."""

from __future__ import annotations

import pytest

from condor_pydagman.graph.build import BuildOptions
from condor_pydagman.graph.piece_building import PieceBuilding
from condor_pydagman.graph.problems import ProcessingError
from condor_pydagman.vocabulary import NodeKind
from tests.unit.graph.texts import JOBS, build_text


def building(begun: str = "") -> PieceBuilding:
    dag = build_text(JOBS + "FINAL F f.sub\n")
    return PieceBuilding(dag, BuildOptions(), lambda node: dag.names[node] in begun.split())


def test_a_node_of_the_dag_has_one_stand_in() -> None:
    piece = building()
    first = piece.find("B")
    assert first == piece.find("B") == 0
    assert piece.stand_ins == {0: 1}
    assert piece.find("Q") is None
    assert piece.all_numbers((["B"], ["A", "B"])) == [range(0, 1), [1, 0]]


def test_new_nodes_go_before_stand_ins_in_what_all_nodes_means() -> None:
    piece = building()
    piece.find("B")
    piece.add_node("X", "x.sub", NodeKind.JOB, 0, 1)
    assert list(piece.nodes("ALL_NODES")) == [1]


def test_only_edges_may_name_nodes_of_the_dag() -> None:
    piece = building()
    for ask in (piece.needed, piece.nodes):
        with pytest.raises(ProcessingError, match="is in the DAG already"):
            ask("A")
    assert piece.numbers(["A"]) is None


def test_names_of_the_dag_are_not_new() -> None:
    piece = building()
    assert piece.defined_at("A")
    assert piece.defined_at("X") is None
    assert not piece.dag.add_jobs(["X", "A"], ["x", "x"], [1, 2])


def test_nodes_that_have_begun_get_no_parent() -> None:
    piece = building("B")
    assert piece.all_numbers((["A"], ["C"])) is not None
    assert piece.all_numbers((["A"], ["B"])) is None
    node = piece.find("B")
    assert node is not None
    with pytest.raises(ProcessingError, match="Node B has begun"):
        piece.admit_edges([node])


def test_special_nodes_stay_special() -> None:
    piece = building()
    assert piece.find("F") in piece.special
