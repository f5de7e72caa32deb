"""Outlines: a shape for each kind and each way of folding."""

from __future__ import annotations

from condor_pydagman.picture.box_outlines import body, sheets
from condor_pydagman.picture.sketch import Box, Fold
from condor_pydagman.vocabulary import NodeKind


def test_every_kind_and_every_fold_has_a_shape_of_its_own() -> None:
    boxes = [Box(Fold.NODE, "a", kind) for kind in NodeKind]
    boxes += [Box(Fold.SPLICE, "a"), Box(Fold.CHAIN, "a")]
    assert len({body(box, 100, 28) for box in boxes}) == len(boxes)


def test_only_stacks_have_sheets() -> None:
    assert not list(sheets(Box(Fold.NODE, "a"), 100, 28))
    assert len(list(sheets(Box(Fold.ALIKE, "a", things=2), 100, 28))) == 2
