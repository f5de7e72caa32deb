"""Times of the logs as seconds since the epoch: those of job events, and of `.dagman.out`.

Both logs have local time, unless the pool is configured otherwise; what a local minute is must be
asked of the machine, once for each minute.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_STAMP = re.compile(
    r"(?:(\d{4})-(\d\d)-(\d\d)|(\d\d)/(\d\d)(?:/(\d\d))?)[ T](\d\d:\d\d):(\d\d)(\.\d{1,6})?(Z)?"
)
_EPOCH = re.compile(r"\(?(\d{9,11}(?:\.\d{1,6})?)\)?")


class LocalTimes:
    """Reads time stamps.

    Args:
        minute: seconds since the epoch of a minute, `2026-11-21T11:56`; given whether it is UTC.
            None if there is no such minute.
        year: of stamps that have none (`11/21 11:56:29`).
    """

    def __init__(self, minute: Callable[[str, bool], float | None], year: int) -> None:
        self._minute = minute
        self._year = year
        self._last = ("", 0.0)
        self._minutes: dict[tuple[str, bool], float] = {}

    def seconds(self, stamp: str) -> float:
        """Seconds since the epoch; 0.0 if it can't be read."""
        if stamp == self._last[0]:
            return self._last[1]
        found = _STAMP.match(stamp)
        time = self._local(found) if found else _epoch(stamp)
        self._last = (stamp, time)
        return time

    def _local(self, found: re.Match[str]) -> float:
        year, month, day, old_month, old_day, short, clock, second, fraction, utc = found.groups()
        if not year:
            year = f"20{short}" if short else str(self._year)
        text = f"{year}-{month or old_month}-{day or old_day}T{clock}"
        key = text, utc is not None
        minute = self._minutes.get(key)
        if minute is None:
            minute = self._minutes[key] = self._minute(*key) or 0.0
        return minute + int(second) + float(fraction or 0) if minute else 0.0


def _epoch(stamp: str) -> float:
    found = _EPOCH.match(stamp)
    return float(found[1]) if found else 0.0
