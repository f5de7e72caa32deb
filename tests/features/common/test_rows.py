"""What follows from the rows of commands, of each of them."""

from __future__ import annotations

import pytest

from condor_pydagman.feature_table import FEATURE_OF
from condor_pydagman.features.common import rows
from condor_pydagman.features.common.rows import row_of
from condor_pydagman.language.parser import lines_of, parse
from condor_pydagman.named_tuple import NamedTuple
from tests.unit.language.one_line import good, wrong

WORDS = sorted(FEATURE_OF)


@pytest.mark.parametrize("word", WORDS)
def test_an_example_is_read_and_written(word: str) -> None:
    row = row_of(word)
    command = good(row.example + "\n")
    assert type(command) is row.command
    assert good(lines_of(command) + "\n") == command


@pytest.mark.parametrize("word", WORDS)
def test_the_form_has_all_words(word: str) -> None:
    row = row_of(word)
    words = [key for one in row.parts for key in one.keywords]
    if word != "SITE_POLICY":  # of which there are too many for a line
        assert all(key.replace("-", "_") in row.about.usage.replace("-", "_") for key in words)
    assert row.about.usage.startswith(f"{word} ")


@pytest.mark.parametrize("word", WORDS)
def test_what_is_missing_is_told(word: str) -> None:
    """At whatever word a line ends before it is one."""
    words = row_of(word).example.split(" ")
    for count in range(1, len(words)):
        for error in parse(" ".join(words[:count]) + "\n", "x.dag").errors:
            assert (error.file, error.line, error.command) == ("x.dag", 1, word)
            assert error.usage == row_of(word).about.usage
            assert error.hint or "missing" in error.message.lower()


@pytest.mark.parametrize("word", WORDS)
def test_a_line_without_anything(word: str) -> None:
    assert wrong(f"{word}\n").message.startswith("Missing ")


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("BRAKE s 1 OFF 3 HALT", "Unexpected token 'OFF'", "did you mean OF?"),
        ("BRAKE s 1 OF 3 STOP", "Unexpected token 'STOP'", "expected ALIKE, CATEGORY, HALT, HOLD"),
        ("BRAKE s 1 OF 3 OF 4 HALT", "Unexpected token 'OF'", "OF can stand here once"),
        ("BRAKE s 1 OF", "OF missing its number", "as in: OF 1"),
        (
            "BRAKE s HALT",
            "Missing number of the brake",
            "HALT stands behind it, as in: BRAKE",
        ),
        ("BRAKE s 1 HALT OF 3", "Unexpected token 'OF'", "OF stands further in front"),
        ("FEEDER AT-MOST x", "Invalid AT-MOST number 'x'", "expected a whole number, 1 or more"),
        ("TIMEOUT A", "Missing QUEUED, RUNNING or TOTAL", "as in: TIMEOUT A QUEUED 60"),
        ("TIMEOUT A 10", "Unexpected token '10'", "expected QUEUED, RUNNING or TOTAL"),
        ("PUBLISH A FILE x ATTRIBUTES y", "Unexpected token 'ATTRIBUTES'", "further in front"),
        ("ENOUGH SOME 1", "Unexpected token 'SOME'", "expected ALL_NODES, CATEGORY or PARENTS"),
        ("ENOUGH CATEGORY", "CATEGORY missing its name", "as in: CATEGORY big"),
        ("ENOUGH ALL_NODES OF", "OF missing its name", "as in: OF S"),
        ("SKIPPED A B", "Unexpected token 'B'", "expected the end of the line"),
        ("CACHE A INPUTS OUTPUTS x", "INPUTS missing its files", "as in: INPUTS x"),
        ("SWEEP_PARENT a CHLD b BY x", "Unexpected token 'CHLD'", "did you mean CHILD?"),
    ],
)
def test_messages(line: str, message: str, hint: str) -> None:
    error = wrong(line)
    assert error.message == message
    assert hint in error.hint


def test_a_word_of_another_feature_is_refused() -> None:
    class Other(NamedTuple):
        line: int

    with pytest.raises(TypeError, match="BRAKE is no word of"):
        rows.Row("BRAKE", "Something.", after="JOB")(Other)
    assert row_of("BRAKE").command is not Other
