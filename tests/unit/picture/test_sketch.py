"""Boxes: what they say about the nodes in them."""

from __future__ import annotations

from condor_pydagman.picture.sketch import Box, Fold
from condor_pydagman.picture.states import State


def test_a_state_that_all_nodes_share_is_the_state_of_the_box() -> None:
    box = Box(Fold.ALIKE, "a … b")
    assert (box.state(), box.nodes) == (None, 0)
    box.counts[State.DONE] = 3
    assert (box.state(), box.nodes) == (State.DONE, 3)
    box.counts[State.FAILED] = 1
    assert (box.state(), box.nodes) == (None, 4)


def test_only_boxes_of_many_are_folded() -> None:
    folded = {fold for fold in Fold if Box(fold, "").is_folded}
    assert folded == {Fold.SPLICE, Fold.ALIKE, Fold.CHAIN, Fold.LAYERS}
