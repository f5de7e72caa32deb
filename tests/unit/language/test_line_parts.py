"""Integers and word forms, and words that are written so that the lexer reads what was meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.language.lexer import Words, file_word, joined, name_word, node_word, quoted
from condor_pydagman.language.lines import integer, normal


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


# Words are written so that the lexer reads what was meant; see test_printer as well.


@given(st.text(alphabet="a\"' \\\t.", min_size=1, max_size=8))
def test_a_file_is_read_back_whatever_its_name(name: str) -> None:
    assert Words(file_word(name)).next_file() == name


def test_plain_words_stand_as_they_are() -> None:
    assert (file_word("a.sub"), name_word("A+b"), node_word("A")) == ("a.sub", "A+b", "A")
    assert (file_word("a b"), file_word("")) == ('"a b"', '""')


def test_what_stands_in_quotes_gets_its_backslashes_back() -> None:
    assert name_word(r'"a"b\c"') == r'"a\"b\\c"'
    assert quoted('a "b') == r'"a \"b"'


def test_a_name_with_an_open_quote() -> None:
    with pytest.raises(ValueError, match="not closed"):
        name_word('a"b')
    assert node_word('a"b') == 'a"b'


def test_empty_words_leave_no_blanks() -> None:
    assert joined("a", "", "b", "") == "a b"
