"""Time stamps of both logs."""

from __future__ import annotations

import pytest

from condor_pydagman.follow.local_times import LocalTimes

MINUTES = {("2026-11-21T11:56", False): 6000.0, ("2026-11-21T11:56", True): 9600.0}


@pytest.mark.parametrize(
    ("stamp", "seconds"),
    [
        ("2026-11-21 11:56:29", 6029.0),
        ("2026-11-21T11:56:29.250", 6029.25),
        ("2026-11-21 11:56:29.250Z", 9629.25),
        ("11/21/26 11:56:01", 6001.0),
        ("11/21 11:56:01", 6001.0),
        ("1795000000", 1795000000.0),
        ("(1795000000.5)", 1795000000.5),
        ("2026-11-21 11:57:00", 0.0),  # the machine has no such minute
        ("noon", 0.0),
    ],
)
def test_stamps(stamp: str, seconds: float) -> None:
    times = LocalTimes(lambda text, utc: MINUTES.get((text, utc)), 2026)
    assert [times.seconds(stamp) for _ in range(2)] == [seconds, seconds]


def test_a_minute_is_asked_for_once() -> None:
    asked: list[str] = []

    def minute(text: str, utc: bool) -> float:
        asked.append(text)
        return 60.0

    times = LocalTimes(minute, 2026)
    for second in range(60):
        assert times.seconds(f"2026-11-21 11:56:{second:02}") == 60.0 + second
    assert asked == ["2026-11-21T11:56"]
