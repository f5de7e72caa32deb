"""FEEDER: its line, and what is wrong with it."""

from __future__ import annotations

import pytest

from condor_pydagman.dagfile.parser import parse
from condor_pydagman.features.feeder.grammar import FeederLine, write_feeder


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("FEEDER BELOW 5 PROGRAM feed", FeederLine(1, 5, "feed")),
        (
            'feeder retries 0 timeout 60 at-most 10 below 5 program ./feed "a b" BELOW $FEEDING',
            FeederLine(1, 5, './feed "a b" BELOW $FEEDING', 10, 60, 0),
        ),
        ("FEEDER AT_MOST 1 BELOW 1 PROGRAM f", FeederLine(1, 1, "f", 1)),
    ],
)
def test_feeders(line: str, command: FeederLine) -> None:
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
        ("FEEDER BELOW 1 PROGRAM 'feed 1'", "Invalid program 'feed 1'"),
        ("FEEDER BELOW 1 PROGRAM feed $JOB", "Unknown macro '$JOB' of a feeder"),
    ],
)
def test_what_is_wrong_with_a_feeder(line: str, message: str) -> None:
    (error,) = parse(line + "\n", "t.dag").errors
    assert message in str(error)
    assert "t.dag:1" in str(error)
