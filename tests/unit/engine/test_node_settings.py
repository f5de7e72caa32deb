"""What a person sets for nodes: its text in the nodes log, and what is in force then."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from condor_pydagman.engine.node_settings import (
    NodeSettings,
    categories_in_force,
    read_settings,
    recorded_bytes,
    retry_in_force,
    settings_text,
    shown,
    timeout_in_force,
    variables_in_force,
)
from condor_pydagman.graph.model import Retry, Timeout, Variable

_NUMBERS = some.none() | some.integers(0, 9)


@given(
    some.builds(
        NodeSettings,
        priority=some.none() | some.integers(-5, 5),
        retries=_NUMBERS,
        timeout=some.none() | some.tuples(_NUMBERS, _NUMBERS, _NUMBERS),
        category=some.none() | some.text(min_size=1),
        variables=some.lists(some.tuples(some.text(), some.text())).map(tuple),
    )
)
def test_it_is_read_back(settings: NodeSettings) -> None:
    text = settings_text(settings)
    assert text.isascii()
    assert text.isprintable()
    assert read_settings(text) == settings


@pytest.mark.parametrize("text", ["", "{", "[]", "7", '{"color":"red"}', '{"timeout":5}', "null"])
def test_what_a_later_version_says_is_not_read(text: str) -> None:
    assert read_settings(text) is None


def test_what_is_set_later_goes_before() -> None:
    first = NodeSettings(1, 2, (3, None, 5), "a", (("x", "1"), ("y", "2")))
    later = NodeSettings(retries=0, timeout=(None, 4, 0), variables=(("y", "3"), ("z", "4")))
    pairs = (("x", "1"), ("y", "3"), ("z", "4"))
    assert first.merged(later) == NodeSettings(1, 0, (3, 4, 0), "a", pairs)
    assert first.merged(NodeSettings()) == first


def test_what_is_in_force() -> None:
    settings = NodeSettings(retries=0, timeout=(None, 4, 0), category="b")
    assert retry_in_force(Retry(3, delay=7), settings) == Retry(0, delay=7)
    assert retry_in_force(None, NodeSettings()) is None
    assert timeout_in_force(Timeout(1, 2, 3), settings) == Timeout(1, 4, 0)
    assert timeout_in_force(Timeout(1), None) == Timeout(1)
    assert categories_in_force({0: "a", 1: "a"}, {1: settings}) == {0: "a", 1: "b"}
    variables = variables_in_force([Variable("k", "old", True)], [("k", "new"), ("l", "2")])
    assert variables == (Variable("k", "new", True), Variable("l", "2", False))


def test_values_of_vars_are_not_shown() -> None:
    settings = NodeSettings(5, 0, (60, None, None), "big", (("password", "secret"),))
    assert shown(settings) == (
        "priority 5, retries 0, category big, timeout queued 60 s, VARS password"
    )


def test_bytes_of_the_log_are_counted_with_escapes() -> None:
    assert recorded_bytes("ä", 'x"\\') == 2 + 3 + 2
