"""The pairs of VARS lines; what stock makes of odd quoting is in graph/stock_reactions.json."""

from __future__ import annotations

import pytest

from condor_pydagman.language.lexer import LineError, Words
from condor_pydagman.language.modifier_lines import read_pairs


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("a=1", (None, [("a", "1")])),
        ("a = 1 b= 2 c =3", (None, [("a", "1"), ("b", "2"), ("c", "3")])),
        ('a="x y" b=\'p "q"\'', (None, [("a", "x y"), ("b", 'p "q"')])),
        (r'a="x\"y\\z\w"', (None, [("a", 'x"y\\zw')])),
        ('a=""', (None, [("a", "")])),
        ("a=b=c", (None, [("a", "b=c")])),
        ('a=x"y z"', (None, [("a", 'x"y z"')])),
        ("+a=1 My.b=2", (None, [("My.a", "1"), ("My.b", "2")])),
        ("PREPEND a=1", (False, [("a", "1")])),
        ("append a=1 append=2", (True, [("a", "1"), ("append", "2")])),
        ("APPEND=1", (None, [("APPEND", "1")])),
    ],
)
def test_pairs(rest: str, expected: object) -> None:
    assert read_pairs(Words(rest)) == expected


@pytest.mark.parametrize(
    ("rest", "column", "hint"),
    [
        ("x=a b", 5, ""),
        ("x=a b c=1", 6, "expected = after b; a value with blanks must be quoted"),
        ("x==1", 2, "a value that begins with = must be quoted"),
        ("x=1 'y'=2", 4, "only the value may be quoted"),
    ],
)
def test_where_pairs_are_wrong_and_what_to_do(rest: str, column: int, hint: str) -> None:
    with pytest.raises(LineError) as caught:
        read_pairs(Words(rest))
    assert (caught.value.column, caught.value.hint) == (column, hint)
