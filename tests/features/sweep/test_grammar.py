"""SWEEP lines and the ranges of values in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.features.sweep.commands import (
    Dimension,
    Sweep,
    SweepParent,
    count,
    mistake,
    values,
)
from condor_pydagman.language.commands import Command
from condor_pydagman.language.parser import lines_of, parse
from tests.unit.language.one_line import warnings, wrong


@pytest.mark.parametrize(
    ("line", "command"),
    [
        (
            "SWEEP s{x} a.sub OVER x IN 1..3",
            Sweep(1, "s{x}", "a.sub", (Dimension("x", ("1..3",)),)),
        ),
        (
            'sweep s{x}{y} a over x in 1 2 along y in "b c" d dir r/{x} vars prepend k="{y}" l=m',
            Sweep(
                1,
                "s{x}{y}",
                "a",
                (Dimension("x", ("1", "2")), Dimension("y", ("b c", "d"), True)),
                "",
                "r/{x}",
                False,
                (("k", "{y}"), ("l", "m")),
            ),
        ),
        ('SWEEP s{i} a ROWS "my t.csv" DIR d', Sweep(1, "s{i}", "a", (), "my t.csv", "d")),
        ("SWEEP_PARENT a{x} CHILD b{x} ONE-TO-ONE", SweepParent(1, "a{x}", "b{x}")),
        ("sweep-parent a{x} child b{x} by x y", SweepParent(1, "a{x}", "b{x}", ("x", "y"))),
    ],
)
def test_lines(line: str, command: Command) -> None:
    assert parse(line, "x.dag").commands == [command]
    assert parse(lines_of(command), "x.dag").commands == [command]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("SWEEP s a OVER 1x IN 2", "Invalid variable '1x'"),
        ("SWEEP s a OVER queues IN 2", "Invalid variable 'queues'"),
        ("SWEEP s a OVER x IN 1..", "Invalid range '1..'"),
        ("SWEEP s a OVER x IN 1...3", "Invalid range '1...3'"),
        ("SWEEP s a ALONG x IN 1", "ALONG needs an OVER before it"),
        ("SWEEP s a ROWS f OVER x IN 1", "A sweep has either OVER or ROWS"),
        ("SWEEP s a ROWS f VARS x", "Key value pair missing operator and value"),
    ],
)
def test_mistakes(line: str, message: str) -> None:
    (error,) = parse(line, "x.dag").errors
    assert message in str(error)


def test_what_is_wrong_is_marked() -> None:
    (error,) = parse("SWEEP s{x} a.sub OVER x IN 1..3 4..5..0", "x.dag").errors
    assert error.column == len("SWEEP s{x} a.sub OVER x IN 1..3 ") + 1


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        (
            "SWEEP a.sub x_{i} OVER i IN 1 2",
            "{i} stands in the submit description 'x_{i}'",
            "the name of the nodes comes first: SWEEP x_{i} a.sub",
        ),
        (
            "SWEEP x_{i} a_{i}.sub OVER i IN 1 2",
            "{i} stands in the submit description 'a_{i}.sub'",
            "all nodes have one submit description: use $(i) in it",
        ),
    ],
)
def test_a_variable_in_the_submit_description(line: str, message: str, hint: str) -> None:
    error = wrong(line)
    assert (error.message, error.hint) == (message, hint)
    assert error.column == line.index(error.message.split("'")[1]) + 1


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ("1,2,3", "'1,2,3' is one value: blanks stand between values"),
        ("[1] [2", "'[1]' is one value: blanks stand between values"),
        *(
            (word, f"'{word}' is one value: a range is numbers with .. between, as in 1..10")
            for word in ("1-3", "1:3", "a..c", "x1..x5", "1e3..1e4", "a...c")
        ),
    ],
)
def test_values_that_are_hardly_meant(values: str, told: str) -> None:
    (warning,) = warnings(f"SWEEP x_{{i}} a OVER i IN {values}")
    assert told in warning


def test_a_variable_that_is_htcondors() -> None:
    (warning,) = warnings("SWEEP x_{item} a OVER item IN 1..3")
    assert "HTCondor sets $(item) itself: my_item would work" in warning


def test_values_that_may_be_meant() -> None:
    assert warnings("SWEEP x_{i} a OVER i IN a-b 2024-01-01 x:y -3 ../a ..3 a..b/c") == []


# Ranges of values in SWEEP lines.


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
def test_mistakes_in_values(word: str) -> None:
    assert "range" in mistake(word)


@given(st.integers(-99, 99), st.integers(-99, 99), st.integers(1, 9))
def test_ranges_of_whole_numbers(first: int, last: int, step: int) -> None:
    expected = range(first, last + 1, step) if last >= first else range(first, last - 1, -step)
    assert list(map(int, values(f"{first}..{last}..{step}"))) == list(expected)
