"""How many jobs ran, waited and were held, and how many scripts ran, over the time of a run."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

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
    begins: dict[str, list[float]] = {part: [] for part in PARTS}
    ends: dict[str, list[float]] = {part: [] for part in PARTS}
    for span in found:
        for part, since, until in span.parts:
            begins[part].append(since)
            ends[part].append(until)
    for times in (*begins.values(), *ends.values()):
        times.sort()
    counts = {
        part: _averages(list(map(at, begins[part])), list(map(at, ends[part])), step)
        for part in PARTS
    }
    return Concurrency(step, counts, {part: _most(begins[part], ends[part]) for part in PARTS})


def _averages(begins: list[float], ends: list[float], step: float) -> list[float]:
    """How many go on in each step on average; begins and ends are seconds of the axis, sorted."""
    edges = [step * number for number in range(BUCKETS + 1)]
    begun, ended = _before(begins, edges), _before(ends, edges)
    return [
        (begun[number + 1] - begun[number] - ended[number + 1] + ended[number]) / step
        for number in range(BUCKETS)
    ]


def _before(times: list[float], edges: Sequence[float]) -> list[float]:
    """For each edge the seconds between all times before it and the edge, added up."""
    sums = [0.0, *accumulate(times)]
    counts = (bisect_left(times, edge) for edge in edges)
    return [count * edge - sums[count] for count, edge in zip(counts, edges)]


def _most(begins: Sequence[float], ends: Sequence[float]) -> int:
    """The greatest number at once; at one time, ends come before begins.  Both are sorted."""
    most = ended = 0
    for begun, time in enumerate(begins, 1):
        while ended < len(ends) and ends[ended] <= time:
            ended += 1
        most = max(most, begun - ended)
    return most
