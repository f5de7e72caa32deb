"""Boxes: their words, sizes and outlines, and what they say about the nodes in them."""

from __future__ import annotations

import pytest

from condor_pydagman.follow.shown_states import Shown
from condor_pydagman.picture.shapes import body, describe, face, sheets, short_label
from condor_pydagman.picture.sketch import Box, Fold
from condor_pydagman.vocabulary import NodeKind


def folded(label: str, fold: Fold = Fold.ALIKE, **counts: int) -> Box:
    box = Box(fold, label, things=sum(counts.values()))
    for name, count in counts.items():
        box.counts[Shown[name]] = count
    return box


def test_failed_nodes_are_named_first() -> None:
    assert describe(folded("a … b", DONE=5000, FAILED=2)) == "5,002 nodes · 2 failed · 5,000 done"


@pytest.mark.parametrize(
    ("counts", "colour"),
    [
        ({"DONE": 999, "FAILED": 1, "HELD": 1}, Shown.FAILED),
        ({"DONE": 999, "HELD": 1, "FUTILE": 1}, Shown.HELD),
        ({"DONE": 2, "RUNNING": 1}, None),
        ({"DONE": 3}, Shown.DONE),
    ],
)
def test_a_box_has_the_colour_of_its_worst_node(counts: dict[str, int], colour: Shown) -> None:
    assert folded("a … b", **counts).colour() == colour


def test_one_state_is_said_once() -> None:
    assert describe(folded("a … b", DONE=3)) == "3 nodes, all done"
    assert describe(folded("a … b", WAITING=3)) == "3 nodes, waiting"


def test_many_states_are_cut() -> None:
    assert describe(folded("a", DONE=4, IDLE=3, RUNNING=2, WAITING=1)).endswith("2 running · …")


def test_splices_are_counted() -> None:
    box = folded("S0 … S9", DONE=30)
    box.splices, box.things = True, 10
    assert describe(box) == "10 splices · 30 nodes, all done"


def test_the_splice_around_both_names_is_said_once() -> None:
    assert short_label(folded("S+T+a1 … S+T+a9", DONE=2)) == "S+T+a1 … a9"


def test_a_name_of_a_million_characters_gives_a_small_box() -> None:
    box = Box(Fold.NODE, "x" * 1_000_000)
    assert face(box).width < 500
    assert len(face(box).label) <= 40


def test_a_dot_is_small_and_without_words() -> None:
    assert face(Box(Fold.DOT, "_condor_join_node0")) == (10, 10, "", "")


# Outlines: a shape for each kind and each way of folding.


def test_every_kind_and_every_fold_has_a_shape_of_its_own() -> None:
    boxes = [Box(Fold.NODE, "a", kind) for kind in NodeKind]
    boxes += [Box(Fold.SPLICE, "a"), Box(Fold.CHAIN, "a")]
    assert len({body(box, 100, 28) for box in boxes}) == len(boxes)


def test_only_stacks_have_sheets() -> None:
    assert not list(sheets(Box(Fold.NODE, "a"), 100, 28))
    assert len(list(sheets(Box(Fold.ALIKE, "a", things=2), 100, 28))) == 2


# Boxes: what they say about the nodes in them.


def test_a_state_that_all_nodes_share_is_the_state_of_the_box() -> None:
    box = Box(Fold.ALIKE, "a … b")
    assert (box.state(), box.nodes) == (None, 0)
    box.counts[Shown.DONE] = 3
    assert (box.state(), box.nodes) == (Shown.DONE, 3)
    box.counts[Shown.FAILED] = 1
    assert (box.state(), box.nodes) == (None, 4)


def test_only_boxes_of_many_are_folded() -> None:
    folded = {fold for fold in Fold if Box(fold, "").is_folded}
    assert folded == {Fold.SPLICE, Fold.ALIKE, Fold.CHAIN, Fold.LAYERS}
