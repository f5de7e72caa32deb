"""Where a text stops to be a ClassAd expression."""

from __future__ import annotations

import pytest

from condor_pydagman.sites.expression_text import first_mistake

MISTAKES = [
    ("1 +", 2, "a value is missing after this"),
    ('"north', 0, "this text has no end: a quote is missing"),
    ("(a && b", 0, "'(' is not closed"),
    ("a && b)", 6, "')' closes nothing"),
    ("f(a]", 3, "']' closes nothing"),
    ("a b", 2, "an operator is missing before 'b'"),
    ('a == "x" "y"', 9, "an operator is missing before"),
    ("a && && b", 5, "'&&' needs a value before it"),
    ("a = 1", 2, "a single '=' is no comparison: write == or =?="),
    ("a @ b", 2, "'@' has no meaning here"),
    ("", 0, "a value is missing after this"),
]


@pytest.mark.parametrize(("expression", "where", "why"), MISTAKES)
def test_the_first_mistake_is_named(expression: str, where: int, why: str) -> None:
    at, reason = first_mistake(expression)
    assert (at, reason[: len(why)]) == (where, why)


def test_what_looks_well_is_wrong_as_a_whole() -> None:
    assert first_mistake("a ? b") == (0, "this is no ClassAd expression")
    assert first_mistake('[ a = 1; b = .c ] . a - -2 + f("x", {1, 2})[0]')[0] == 0
