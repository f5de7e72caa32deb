"""Ranges of values in SWEEP lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.dagfile.sweep_values import count, mistake, values


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("7", "7"),
        ("a..b", "a..b"),
        ("../x", "../x"),
        ("1..4", "1 2 3 4"),
        ("3..1", "3 2 1"),
        ("-1..1", "-1 0 1"),
        ("1..10..4", "1 5 9"),
        ("10..1..-4", "10 6 2"),
        ("08..11", "08 09 10 11"),
        ("-02..01", "-02 -01 000 001"),
        ("0..1..0.25", "0.00 0.25 0.50 0.75 1.00"),
        ("0.1..0.3..0.1", "0.1 0.2 0.3"),
        ("5..5", "5"),
    ],
)
def test_values(word: str, meant: str) -> None:
    assert mistake(word) == ""
    assert list(values(word)) == meant.split()
    assert count(word) == len(meant.split())


@pytest.mark.parametrize(
    "word", ["1..", "1..x", "1..2..", "1..2..0", "1..2..3..4", "1.5.6..7", "1...3"]
)
def test_mistakes(word: str) -> None:
    assert "range" in mistake(word)


@given(st.integers(-99, 99), st.integers(-99, 99), st.integers(1, 9))
def test_ranges_of_whole_numbers(first: int, last: int, step: int) -> None:
    expected = range(first, last + 1, step) if last >= first else range(first, last - 1, -step)
    assert list(map(int, values(f"{first}..{last}..{step}"))) == list(expected)
