"""TIMEOUT: how its line is read and written."""

from __future__ import annotations

import pytest

from condor_pydagman.features.timeout.commands import TimeoutLine
from tests.unit.language.one_line import good, message, wrong


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("TIMEOUT A QUEUED 1d", TimeoutLine(1, "A", "", 86400)),
        ("timeout all_nodes total 68 Running 1m", TimeoutLine(1, "all_nodes", "", None, 60, 68)),
        ("TIMEOUT A RUNNING 2147483647 TOTAL 0", TimeoutLine(1, "A", "", None, 2147483647, 0)),
        ("TIMEOUT A RUNNING 1h warn", TimeoutLine(1, "A", "", None, 3600, None, "WARN")),
        ("TIMEOUT Category big TOTAL 7", TimeoutLine(1, "ALL_NODES", "big", None, None, 7)),
        ("TIMEOUT category TOTAL 7", TimeoutLine(1, "category", "", None, None, 7)),
    ],
)
def test_good_lines(text: str, command: TimeoutLine) -> None:
    assert good(text) == command


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("TIMEOUT A QUEUED x", "TIMEOUT: Invalid QUEUED time value 'x'"),
        ("TIMEOUT A WARN", "TIMEOUT: Unexpected token 'WARN'"),
        ("TIMEOUT A WARN QUEUED 7", "TIMEOUT: Unexpected token 'WARN'"),
        ("TIMEOUT A QUEUED 7 WAN", "TIMEOUT: Unexpected token 'WAN'"),
        ("TIMEOUT CATEGORY big", "TIMEOUT: Missing QUEUED, RUNNING or TOTAL"),
    ],
)
def test_wrong_lines(text: str, expected: str) -> None:
    assert message(text) == expected


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (
            "TIMEOUT A TOTAL 5w",
            "expected seconds, or a number with s, m, h or d after it, as 90 or 10m",
        ),
        ("TIMEOUT A TOTAL 30000d", "expected at most 2147483647 seconds"),
        ("TIMEOUT A", "as in: TIMEOUT A QUEUED 60"),
        ("TIMEOUT A RUNING 5", "did you mean RUNNING?"),
        ("TIMOUT A RUNNING 5", "did you mean TIMEOUT?"),
    ],
)
def test_hints(text: str, hint: str) -> None:
    assert wrong(text).hint == hint
