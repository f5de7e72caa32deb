"""The words of a line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.language.lexer import QuotingError, Words, splits_plainly


def words(line: str) -> list[str]:
    reader = Words(line)
    found: list[str] = []
    while True:
        word = reader.next()
        if not word:
            return found
        found.append(word)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a\tb\r c", ["a", "b", "c"]),
        ('"a b" c', ['"a b"', "c"]),
        ("x' y'z", ["x' y'z"]),
        (r'"a\"b\c"', [r'"a"bc"']),
        (r"'a\'b'", ["'a'b'"]),
        (r"a\ b", ["a\\", "b"]),
        ("a\fb\u00a0c", ["a\fb\u00a0c"]),
        ("''", ["''"]),
    ],
)
def test_words(line: str, expected: list[str]) -> None:
    assert words(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [('"a b"c', "a bc"), ("'a\"b'", 'a"b'), ('"" x', "x"), ('""', ""), (r'"a\"b"', 'a"b')],
)
def test_file_words_lose_their_quotes(line: str, expected: str) -> None:
    assert Words(line).next_file() == expected


@pytest.mark.parametrize(("line", "column"), [('a"b c', 1), ("'", 0), ('"a\\"', 0), ('"a\\', 0)])
def test_open_quote_is_an_error_with_its_place(line: str, column: int) -> None:
    with pytest.raises(QuotingError) as caught:
        words(line)
    assert caught.value.column == column


def test_rest_is_raw() -> None:
    reader = Words('PRE  A   "x  \\y')
    assert (reader.next(), reader.next(), reader.rest()) == ("PRE", "A", '"x  \\y')
    assert reader.next() == ""


def test_column_of_the_last_word() -> None:
    reader = Words("ab  cd")
    reader.next()
    reader.next()
    assert reader.column == 4
    reader.next()
    assert reader.column == 6


@given(st.text(alphabet="ab \t\r\f\u00a0\x1c"))
def test_plain_text_splits_as_words_do(line: str) -> None:
    if splits_plainly(line):
        assert words(line) == line.split()
