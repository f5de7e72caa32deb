"""EXTEND and SCATTER: their lines, and what is wrong with them."""

from __future__ import annotations

import pytest

from condor_pydagman.features.growth.commands import (
    Extend,
    Scatter,
)
from condor_pydagman.language.parser import parse
from tests.unit.language.one_line import good, warnings, wrong


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("EXTEND A m.dag", Extend(1, "A", "m.dag")),
        ("extend A m.dag between", Extend(1, "A", "m.dag")),
        (
            'EXTEND A "m n" DIR d ANYWHERE PREFIX none',
            Extend(1, "A", "m n", False, "d", ""),
        ),
        (
            "SCATTER A l {item} x.sub retry 3",
            Scatter(1, "A", "l", "{item}", "x.sub", retries=3),
        ),
        (
            'SCATTER A l x-{item} x.sub DIR d PREFIX S+ VARS a="{1}" b={number}/{item}',
            Scatter(
                1,
                "A",
                "l",
                "x-{item}",
                "x.sub",
                "d",
                "S+",
                pairs=(("a", "{1}"), ("b", "{number}/{item}")),
            ),
        ),
    ],
)
def test_lines(line: str, command: object) -> None:
    parsed = parse(line + "\n", "t.dag")
    assert not parsed.errors
    assert parsed.commands == [command]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("SCATTER A l same x.sub", "Pattern 'same' gives all nodes the same name"),
        ("SCATTER A l {item} x RETRY 2.5", "Invalid RETRY number '2.5'"),
        ("SCATTER A l {item} x VARS a", "Invalid variable 'a'"),
    ],
)
def test_what_is_wrong(line: str, message: str) -> None:
    (error,) = parse(line + "\n", "t.dag").errors
    assert message in str(error)
    assert (error.file, error.line) == ("t.dag", 1)


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("EXTEND A $(JOB).dag", "The name '$(JOB).dag' can't have macros", "write the name as it"),
        ("EXTEND A {item}.dag", "The name '{item}.dag' can't have macros", "write the name as it"),
        ("EXTEND A m PREFIX 'p'", "Invalid prefix", "what can stand in a node's name"),
        ("SCATTER A $(l) {item} x", "The name '$(l)' can't have macros", "write the name as it is"),
        ("SCATTER A l x.sub x-{item}", "Pattern 'x.sub' gives", "comes before the submit desc"),
        ("SCATTER A l x-{i} x.sub", "Pattern 'x-{i}' gives", "expected {item}, {number}"),
        ("SCATTER A l x+{item} x", "Invalid pattern 'x+{item}'", "can't hold blanks, quotes"),
        ("SCATTER A l x-{item}{no} x", "Invalid pattern", "known are {item}, {number}"),
        ("SCATTER A l 'x {item}' x", "Invalid pattern", "can't hold blanks, quotes"),
        ("SCATTER A l {item} x VARS k={2}", "{2} asks for several", "use {1} or {number} in"),
        ("SCATTER A l {item}-{2} x", "{2} asks for several words", "use {1} or {number} in"),
        ("SCATTER A l {item} {item}.sub", "The name '{item}.sub' can't", "VARS gives it to the"),
        ("SCATTER A l {item} x DIR d/{1}", "The name 'd/{1}' can't have", "VARS gives it to the"),
        ("SCATTER A l {item} {", "Submit description '{' can't be inline", "SUBMIT-DESCRIPTION"),
        ("SCATTER A l {item} x VARS a=$(item)", "$(item) is no macro", "expected {item}"),
        ("SCATTER A l {item} x VARS a={item", "{item is not closed", "expected {item}"),
        ("SCATTER A l {item} x VARS queue=1", "Illegal variable name 'queue'", "begin with 'q"),
        ("SCATTER A l {item} x VARS a=1 DIR d", "Invalid variable 'DIR'", "stand before VARS"),
    ],
)
def test_what_to_write_instead(line: str, message: str, hint: str) -> None:
    error = wrong(line + "\n")
    assert message in error.message
    assert hint in error.hint


def test_braces_that_are_no_place_are_told_of() -> None:
    (told,) = warnings("SCATTER A l x-{item} x.sub VARS a={name} b={item}\n")
    assert "{name} stays as it is: known are {item}, {number} and {1}, {2} ..." in told


def test_names_that_are_htcondors_are_told_of() -> None:
    (told,) = warnings("SCATTER A l x-{item} x.sub VARS Item={item} part={item}\n")
    assert "HTCondor sets $(Item) itself: my_Item would work" in told


def test_quotes_of_a_value() -> None:
    command = good("SCATTER A l x-{item} x.sub VARS a='{item} b' c=\"d\"\n")
    assert isinstance(command, Scatter)
    assert command.pairs == (("a", "{item} b"), ("c", "d"))


def test_a_word_that_was_removed_says_what_there_is_instead() -> None:
    (error,) = parse("LET_GO 7 30 5 20\n", "t.dag.rescue001").errors
    assert error.message == "'LET_GO' is not a valid DAG command"
    assert error.hint.startswith("nodes that were added stay for as long as the DAG runs")
