"""FEEDER: its line, and what is wrong with it."""

from __future__ import annotations

import pytest

from condor_pydagman.features.feeder.commands import Feeder
from condor_pydagman.language.parser import lines_of, parse


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("FEEDER BELOW 5 PROGRAM feed", Feeder(1, 5, program="feed")),
        (
            'feeder retries 0 timeout 60 at-most 10 below 5 program ./feed "a b" BELOW $FEEDING',
            Feeder(1, 5, 10, 60, 0, './feed "a b" BELOW $FEEDING'),
        ),
        ("FEEDER AT_MOST 1 BELOW 1 PROGRAM f", Feeder(1, 1, 1, program="f")),
    ],
)
def test_feeders(line: str, command: Feeder) -> None:
    parsed = parse(line + "\n", "t.dag")
    assert not parsed.errors
    assert parsed.commands == [command]
    assert parse(lines_of(command) + "\n", "t.dag").commands == [command]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("FEEDER BELOW 0 PROGRAM feed", "Invalid BELOW number '0'"),
        ("FEEDER BELOW x PROGRAM feed", "Invalid BELOW number 'x'"),
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
