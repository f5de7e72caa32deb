"""The time axis of a report's pictures: long times in which nothing ran are cut out of it.

One job that is held for days would leave all others a hair's breadth.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.report.spans import Span

CUT_ABOVE = 0.25  # of all times in which something ran
CUT_SHARE = 0.03  # of those, the length on the axis of what is cut out
_BUSY = ("pre", "run", "post")


class TimeAxis(NamedTuple):
    """Times from `begin` to `end`, seconds since the epoch, without what is cut out.

    Attributes:
        cuts: begins and ends of what is cut out, in order.
        cut_s: seconds of the axis that stand for each.
    """

    begin: float
    end: float
    cuts: tuple[tuple[float, float], ...] = ()
    cut_s: float = 0.0

    @property
    def length(self) -> float:
        """Seconds of the axis."""
        return self.at(self.end)

    def at(self, when: float) -> float:
        """Where a time lies: seconds of the axis from its begin."""
        if not self.cuts:
            return when - self.begin
        number = bisect_right(self.cuts, (when, float("inf")))
        left_out = sum(end - begin - self.cut_s for begin, end in self.cuts[:number])
        if number and when < self.cuts[number - 1][1]:
            begin, end = self.cuts[number - 1]
            left_out -= (end - when) * (1 - self.cut_s / (end - begin))
        return when - self.begin - left_out

    def kept(self) -> Iterator[tuple[float, float]]:
        """Begins and ends of what is not cut out."""
        since = self.begin
        for begin, end in self.cuts:
            yield since, begin
            since = end
        yield since, self.end


def time_axis(found: Iterable[Span], begin: float, end: float) -> TimeAxis:
    """An axis for these spans, without the long times in which no job and no script of them ran."""
    quiet = list(_quiet(found, begin, end))
    busy_s = end - begin - sum(until - since for since, until in quiet)
    cuts = tuple(one for one in quiet if one[1] - one[0] > CUT_ABOVE * busy_s)
    if not busy_s or not cuts:
        return TimeAxis(begin, end)
    kept_s = end - begin - sum(until - since for since, until in cuts)
    return TimeAxis(begin, end, cuts, CUT_SHARE * kept_s)


def _quiet(found: Iterable[Span], begin: float, end: float) -> Iterator[tuple[float, float]]:
    busy = sorted(
        (since, until) for span in found for kind, since, until in span.parts if kind in _BUSY
    )
    last = begin
    for since, until in [*busy, (end, end)]:
        if since > last:
            yield last, since
        last = max(last, until)
