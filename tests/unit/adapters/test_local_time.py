"""Minutes of a log in local time and in UTC, and times for people."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from condor_pydagman.adapters.local_time import existing_minute, local_text, logged_minute, minute

MINUTE = "2026-11-21T11:56"
IN_UTC = 1795262160.0


@pytest.fixture(autouse=True)
def an_hour_ahead_of_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "CET-1")
    time.tzset()
    minute.cache_clear()
    existing_minute.cache_clear()
    yield
    monkeypatch.undo()
    time.tzset()
    minute.cache_clear()
    existing_minute.cache_clear()


def test_a_stamp_is_in_local_time_or_in_utc() -> None:
    assert logged_minute(MINUTE, utc=True) == IN_UTC
    assert logged_minute(MINUTE, utc=False) == IN_UTC - 3600


def test_times_for_people_are_local() -> None:
    assert local_text(IN_UTC) == "2026-11-21 12:56:00"
