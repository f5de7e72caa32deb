"""CACHE, applied."""

from __future__ import annotations

import pytest

from condor_pydagman.cli.unparse import dag_lines
from condor_pydagman.features.cache.commands import Cache, cached_of
from tests.unit.graph.texts import JOBS, build_text, error, seen

ALL = JOBS + "JOB N a.sub NOOP\nSUBDAG EXTERNAL S s.dag\nFINAL F a.sub\nSERVICE V a.sub\n"


def test_lines_about_a_node_add_up() -> None:
    dag = build_text(
        JOBS
        + "CACHE ALL_NODES INPUTS c\nCACHE A CHECKSUM INPUTS a c OUTPUTS o\nCACHE A OUTPUTS p\n"
    )
    assert cached_of(dag)[dag.ids["A"]] == Cache(0, "", True, ("c", "a"), ("o", "p"), True)
    assert (
        cached_of(dag)[dag.ids["B"]] is cached_of(dag)[dag.ids["C"]] == Cache(0, "", False, ("c",))
    )


def test_the_last_line_about_a_name_holds() -> None:
    dag = build_text(
        JOBS
        + "CACHE ALL_NODES IGNORES arguments x COUNTS rank\nCACHE A COUNTS X y IGNORES rank z\n"
    )
    found = cached_of(dag)[dag.ids["A"]]
    assert (found.counts, found.ignores) == (("x", "y"), ("arguments", "rank", "z"))
    written = build_text("\n".join(dag_lines(dag)) + "\n", use_join_nodes=False)
    assert [one[-2:] for one in cached_of(written).values()] == [
        one[-2:] for one in cached_of(dag).values()
    ]


def test_all_nodes_are_those_that_can_have_it() -> None:
    dag = build_text(ALL + "PUBLISH B FILE b.ad\nCACHE ALL_NODES\nEXTEND C c.dag\n")
    assert [dag.names[node] for node in cached_of(dag)] == ["A"]


def test_names_in_a_splice_are_those_of_its_file() -> None:
    inner = "JOB A x\nJOB B x\nCACHE B INPUTS b\n"
    dag = build_text("JOB A x\nSPLICE S s.dag\n", {"s.dag": inner})
    assert cached_of(dag) == {dag.ids["S+B"]: Cache(0, "", False, ("b",), (), True)}
    dag = build_text("JOB A x\nSPLICE S s.dag\n", {"s.dag": inner + "CACHE ALL_NODES\n"})
    assert [dag.names[node] for node in sorted(cached_of(dag))] == ["S+A", "S+B"]


def test_a_sweep() -> None:
    dag = build_text("SWEEP r{x} a.sub OVER x IN 1..3\nCACHE r{x} INPUTS $(x).in\n")
    assert len(cached_of(dag)) == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("CACHE N", "CACHE can't be said of node N: it is a NOOP node, which runs nothing"),
        ("CACHE S", "CACHE can't be said of node S: it is a SUBDAG node"),
        ("CACHE F", "CACHE can't be said of node F: it is a FINAL node"),
        ("CACHE X", "Unknown node X referenced"),
        ("CACHE A\nPUBLISH A FILE a", "CACHE can't be said of node A: it has a PUBLISH"),
        ("EXTEND A a.dag\nCACHE A", "CACHE can't be said of node A: it adds to the DAG"),
    ],
)
def test_what_is_refused(text: str, said: str) -> None:
    assert said in error(ALL + text + "\n").detail()


def test_the_place_of_a_node_that_publishes() -> None:
    found = error("JOB Z x\nJOB A x\nCACHE A\nPUBLISH A FILE a\n")
    assert (found.file, found.line) == ("x.dag", 2)


def test_it_is_written_out() -> None:
    text = JOBS + "CACHE ALL_NODES CHECKSUM INPUTS 'a b'\nCACHE B OUTPUTS o\n"
    dag = build_text(text)
    written = "\n".join(dag_lines(dag))
    assert "CACHE B CHECKSUM INPUTS" in written
    again = build_text(written + "\n", allow_any_node_name_characters=True, use_join_nodes=False)
    named = {node: one._replace(named=True) for node, one in cached_of(dag).items()}
    assert cached_of(again) == named
    assert seen(again)["names"] == seen(dag)["names"]
