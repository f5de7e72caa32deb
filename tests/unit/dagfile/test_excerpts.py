"""What a message shows of a line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.dagfile.excerpts import MAX_EXCERPT_LENGTH, excerpt


@pytest.mark.parametrize(
    ("line", "column", "expected"),
    [
        ("JOB A", 4, ("JOB A", 5)),
        ("  JOB\tA  ", 6, ("JOB A", 5)),
        ("JOB A", 5, ("JOB A", 6)),
        ("JOB A", 99, ("JOB A", 6)),
        ("a\x1bb\u00a0c \udcc3x", 7, ("a\\x1bb\\u00a0c \\xc3x", 19)),
        ("", 0, ("", 1)),
        ("   ", 1, ("", 1)),
        ("\U000e0001x", 1, ("\\U000e0001x", 11)),
    ],
)
def test_excerpts(line: str, column: int, expected: tuple[str, int]) -> None:
    assert excerpt(line, column) == expected


def test_of_a_long_line_the_part_around_the_column_is_shown() -> None:
    line = "a" * 1000 + "X" + "b" * 1000
    shown, caret = excerpt(line, 1000)
    assert len(shown) == MAX_EXCERPT_LENGTH
    assert shown[caret - 1] == "X"


@given(st.text(), st.integers(0, 50))
def test_the_caret_is_in_the_excerpt(line: str, column: int) -> None:
    shown, caret = excerpt(line, column)
    assert 1 <= caret <= len(shown) + 1
    assert shown.isprintable()
