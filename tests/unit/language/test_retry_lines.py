"""RETRY with all its options."""

from __future__ import annotations

import pytest

from condor_pydagman.language.commands import Command, RetryLine
from condor_pydagman.language.modifier_lines import RETRY_USAGE
from tests.unit.language.one_line import good, message, warnings, wrong


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("RETRY A 3 UNLESS-EXIT 0", RetryLine(1, "A", 3, (0,))),
        ("RETRY A 3 UNLESS-EXIT -0012", RetryLine(1, "A", 3, (-12,))),
        ("RETRY A 3 unless_exit 1,3,-9,-1002", RetryLine(1, "A", 3, (1, 3, -9, -1002))),
        ("RETRY A 3 Only_If +1", RetryLine(1, "A", 3, None, (1,))),
        ("RETRY A 3 DELAY 90", RetryLine(1, "A", 3, delay=90)),
        ("RETRY A 3 DELAY 0s BACKOFF 1", RetryLine(1, "A", 3, delay=0, backoff=1.0)),
        (
            "RETRY ALL_NODES 3 max_delay 2H backoff 1.5 Delay 10m ONLY-IF 1,2 UNLESS-EXIT 4x",
            RetryLine(1, "ALL_NODES", 3, (4,), (1, 2), 600, 1.5, 7200),
        ),
    ],
)
def test_good_lines(text: str, command: Command) -> None:
    assert good(text) == command


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("RETRY A 1 UNLESS-EXIT 1, 2", "RETRY: Invalid UNLESS-EXIT code '1,' specified"),
        ("RETRY A 1 UNLESS-EXIT 1,2x", "RETRY: Invalid UNLESS-EXIT code '1,2x' specified"),
        ("RETRY A 1 UNLESS-EXIT 1,,2", "RETRY: Invalid UNLESS-EXIT code '1,,2' specified"),
        ("RETRY A 1 UNLESS-EXIT 1,0", "RETRY: Invalid UNLESS-EXIT code '1,0' specified"),
        ("RETRY A 1 UNLESS-EXIT 1,\u0663", "RETRY: Invalid UNLESS-EXIT code '1,\u0663' specified"),
        ('RETRY A 1 UNLESS-EXIT "1,2"', "RETRY: Invalid UNLESS-EXIT code '\"1,2\"' specified"),
        ("RETRY A 1 ONLY-IF", "RETRY: ONLY-IF missing exit code"),
        ("RETRY A 1 ONLY-IF 3x", "RETRY: Invalid ONLY-IF code '3x' specified"),
        ("RETRY A 1 ONLY-IF 0", "RETRY: Invalid ONLY-IF code '0' specified"),
        ("RETRY A 1 ONLY-IF 3000000000", "RETRY: Invalid ONLY-IF code '3000000000' specified"),
        ("RETRY A 1 DELAY", "RETRY: DELAY missing time value"),
        ("RETRY A 1 DELAY -1", "RETRY: Invalid DELAY time value '-1'"),
        ("RETRY A 1 DELAY 1.5", "RETRY: Invalid DELAY time value '1.5'"),
        ("RETRY A 1 DELAY 5 m", "RETRY: Unexpected token 'm'"),
        ("RETRY A 1 MAX-DELAY 1w", "RETRY: Invalid MAX-DELAY time value '1w'"),
        ("RETRY A 1 MAX-DELAY 30000d", "RETRY: Invalid MAX-DELAY time value '30000d'"),
        ("RETRY A 1 BACKOFF", "RETRY: BACKOFF missing factor"),
        ("RETRY A 1 BACKOFF 0.9", "RETRY: Invalid BACKOFF factor '0.9'"),
        ("RETRY A 1 BACKOFF nan", "RETRY: Invalid BACKOFF factor 'nan'"),
        ("RETRY A 1 BACKOFF 1e3", "RETRY: Invalid BACKOFF factor '1e3'"),
        ("RETRY A 1 BACKOFF 9999999999", "RETRY: Invalid BACKOFF factor '9999999999'"),
        ("RETRY A 1 DELAY 5 DELAY 6", "RETRY: Unexpected token 'DELAY'"),
        ("RETRY A 1 UNLESS-EXIT 5 unless_exit 6", "RETRY: Unexpected token 'unless_exit'"),
        ("RETRY A DELAY 5", "RETRY: Invalid max retry value 'DELAY' (Must be positive integer)"),
    ],
)
def test_wrong_lines(text: str, expected: str) -> None:
    assert message(text) == expected


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("RETRY A 3 FOO", "expected UNLESS-EXIT, ONLY-IF, DELAY, BACKOFF or MAX-DELAY"),
        ("RETRY A 3 DELAY 5 7", "expected UNLESS-EXIT, ONLY-IF, BACKOFF or MAX-DELAY"),
        ("RETRY A 3 MAXDELAY 5", "did you mean MAX-DELAY?"),
        ("RETRY A 3 BACK-OFF 5", "did you mean BACKOFF?"),
        ("RETRY A 3 DELAY 5 DELAY 7", "DELAY can stand here once"),
        (
            "RETRY A 3 UNLESS-EXIT 1, 3",
            "expected whole numbers with commas, not blanks, between them, as 1,3,-9",
        ),
        ("RETRY A 3 ONLY-IF 0,1", "0 is success, which is never retried"),
        ("RETRY A 3 ONLY-IF 3000000000", "expected whole numbers of at most 32 bits"),
        ("RETRY A 3 BACKOFF 0", "expected a number from 1 to 2147483647, as 2 or 1.5"),
    ],
)
def test_hints(text: str, hint: str) -> None:
    assert wrong(text).hint == hint


def test_the_example_has_the_options_once_one_of_ours_is_there() -> None:
    stock = "RETRY <node> <max retries> [UNLESS-EXIT <code>]"
    for text in ("RETRY A", "RETRY A 3 FOO", "RETRY A 3 UNLESS-EXIT x"):
        assert wrong(text).usage == stock
    for text in ("RETRY A 3 DELAY x", "RETRY A 3 ONLY-IF 1 FOO", "RETRY A 3 DELAY"):
        assert wrong(text).usage == RETRY_USAGE


def test_only_what_stock_reads_leniently_is_read_so() -> None:
    assert warnings("RETRY A 3 UNLESS-EXIT 4y DELAY 5") == ["Warning: x.dag:1 '4y' is read as 4"]
    assert wrong("RETRY A 3 DELAY 4y").column == 17
