"""Rests: a host that fails is left alone for a while by all placements of the access point.

Each failure makes the rest twice as long.  After it one placement tries; the newest word about a
host counts, whoever says it: a success ends the rest for all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from condor_pydagman.named_tuple import NamedTuple

MAX_FAILURES = 30
FUTURE_S = 60.0  # what is said later than that is of a clock that was wrong, or of ill will
_NAME = re.compile(r"rest\.([0-9a-f]{12,24})\.(\d{1,3})\.(\d{1,15})\.(\d{1,15})", re.ASCII)


class Rest(NamedTuple):
    """What a worker has said of a host.

    Attributes:
        label: stands for the host in names of files, which others can read.
        failures: in a row; 0: it works.
        since: when it was said, seconds since 1970.
        until: end of the rest.
    """

    label: str
    failures: int
    since: float
    until: float


def rest_name(rest: Rest) -> str:
    """Name of the file that says it."""
    since, until = round(rest.since * 1000), round(rest.until * 1000)
    return f"rest.{rest.label}.{rest.failures}.{since}.{until}"


def read_rest_name(name: str) -> Rest | None:
    """What the file of this name says; None if it is of another kind."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    return Rest(found[1], int(found[2]), int(found[3]) / 1000, int(found[4]) / 1000)


def newest(rests: Iterable[Rest], now: float, max_delay_s: float) -> Rest | None:
    """The word that counts; None if the host works, or nobody has said anything for long.

    What is said a little in the future counts as said now, and what is said far in the future not
    at all: it would be the newest word for ever.  No rest is longer than `max_delay_s`.
    """
    found: Rest | None = None
    for rest in rests:
        if rest.since > now + FUTURE_S:
            continue
        since = min(rest.since, now)
        until = min(rest.until, since + max_delay_s)
        if now - max(since, until) > forgotten_after_s(max_delay_s):
            continue
        if found is None or (since, rest.failures == 0) > (found.since, found.failures == 0):
            found = rest._replace(since=since, until=until)
    return found if found is not None and found.failures else None


def forgotten_after_s(max_delay_s: float) -> float:
    """For how long after its end a rest is remembered: seconds."""
    return max(2 * max_delay_s, 60.0)


def next_rest(
    label: str,
    last: Rest | None,
    now: float,
    first_s: float,
    max_delay_s: float,
    retry_after_s: float = 0,
) -> Rest:
    """What is said after a failure.

    A failure during a rest is one of an attempt that began before it, and does not lengthen it but
    for what the server asks for.

    Args:
        last: what counted so far.
        first_s: length of the first rest.
        retry_after_s: what the server asks for.
    """
    asked = now + min(max(retry_after_s, 0), max_delay_s)
    if last is not None and now < last.until:
        return last._replace(since=now, until=min(max(last.until, asked), now + max_delay_s))
    failures = min(last.failures + 1 if last else 1, MAX_FAILURES)
    length = min(first_s * 2.0 ** (failures - 1), max_delay_s)
    return Rest(label, failures, now, max(now + length, asked))
