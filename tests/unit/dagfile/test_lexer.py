"""Logical lines and words: the lexical rules of DAG files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.dagfile.lexer import Lines, QuotingError, Words, splits_plainly


def logical(text: str) -> list[tuple[int, str]]:
    lines = Lines(text)
    return [(lines.number, line) for line in lines.logical()]


def words(line: str) -> list[str]:
    reader = Words(line)
    found: list[str] = []
    while True:
        word = reader.next()
        if not word:
            return found
        found.append(word)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("a", [(1, "a")]),
        (" \t a b\t\n", [(1, "a b")]),
        ("# x\n// y\n\n a\r\n", [(4, "a")]),
        ("a # b", [(1, "a # b")]),
        ("a \\\nb\nc", [(2, "a  b"), (3, "c")]),
        ("a\\\n\n# \\\n  b", [(4, "a b")]),
        ("a\\ \r\n\tb", [(2, "a b")]),
        ("a\nb\\", [(1, "a")]),
        ("a\\\n# end", []),
        ("\f a \v", [(1, "a")]),
        ("a\\\\\nb", [(2, "a\\ b")]),
    ],
)
def test_logical_lines(text: str, expected: list[tuple[int, str]]) -> None:
    assert logical(text) == expected


def test_a_million_continued_lines_are_one() -> None:
    ((number, line),) = logical("a\\\n" * 1_000_000 + "b")
    assert number == 1_000_001
    assert line.endswith("a a b")


def test_description_ends_at_its_word_and_drops_comments() -> None:
    lines = Lines("JOB A {\n x = \\\n\n#c\n}x\n  } DIR d\nrest")
    assert next(lines.logical()) == "JOB A {"
    assert lines.description("}") == ("x = \\\n}x", "} DIR d")
    assert lines.number == 6
    assert next(lines.logical()) == "rest"


def test_description_without_end() -> None:
    assert Lines("x\n}\tDIR").description("}") is None


@pytest.mark.parametrize(
    ("text", "column", "expected"),
    [
        ("\n\t a b\n", 2, (2, "\t a b", 4)),
        ("a \\\n\n  b \\\n c ", 0, (1, "a \\", 0)),
        ("a \\\n\n  b \\\n c ", 2, (1, "a \\", 2)),
        ("a \\\n\n  b \\\n c ", 3, (3, "  b \\", 2)),
        ("a \\\n\n  b \\\n c ", 6, (4, " c ", 1)),
        ("a \\\n\n  b \\\n c ", 7, (4, " c ", 2)),
    ],
)
def test_columns_are_found_again_in_the_text(text: str, column: int, expected: object) -> None:
    lines = Lines(text)
    next(lines.logical())
    assert lines.where(column) == expected


def test_columns_after_a_description() -> None:
    lines = Lines("JOB A \\\n {\nx\n  } DIR d")
    assert next(lines.logical()) == "JOB A  {"
    lines.description("}")
    assert lines.where(2) == (4, "  } DIR d", 4)


def test_a_cut_off_command_is_told() -> None:
    lines = Lines("a\nb \\\n c \\\n#")
    assert (list(lines.logical()), lines.cut_off) == (["a"], 2)


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


@given(st.text(alphabet="a#/\\ \r\n{}"))
def test_line_numbers_grow_and_stay_in_the_file(text: str) -> None:
    numbers = [number for number, _ in logical(text)]
    assert numbers == sorted(set(numbers))
    assert all(1 <= number <= text.count("\n") + 1 for number in numbers)
