"""Sizes and durations as people write them: "200MB", "60 minutes"."""

from __future__ import annotations

import math
import re

_AMOUNT = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([A-Za-z]*)\s*")
_SIZES = {unit: 1024**power for power, unit in enumerate(("", "k", "m", "g", "t", "p"))}
_SECONDS = {
    **dict.fromkeys(("", "s", "sec", "secs", "second", "seconds"), 1),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hour", "hours"), 3600),
    **dict.fromkeys(("d", "day", "days"), 86400),
    **dict.fromkeys(("w", "week", "weeks"), 604800),
}


def read_size(text: str) -> int:
    """Bytes.  A kB is 1024 bytes, as in HTCondor's request_disk.

    Raises:
        ValueError: it is no size.
    """
    amount, unit = _parts(text)
    power = unit.lower().removesuffix("ib").removesuffix("b")
    if unit.lower() in ("ib", "bib") or power not in _SIZES:
        raise ValueError(f"{text!r} is no size; write it like 500000, 200MB or 1.5 GB")
    return int(amount * _SIZES[power])


def read_duration(text: str) -> float:
    """Seconds.

    Raises:
        ValueError: it is no duration.
    """
    amount, unit = _parts(text)
    if unit.lower() not in _SECONDS:
        raise ValueError(f"{text!r} is no duration; write it like 90, 60 minutes or 2 hours")
    return amount * _SECONDS[unit.lower()]


def _parts(text: str) -> tuple[float, str]:
    found = _AMOUNT.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a number with a unit")
    amount = float(found[1])
    if not math.isfinite(amount) or amount > 1e18:
        raise ValueError(f"{text!r} is too large")
    return amount, found[2]
