"""How many jobs ran, waited and were held, and how many scripts ran, over the time of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.report.spans import PARTS, Span
from condor_pydagman.report.time_axis import TimeAxis

BUCKETS = 240


class Concurrency(NamedTuple):
    """Numbers of attempts by what they did.

    Attributes:
        step: between points, seconds of the axis.
        counts: for each of PARTS the average number in each step.
        most: for each of PARTS the greatest number at any time.
    """

    step: float
    counts: Mapping[str, Sequence[float]]
    most: Mapping[str, int]


def concurrency(found: Iterable[Span], axis: TimeAxis) -> Concurrency:
    """Numbers over the times of an axis."""
    step = max(axis.length / BUCKETS, 1e-3)
    at = axis.at if axis.cuts else (-float(axis.begin)).__add__  # there may be millions of times
    seconds = {part: [0.0] * BUCKETS for part in PARTS}
    changes: dict[str, list[tuple[float, int]]] = {part: [] for part in PARTS}
    for span in found:
        for part, since, until in span.parts:
            _spread(seconds[part], at(since) / step, at(until) / step)
            changes[part] += ((since, 1), (until, -1))
    return Concurrency(step, seconds, {part: _most(changes[part]) for part in PARTS})


def _spread(values: list[float], since: float, until: float) -> None:
    """Add the share of each bucket that lies between two times, both in buckets."""
    since, until = max(since, 0.0), min(until, float(len(values)))
    first, last = int(since), min(int(until), len(values) - 1)
    if until <= since:
        return
    if first == last:
        values[first] += until - since
        return
    values[first] += first + 1 - since
    for bucket in range(first + 1, last):
        values[bucket] += 1.0
    values[last] += until - last


def _most(changes: list[tuple[float, int]]) -> int:
    """The greatest number at once; at one time, ends come before begins."""
    most = now = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most
