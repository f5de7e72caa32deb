"""EXTEND, SCATTER and FEEDER: their lines, and what is wrong with them."""

from __future__ import annotations

import pytest

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.growth_lines import write_feeder, write_let_go
from condor_pydagman.dagfile.parser import parse


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("EXTEND A m.dag", commands.ExtendLine(1, "A", "m.dag")),
        ("extend A m.dag between", commands.ExtendLine(1, "A", "m.dag")),
        (
            'EXTEND A "m n" DIR d ANYWHERE PREFIX none',
            commands.ExtendLine(1, "A", "m n", False, "d", ""),
        ),
        (
            'SCATTER A l x-{item} x.sub DIR d PREFIX S+ VARS a="{1}" b={number}/{item}',
            commands.ScatterLine(
                1,
                "A",
                "l",
                "x-{item}",
                "x.sub",
                (("a", "{1}"), ("b", "{number}/{item}")),
                "d",
                "S+",
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
        ("EXTEND", "No node name specified"),
        ("EXTEND A", "Missing DAG file"),
        ("EXTEND A m BELOW", "Unexpected token 'BELOW'"),
        ("EXTEND A m DIR", "DIR missing its directory"),
        ("EXTEND A m PREFIX", "PREFIX missing its text"),
        ("SCATTER A", "Missing list file"),
        ("SCATTER A l", "Missing pattern of the nodes' names"),
        ("SCATTER A l same x.sub", "Pattern 'same' gives all nodes the same name"),
        ("SCATTER A l {item}", "Missing submit description"),
        ("SCATTER A l {item} x VARS", "VARS missing its variables"),
        ("SCATTER A l {item} x VARS a", "Invalid variable 'a'"),
        ("SCATTER A l {item} x a=1", "Unexpected token 'a=1'"),
    ],
)
def test_what_is_wrong(line: str, message: str) -> None:
    (error,) = parse(line + "\n", "t.dag").errors
    assert message in str(error)
    assert (error.file, error.line) == ("t.dag", 1)


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("FEEDER BELOW 5 PROGRAM feed", commands.FeederLine(1, 5, "feed")),
        (
            'feeder retries 0 timeout 60 at-most 10 below 5 program ./feed "a b" BELOW $FEEDING',
            commands.FeederLine(1, 5, './feed "a b" BELOW $FEEDING', 10, 60, 0),
        ),
        ("FEEDER AT_MOST 1 BELOW 1 PROGRAM f", commands.FeederLine(1, 1, "f", 1)),
    ],
)
def test_feeders(line: str, command: commands.FeederLine) -> None:
    parsed = parse(line + "\n", "t.dag")
    assert not parsed.errors
    assert parsed.commands == [command]
    assert parse(write_feeder(command) + "\n", "t.dag").commands == [command]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("FEEDER", "Missing PROGRAM of the feeder"),
        ("FEEDER BELOW 5", "Missing PROGRAM of the feeder"),
        ("FEEDER BELOW 5 PROGRAM", "PROGRAM missing its path"),
        ("FEEDER PROGRAM feed", "The feeder has no BELOW"),
        ("FEEDER feed BELOW 5", "Unexpected token 'feed'"),
        ("FEEDER BELOW 0 PROGRAM feed", "Invalid BELOW number '0'"),
        ("FEEDER BELOW x PROGRAM feed", "Invalid BELOW number 'x'"),
        ("FEEDER BELOW", "BELOW missing its number"),
        ("FEEDER BELOW 1 BELOW 2 PROGRAM feed", "Unexpected token 'BELOW'"),
        ("FEEDER BELOW 1 AT-MOST 0 PROGRAM feed", "Invalid AT-MOST number '0'"),
        ("FEEDER BELOW 1 TIMEOUT 0 PROGRAM feed", "Invalid TIMEOUT number '0'"),
        ("FEEDER BELOW 1 TIMEOUT 1h PROGRAM feed", "Invalid TIMEOUT number '1h'"),
        ("FEEDER BELOW 5% PROGRAM feed", "Invalid BELOW number '5%'"),
        ("FEEDER BELOW 1 RETRIES -1 PROGRAM feed", "Invalid RETRIES number '-1'"),
        ("FEEDER BELOW 1 PROGRAM feed $JOB", "Unknown macro '$JOB' of a feeder"),
    ],
)
def test_what_is_wrong_with_a_feeder(line: str, message: str) -> None:
    (error,) = parse(line + "\n", "t.dag").errors
    assert message in str(error)
    assert "t.dag:1" in str(error)


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("LET_GO 7 30 5 20", commands.LetGoLine(1, 7, 30, 5, 20)),
        ("LET_GO 7 30 5 20 LAST", commands.LetGoLine(1, 7, 30, 5, 20, True)),
        ("LET_GO 7 30 0 0 BY A B", commands.LetGoLine(1, 7, 30, 0, 0, False, ("A", "B"))),
    ],
)
def test_what_has_been_let_go(line: str, command: commands.LetGoLine) -> None:
    parsed = parse(line + "\n", "t.rescue")
    assert parsed.commands == [command]
    assert write_let_go(command) == line


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("LET_GO", "Missing number of a piece"),
        ("LET_GO 7 x 0 0", "Invalid number of nodes 'x'"),
        ("LET_GO 7 1 0 0 FIRST", "Unexpected token 'FIRST'"),
        ("LET_GO 7 1 0 0 BY", "No node name specified"),
    ],
)
def test_what_is_wrong_with_that(line: str, message: str) -> None:
    (error,) = parse(line + "\n", "t.rescue").errors
    assert message in str(error)
