"""SHARED_LIMIT: which nodes keep to which limits."""

from __future__ import annotations

from condor_pydagman.cli.unparse import dag_lines
from condor_pydagman.features.growth.commands import add_piece
from condor_pydagman.features.growth.piece import PieceText
from condor_pydagman.features.shared_limits.commands import LimitClasses
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.graph.model import Dag
from tests.pieces import piece_of
from tests.unit.graph.texts import JOBS, build_text, error


def limits(dag: Dag) -> dict[str, tuple[str, ...]]:
    """The limits of nodes that have any."""
    found = LimitClasses(dag)
    return {dag.names[node]: found.names[number] for node, number in enumerate(found.of) if number}


def test_nodes_with_the_same_limits_are_a_class() -> None:
    text = JOBS + "SHARED_LIMIT a ALL_NODES\nSHARED_LIMIT b NODES C A\nSHARED_LIMIT A NODES B\n"
    dag = build_text(text)
    assert limits(dag) == {"A": ("a", "b"), "B": ("a",), "C": ("a", "b")}
    assert len(set(LimitClasses(dag).of)) == 2


def test_nodes_of_a_sweep() -> None:
    dag = build_text(JOBS + "SWEEP w_{e} x OVER e IN 1 2\nSHARED_LIMIT a NODES w_{e} A\n")
    assert limits(dag) == {"A": ("a",), "w_1": ("a",), "w_2": ("a",)}


def test_all_nodes_are_not_named_one_by_one() -> None:
    found = error(JOBS + "SHARED_LIMIT a NODES ALL_NODES\n")
    assert found.message == "Unknown node ALL_NODES referenced"


def test_a_category_may_get_its_nodes_later() -> None:
    dag = build_text(JOBS + "SHARED_LIMIT a CATEGORY big\nCATEGORY B big\n")
    assert limits(dag) == {"B": ("a",)}


def test_a_splice_names_its_own_nodes_and_categories() -> None:
    inner = JOBS + "SHARED_LIMIT a ALL_NODES\nSHARED_LIMIT b CATEGORY c\nCATEGORY A c\n"
    dag = build_text("SPLICE S s\nJOB Z x\nCATEGORY Z c\nSPLICE T s\n", {"s": inner})
    assert limits(dag) == {
        "S+A": ("a", "b"),
        "S+B": ("a",),
        "S+C": ("a",),
        "T+A": ("a", "b"),
        "T+B": ("a",),
        "T+C": ("a",),
    }


def test_other_nodes_than_those_with_jobs_of_their_own_keep_to_none() -> None:
    text = (
        "FINAL F x\nSERVICE S x\nPROVISIONER P x\nSUBDAG EXTERNAL D d\nSHARED_LIMIT a ALL_NODES\n"
    )
    assert limits(build_text(JOBS + text)) == {"A": ("a",), "B": ("a",), "C": ("a",)}


def test_a_splice_with_other_nodes_can_be_written_as_one_file() -> None:
    inner = "JOB A x\nSUBDAG EXTERNAL D d\nSHARED_LIMIT a ALL_NODES\n"
    dag = build_text("SPLICE S s\nSPLICE T t\n", {"s": inner, "t": inner[8:]})
    text = "\n".join([*dag_lines(dag), ""])
    again = build_text(text, allow_any_node_name_characters=True)
    assert limits(again) == limits(dag) == {"S+A": ("a",)}


def test_classes_grow_with_the_dag() -> None:
    text = JOBS + "SHARED_LIMIT a CATEGORY big\nSHARED_LIMIT b ALL_NODES\nCATEGORY A big\n"
    dag = build_text(text)
    found = LimitClasses(dag)
    before = list(found.names)
    lines = "JOB X x\nJOB Y x\nCATEGORY X big\nSHARED_LIMIT c NODES Y\nSHARED_LIMIT B ALL_NODES\n"
    piece = piece_of(dag, PieceText("p", {"p": lines}, BuildOptions()))
    found.grow(dag, add_piece(dag, piece, 1).nodes)
    assert found.names[: len(before)] == before
    kept = {dag.names[n]: set(found.names[number]) for n, number in enumerate(found.of)}
    assert kept == {name: set(names) for name, names in limits(dag).items()}
    assert kept == {"A": {"a", "b"}, "B": {"b"}, "C": {"b"}, "X": {"a", "b"}, "Y": {"b", "c"}}


def test_a_category_without_nodes_is_told() -> None:
    dag = build_text(JOBS + "SHARED_LIMIT a CATEGORY big\n")
    assert any("SHARED_LIMIT a CATEGORY big will have no effect" in one for one in dag.warnings)
