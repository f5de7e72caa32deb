"""Integers and word forms."""

from __future__ import annotations

import pytest

from condor_pydagman.dagfile.line_parts import integer, normal


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("3", 3),
        ("3x", 3),
        ("+3", 3),
        ("-3", -3),
        ("010", 10),
        ("1e3", 1),
        ("0x10", 0),
        ("2147483647", 2147483647),
        ("-2147483648", -2147483648),
        ("2147483648", None),
        ("9" * 10_000, None),
        ("0" * 10_000 + "7", 7),
        ("x", None),
        ("-", None),
        ("", None),
        ('"3"', None),
        ("\u0663", None),
    ],
)
def test_integers_are_lenient(word: str, value: int | None) -> None:
    assert integer(word) == value


def test_case_and_dashes_do_not_matter() -> None:
    assert normal("unless-Exit") == normal("UNLESS_EXIT")
