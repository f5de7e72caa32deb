"""Where a text stops to be a ClassAd expression."""

from __future__ import annotations

import classad2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from condor_pydagman.features.common.expression_text import first_mistake

MISTAKES = [
    ("1 +", 2, "a value is missing after this"),
    ('"north', 0, "this text has no end: a quote is missing"),
    ("(a && b", 0, "'(' is not closed"),
    ("a && b)", 6, "')' closes nothing"),
    ("f(a]", 3, "']' closes nothing"),
    ("a b", 2, "an operator is missing before 'b'"),
    ("a == 'x' \"y\"", 9, "an operator is missing before"),
    ("a and b", 2, "'and' is no operator: write &&"),
    ("a OR b", 2, "'OR' is no operator: write ||"),
    ("not a", 4, "'not' is no operator: write !"),
    ("a > 50%", 6, "a value is missing after this: % is the remainder of a division"),
    ("a && && b", 5, "'&&' needs a value before it"),
    ("a = 1", 2, "a single '=' is no comparison: write == or =?="),
    ("a @ b", 2, "'@' has no meaning here"),
    ("", 0, "a value is missing after this"),
]


@pytest.mark.parametrize(("expression", "where", "why"), MISTAKES)
def test_the_first_mistake_is_named(expression: str, where: int, why: str) -> None:
    found = first_mistake(expression)
    assert found is not None
    assert (found[0], found[1][: len(why)]) == (where, why)
    if expression:
        with pytest.raises(classad2.ClassAdException):
            classad2.ExprTree(expression)


# No number in base 16: the bindings take it for 0 here, and refuse it elsewhere.
GOOD = [
    '[ a = 1; b = .c ].a - -2 + f("x", {1, 2}, {})[0]',
    "TARGET.Cpus >= 4 && !(Owner is undefined) || x isnt error",
    'a ? b : c ?: "d" // why\n',
    "1.5E3 + 31 * -0.5 % 3",
    "1 /* of three */ << 2 >>> 1",
    '\'odd name\' =?= "a \\" b" && ~x ^ y | z & 1',
    'strcat("a", string(now())) =!= undefined',
]


@pytest.mark.parametrize("expression", GOOD)
def test_what_the_bindings_take_has_no_mistake(expression: str) -> None:
    classad2.ExprTree(expression)
    assert first_mistake(expression) is None


PIECES = st.sampled_from(
    [*"()[]{}?:,;.=+-*/%!<>", "==", "=?=", "&&", "||", "is", "a", "TARGET.b", "1", '"t"', " ", "f("]
)


def parses(expression: str) -> bool:
    try:
        classad2.ExprTree(expression)
    except (classad2.ClassAdException, RuntimeError, ValueError):
        return False
    return True


@given(st.lists(PIECES, max_size=9).map(" ".join))
@settings(max_examples=500)
def test_no_mistake_is_found_where_the_bindings_find_none(expression: str) -> None:
    found = first_mistake(expression)
    if parses(expression) and found is not None:
        # The bindings pass over what comes after a whole expression, `a ]` for one.
        assert parses(expression[: found[0]])
