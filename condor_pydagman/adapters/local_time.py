"""Local time of this machine: minutes of a log as seconds since the epoch, and times as text."""

from __future__ import annotations

import functools
import time


@functools.lru_cache(maxsize=16)
def minute(stamp: str) -> float:
    """Seconds since the epoch of a minute in local time, `2026-11-21T11:56`.

    In the hour that is repeated at the end of summer time, the first of the two; the result of
    mktime there depends on its earlier calls.

    Raises:
        ValueError, OverflowError: there is no such minute.
    """
    numbers = _numbers(stamp)
    found = time.mktime((*numbers, 0, 0, 0, -1))  # type: ignore[arg-type]
    for repeated in (3600, 1800):
        if time.localtime(found - repeated)[:5] == numbers:
            return found - repeated
    return found


@functools.lru_cache(maxsize=16)
def existing_minute(stamp: str) -> float | None:
    """The same; None if local time has no such minute, for which HTCondor's bindings return
    another.

    There is no 30 February, and no 02:30 in the night when clocks go from 02:00 to 03:00.
    """
    try:
        found = minute(stamp)
    except (ValueError, OverflowError):
        return None
    for second in (0, 59):
        shown = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(found + second))
        if shown != f"{stamp}:{second:02}":
            return None
    return found


def logged_minute(stamp: str, utc: bool) -> float | None:
    """The minute of a stamp that may be UTC (EVENT_LOG_FORMAT_OPTIONS); None if there is none."""
    if not utc:
        return existing_minute(stamp)
    import calendar  # with datetime and locale, which a running DAGMan does without

    try:
        return float(calendar.timegm((*_numbers(stamp), 0)))
    except (ValueError, OverflowError):
        return None


def _numbers(stamp: str) -> tuple[int, ...]:
    parts = stamp[0:4], stamp[5:7], stamp[8:10], stamp[11:13], stamp[14:]
    return tuple(int(part) for part in parts)


def local_text(seconds: float) -> str:
    """Seconds since the epoch for people, `2026-11-21 11:56:29`."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
