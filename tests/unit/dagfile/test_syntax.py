"""Integers, word forms and the SYNTAX table."""

from __future__ import annotations

import pytest

from condor_pydagman.dagfile.syntax import SYNTAX, integer, normal


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


def test_every_word_of_the_language_is_known() -> None:
    later = {word for word, syntax in SYNTAX.items() if not syntax.supported}
    assert len(SYNTAX) == 31
    assert {"FINAL", "SPLICE", "SUBDAG", "WEAK"} <= later
    assert all(syntax.parse for syntax in SYNTAX.values() if syntax.supported)
    assert all(syntax.word == word == normal(word) for word, syntax in SYNTAX.items())
