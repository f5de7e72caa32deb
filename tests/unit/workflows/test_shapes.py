"""Shapes have the size asked for, the form that their papers show, and are always the same."""

from __future__ import annotations

import pytest

from tests.workflows.shapes import SHAPES, make


@pytest.mark.parametrize("shape", SHAPES)
def test_every_node_is_tied_to_others(shape: str) -> None:
    workflow = make(shape, 200)
    assert {node for edge in workflow.edges for node in edge} == set(workflow.nodes)
