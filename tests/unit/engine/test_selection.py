"""Which nodes a person means."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman.engine.node_states import Cause
from condor_pydagman.engine.nodes import Nodes
from condor_pydagman.engine.selection import SelectionError, chosen
from condor_pydagman.vocabulary import STATE_WORDS, NodeStatus
from tests import make


@pytest.fixture
def nodes() -> Nodes:
    found = Nodes(make.dag("align_1 align_2; sum", categories={"align_1": "big"}))
    found.move(2, Cause.MARKED_DONE, 0.0)
    return found


def test_a_category_that_was_set_counts() -> None:
    found = Nodes(make.dag("A; B", categories={"A": "big"}))
    assert chosen(found, "category", "big", {0: "small", 1: "big"}) == [1]


def test_by_each_kind(nodes: Nodes) -> None:
    assert chosen(nodes, "names", ("sum", "align_1", "sum"), nodes.dag.categories) == [2, 0]
    assert chosen(nodes, "pattern", "align_*", nodes.dag.categories) == [0, 1]
    assert chosen(nodes, "state", "done", nodes.dag.categories) == [2]
    assert chosen(nodes, "state", "failed", nodes.dag.categories) == []
    assert chosen(nodes, "category", "big", nodes.dag.categories) == [0]


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        ("names", ("aling_1",), "no node 'aling_1'; did you mean align_1"),
        ("names", ("x" * 100_000,), "no node"),
        ("pattern", "b*", "no node's name matches 'b*'"),
        ("pattern", "?" * 100_000, "at most 1000 characters"),
        ("state", "dead", "no state 'dead'; the states are waiting"),
        ("category", "small", "no node has the category 'small'; those with nodes are big"),
    ],
)
def test_what_is_not_there(nodes: Nodes, kind: str, value: Any, words: str) -> None:
    with pytest.raises(SelectionError) as error:
        chosen(nodes, kind, value, nodes.dag.categories)
    assert words in str(error.value)


def test_what_this_python_takes_for_no_pattern(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python 3.9 makes this of [[-!], which newer ones match."""
    monkeypatch.setattr("fnmatch.translate", lambda _: r"[\[-!]")
    with pytest.raises(SelectionError, match="is no pattern: bad character range"):
        chosen(nodes, "pattern", "[[-!]", nodes.dag.categories)


def test_each_state_has_a_word() -> None:
    assert set(STATE_WORDS.values()) == set(NodeStatus)
