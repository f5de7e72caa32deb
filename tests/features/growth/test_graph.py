"""EXTEND, SCATTER and FEEDER in a Dag."""

from __future__ import annotations

import pytest

from condor_pydagman.features.feeder.commands import Feeder, feeder_of
from condor_pydagman.features.growth.commands import Extend, Scatter, growth_of
from condor_pydagman.graph.build import DagFileErrors
from tests.unit.graph.texts import JOBS, build_text


def test_what_a_node_adds() -> None:
    dag = build_text(JOBS + "EXTEND A m.dag\nSCATTER B l x{item} x.sub DIR d VARS k={item}\n")
    assert growth_of(dag).extensions == {
        0: Extend(0, "", "m.dag", prefix=""),
        1: Scatter(0, "", "l", "x{item}", "x.sub", "d", "", pairs=(("k", "{item}"),)),
    }


def test_in_a_splice_names_and_files_mean_what_they_do_there() -> None:
    splice = JOBS + "EXTEND A m.dag\nEXTEND B m.dag PREFIX own-\n"
    dag = build_text("SPLICE S s.dag DIR d\n", {"d/s.dag": splice})
    assert list(growth_of(dag).extensions.values()) == [
        Extend(0, "", "d/m.dag", directory="d", prefix="S+"),
        Extend(0, "", "d/m.dag", directory="d", prefix="own-"),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("EXTEND Q m", "Unknown node Q referenced"),
        ("EXTEND F m", "Node F can't add to the DAG"),
        ("EXTEND A m\nSCATTER A l {item} x", "Node A has an EXTEND or SCATTER already"),
        ("EXTEND ALL_NODES m", "Unknown node ALL_NODES"),
        ("GROWN 1 abc", "Piece 1 of the DAG is not there"),
        ("FEEDER BELOW 1 PROGRAM a\nFEEDER BELOW 1 PROGRAM b", "The DAG has a FEEDER already"),
    ],
)
def test_what_is_refused(line: str, message: str) -> None:
    with pytest.raises(DagFileErrors, match=message):
        build_text(JOBS + "FINAL F f\n" + line + "\n")


@pytest.mark.parametrize("line", ["EXTEND m.dag A", "SCATTER l A x-{item}.sub a"])
def test_a_file_before_the_node(line: str) -> None:
    with pytest.raises(DagFileErrors) as caught:
        build_text(JOBS + line + "\n")
    word = line.split()[0]
    assert f"the node comes first: {word} A {line.split()[1]}" in caught.value.detail()


def test_a_feeder() -> None:
    dag = build_text("FEEDER BELOW 5 AT-MOST 9 PROGRAM feed $FEEDING\n")
    assert feeder_of(dag) == Feeder(0, 5, 9, 3600, 5, "feed $FEEDING")
    assert len(dag) == 0


def test_a_splice_has_no_feeder() -> None:
    splice = JOBS + "FEEDER BELOW 5 PROGRAM feed\n"
    with pytest.raises(DagFileErrors, match="FEEDER can't be used in a splice"):
        build_text("SPLICE S s.dag\n", {"s.dag": splice})
