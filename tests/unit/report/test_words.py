"""Numbers and results in words."""

from __future__ import annotations

import pytest

from condor_pydagman.report.words import duration, number, rate, result


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-1, "0 s"), (0.4, "0 s"), (59.6, "1 min"), (61, "1 min 1 s"), (3600, "1 h"),
     (11520, "3 h 12 min"), (90061, "1 d 1 h"), (3601, "1 h")],
)  # fmt: skip
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("value", "reason", "words"),
    [
        (3, "", "exit code 3"),
        (-9, "", "signal 9 (Killed)"),
        (-1002, "via condor_rm", "removed: via condor_rm"),
        (-1001, "", "could not be submitted"),
        (2, "PRE script", "PRE script: exit code 2"),
        (None, "no such file", "no such file"),
        (None, "", "unknown"),
    ],
)
def test_results(value: int | None, reason: str, words: str) -> None:
    assert result(value, reason) == words


def test_numbers_and_rates() -> None:
    assert [number(value) for value in (0, 3, 2.5, 12345.6)] == ["0", "3", "2.5", "12,346"]
    assert [rate(value) for value in (35, 0.2, 0.01)] == [
        "35 nodes/s", "12 nodes/min", "36 nodes/h"
    ]  # fmt: skip
