"""Numbers and results in words: durations, exit codes, counts."""

from __future__ import annotations

from condor_pydagman.vocabulary import (
    RETURN_JOB_ABORTED,
    RETURN_NO_RESULT,
    RETURN_PRE_FAILED,
    RETURN_SUBMIT_FAILED,
    signal_name,
)

_UNITS = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))
_RETURNS = {
    RETURN_JOB_ABORTED: "removed",
    RETURN_SUBMIT_FAILED: "could not be submitted",
    RETURN_PRE_FAILED: "PRE script failed",
}


def duration(seconds: float) -> str:
    """`3 h 12 min`, `47 s`: the two largest units."""
    left = max(round(seconds), 0)
    for number, (unit, size) in enumerate(_UNITS):
        if left >= size:
            first, rest = divmod(left, size)
            second = rest // _UNITS[number + 1][1] if number + 1 < len(_UNITS) else 0
            return f"{first} {unit}" + (f" {second} {_UNITS[number + 1][0]}" if second else "")
    return "0 s"


def result(value: int | None, reason: str = "") -> str:
    """How a job or script has ended: `exit code 3`, `signal 9 (Killed)`, `removed: via condor_rm`.

    `reason`: of a removal or failed submission; or the kind of script that `value` is of.
    """
    if value is None or value == RETURN_NO_RESULT:
        return reason or "unknown"
    if value in _RETURNS:
        return f"{_RETURNS[value]}: {reason}" if reason else _RETURNS[value]
    shown = signal_name(value) if value < 0 else f"exit code {value}"
    return f"{reason}: {shown}" if reason else shown


def number(value: float) -> str:
    """`12,345`; `2.5` and `0.012`: two digits of small ones that are no integers."""
    return f"{value:,.0f}" if value >= 10 or value == int(value) else f"{value:.2g}"


def rate(per_second: float) -> str:
    """Nodes in a time that gives a readable number: `410 nodes/h`, `12 nodes/min`."""
    for unit, seconds in (("s", 1), ("min", 60)):
        if per_second * seconds >= 10:
            return f"{number(per_second * seconds)} nodes/{unit}"
    return f"{number(per_second * 3600)} nodes/h"
