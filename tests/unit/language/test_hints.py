"""What a person is told about the mistakes that people make, and what is shown of the line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.language.hints import nearest, odd_character
from condor_pydagman.language.keywords import WORDS
from condor_pydagman.language.lexer import MAX_EXCERPT_LENGTH, excerpt
from tests.unit.language.one_line import wrong


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("PARNT A CHILD B", "did you mean PARENT?"),
        ("JBO A x", "did you mean JOB?"),
        ("abortdagon A 1", "did you mean ABORT_DAG_ON?"),
        ("NODE A x", "did you mean JOB?"),
        ("POST A x", "did you mean SCRIPT POST?"),
        ("CHILD B", "CHILD stands in the line of its PARENT"),
        ("\ufeffJOB A x", "byte order mark"),
        ("\n\ufeffJOB A x", "U+FEFF"),
        ("JOB\u00a0A x", "U+00A0 (no-break space) means nothing in the DAG language: use a blank"),
        ("JOB\u00a0A x", "did you mean JOB?"),
        ("PRE\u2013SKIP A 1", "(en dash)"),
        ("PRE\u2013SKIP A 1", "did you mean PRE_SKIP?"),
        ("}", "no inline submit description is open here"),
        ("executable = x", "this is a line of a submit description"),
        ("queue 3", "this is a line of a submit description"),
        ("iter 3", "this is a line of a submit description"),
        ("RETRY A 3 # thrice", "a comment must be on a line of its own"),
        ("JOB A x // first", "a comment must be on a line of its own"),
        ("JOB A \u201ca b\u201d", "U+201D (right double quotation mark)"),
        ("RETRY A \u22123", "(minus sign) means nothing in the DAG language: use -"),
        ("RETRY A 3 UNLESS\u2010EXIT 2", "did you mean UNLESS-EXIT?"),
        ('JOB A "x', "the quote that opens here is never closed"),
        ('VARS A x="a\u201d', "(right double quotation mark)"),
        ("JOB A x\u00a0NOOP y", "U+00A0"),
        ("VARS A x=\u201ca b\u201d", "U+201C (left double quotation mark)"),
        ("VARS A x=\u201ca b c=d\u201d", "double quotation mark)"),
        ("NOTIFY dag.ended PROGRAM x", "did you mean dag.end?"),
        ("NOTIFY zzz PROGRAM x", "known are: bundle.end, "),
        ("ABORT-DAG-ON A RETURN 3", "expected the exit code of the node before RETURN"),
    ],
)
def test_hints(text: str, part: str) -> None:
    assert part in wrong(text).hint


@pytest.mark.parametrize("word", sorted(WORDS))
def test_every_command_word_is_recognised_with_a_letter_missing(word: str) -> None:
    if len(word) > 3:
        assert wrong(word[:2] + word[3:] + " A").hint == f"did you mean {word}?"


def test_nothing_is_said_of_words_like_no_other() -> None:
    assert wrong("xyzzy").hint == ""
    assert nearest("xyzzy", ("DIR", "NOOP")) == ""
    assert odd_character("plain") == ""
    assert wrong("x" * 100_000).hint == ""


# What a message shows of a line.


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
