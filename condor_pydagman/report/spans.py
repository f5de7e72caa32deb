"""What each attempt of a node did when: waited in the queue, was held, ran, ran scripts.

The times of a report; of an attempt that goes on, up to the time of the report.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from condor_pydagman.follow.run_model import Attempt, NodeRun, Run, ScriptRun
from condor_pydagman.graph.joins import is_join_name
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, NodeStatus

PARTS = ("pre", "idle", "held", "run", "post")


class Span(NamedTuple):
    """An attempt in time, seconds since the epoch."""

    node: str  # its name
    number: int  # of the attempt, 0 for the first
    # of all of it
    begin: float
    end: float
    # kind (one of PARTS), begin and end of each part, in order
    parts: tuple[tuple[str, float, float], ...]
    failed: bool | None  # whether the attempt has failed; None while it goes on

    def seconds(self, part: str) -> float:
        """How long a kind of part took."""
        total = 0.0
        for kind, begin, end in self.parts:
            if kind == part:
                total += end - begin
        return total


def known_nodes(run: Run) -> Iterator[NodeRun]:
    """The nodes, without those that only join others."""
    return (node for name, node in run.nodes.items() if not is_join_name(name))


def spans(run: Run, now: float) -> list[Span]:
    """All attempts that have begun, in the order of their begin; of nodes that people know.

    Args:
        now: end of what goes on.
    """
    found = [span for node in known_nodes(run) for span in spans_of(node, now)]
    return sorted(found, key=lambda span: (span.begin, span.node, span.number))


def spans_of(node: NodeRun, now: float) -> list[Span]:
    """The attempts of a node that have begun, in order; `now` is the end of what goes on."""
    pairs = attempts_of(node)
    return [one for pair in pairs for one in _span(node, *pair, now)]


def attempts_of(node: NodeRun) -> Iterator[tuple[Attempt, Attempt | None]]:
    """Its attempts, each with the one that followed."""
    return zip(node.attempts, (*node.attempts[1:], None))


def _span(node: NodeRun, attempt: Attempt, following: Attempt | None, now: float) -> Iterator[Span]:
    parts = [*_script("pre", attempt.pre, now), *job_parts(attempt, now)]
    parts += _script("post", attempt.post, now)
    if parts:
        begin, end = min(part[1] for part in parts), max(part[2] for part in parts)
        failed = has_failed(node, attempt, following) if attempt.over else None
        yield Span(node.name, attempt.number, begin, end, tuple(parts), failed)


def _script(kind: str, script: ScriptRun | None, now: float) -> Iterator[tuple[str, float, float]]:
    if script is None or not (script.started or script.ended):
        return
    begin = script.started or script.ended
    yield kind, begin, max(script.ended or now, begin)


def job_parts(attempt: Attempt, now: float) -> Iterator[tuple[str, float, float]]:
    """What its jobs did: "idle", "held" or "run", with begin and end.

    Args:
        now: end of what goes on.
    """
    if not attempt.submitted:
        return
    end = attempt.ended if not attempt.in_queue and attempt.ended else now
    yield from _waited(attempt, attempt.submitted, attempt.started or end)
    if not attempt.started:
        return
    since = attempt.started
    for stopped, again in attempt.pauses:
        yield "run", since, max(stopped, since)
        yield from _waited(attempt, stopped, again)
        since = again
    stopped = max(attempt.stopped or end, since)
    yield "run", since, stopped
    if end > stopped:
        yield from _waited(attempt, stopped, end)


def ran_s(attempt: Attempt, now: float) -> float:
    """Seconds in which a job of an attempt ran; `now` is the end of what goes on."""
    if not attempt.started:
        return 0.0
    end = attempt.stopped or (attempt.ended if not attempt.in_queue else 0.0) or now
    paused = sum(again - stopped for stopped, again in attempt.pauses)
    return max(end - attempt.started - paused, 0.0)


def _waited(attempt: Attempt, since: float, until: float) -> Iterator[tuple[str, float, float]]:
    """Between two times, in which none of its jobs ran, or its part of a job of several nodes had
    not begun."""
    begin = since
    for hold in attempt.holds if attempt.carrier is None else attempt.carrier.job.holds:
        held = max(hold.time, since)
        released = min(hold.released or until, until)
        if released > held:
            if held > since:
                yield "idle", since, held
            yield "held", held, released
            since = released
    if until > since or since == begin:
        yield "idle", since, max(until, since)


def has_failed(node: NodeRun, attempt: Attempt, following: Attempt | None) -> bool:
    """Whether an attempt that is over has failed.  Of the last one of an earlier run, in
    which no node has a state, only the results of its job and POST script are known.

    Args:
        following: the next one, None if there is none.
    """
    if following is None and node.status is not NodeStatus.NOT_READY and not node.ran_before:
        return node.status is not NodeStatus.DONE and not node.has_served
    if following is not None and following.number:
        return True  # or there would be no other
    if node.is_service and attempt.value == RETURN_JOB_ABORTED:
        return False  # as it is removed at the end
    if attempt.post is not None and attempt.post.value is not None:
        return bool(attempt.post.value)
    return attempt.value != 0 or bool(attempt.reason)


BUCKETS = 240


class Concurrency(NamedTuple):
    """Numbers of attempts by what they did."""

    step: float  # between points, seconds of the axis
    counts: Mapping[str, Sequence[float]]  # for each of PARTS the average number in each step
    most: Mapping[str, int]  # for each of PARTS the greatest number at any time


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
        part: averages(list(map(at, begins[part])), list(map(at, ends[part])), step, BUCKETS)
        for part in PARTS
    }
    return Concurrency(step, counts, {part: _most(begins[part], ends[part]) for part in PARTS})


def averages(begins: list[float], ends: list[float], step: float, count: int) -> list[float]:
    """How many go on in each of so many steps on average; times are seconds of the axis, sorted."""
    edges = [step * number for number in range(count + 1)]
    begun, ended = _before(begins, edges), _before(ends, edges)
    return [
        (begun[number + 1] - begun[number] - ended[number + 1] + ended[number]) / step
        for number in range(count)
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


CUT_ABOVE = 0.25  # of all times in which something ran
CUT_SHARE = 0.03  # of those, the length on the axis of what is cut out
_BUSY = ("pre", "run", "post")


class TimeAxis(NamedTuple):
    """Times from `begin` to `end`, seconds since the epoch, without what is cut out."""

    begin: float
    end: float
    cuts: tuple[tuple[float, float], ...] = ()  # begins and ends of what is cut out, in order
    cut_s: float = 0.0  # seconds of the axis that stand for each

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
