"""What kept nodes from being submitted: halts, and throttles that were full.

`.dagman.out` and the DAG file tell the limits; how many nodes counted for them is found again from
what all attempts did.  Limits that DAGs share are not among them: no log tells how full they were.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from condor_pydagman.follow.run_model import Run
from condor_pydagman.graph.model import Dag
from condor_pydagman.printable import printable
from condor_pydagman.report.critical_path import Step
from condor_pydagman.report.spans import Span

_IN_QUEUE = ("idle", "held", "run")
# Throttles by their names in the job ad: what people call them, and which parts count for them.
_THROTTLES = {
    "DAGMan_MaxJobs": ("MaxJobs", _IN_QUEUE),
    "DAGMan_MaxIdle": ("MaxIdle", ("idle",)),
    "DAGMan_MaxPreScripts": ("MaxPre", ("pre",)),
}
_Time = tuple[float, float]


class _Cause:
    """Something that kept nodes back, at times that are in order and do not overlap."""

    def __init__(self, words: str, times: Iterable[_Time]) -> None:
        self.words = words
        self._times = list(times)
        self._begins = [begin for begin, _ in self._times]
        self._before = [0.0, *accumulate(end - begin for begin, end in self._times)]

    def seconds(self, since: float, until: float) -> float:
        """How much of a time they take."""
        return self._up_to(until) - self._up_to(since)

    def _up_to(self, time: float) -> float:
        number = bisect_right(self._begins, time) - 1
        if number < 0:
            return 0.0
        begin, end = self._times[number]
        return self._before[number] + min(time, end) - begin


def held_back(
    run: Run, dag: Dag, found: Sequence[Span], path: Iterable[Step], end: float
) -> list[tuple[str, float]]:
    """What kept the nodes of a path back longest before they began, and for how many seconds."""
    of_all = list(_of_all(run, found, end))
    of_category = {
        category: _Cause(f"MAXJOBS {printable(category)} {limit} full", times)
        for category, own in _by_category(dag, found).items()
        for limit in [dag.category_limits[category]]
        for times in [_full(own, _IN_QUEUE, limit)]
    }
    seconds: dict[str, float] = {}
    for step in path:
        node = dag.find(step.node)
        own = of_category.get(dag.categories.get(node, "")) if node is not None else None
        causes = [*of_all, own] if own is not None else of_all
        waited = [(one.seconds(step.begin - step.before, step.begin), one.words) for one in causes]
        most, words = max(waited, default=(0.0, ""))
        if most > 0:
            seconds[words] = seconds.get(words, 0.0) + most
    return sorted(seconds.items(), key=lambda one: -one[1])


def _of_all(run: Run, found: Sequence[Span], end: float) -> Iterator[_Cause]:
    """What keeps any node back."""
    if run.halts:
        yield _Cause("the DAG halted", [(halt.begun, halt.ended or end) for halt in run.halts])
    for name, (words, kinds) in _THROTTLES.items():
        limit = run.limits.get(name, 0)
        if limit:
            yield _Cause(f"{words} {limit} reached", _full(found, kinds, limit))


def _by_category(dag: Dag, found: Sequence[Span]) -> dict[str, list[Span]]:
    """The attempts of nodes in each category that has a limit."""
    own: dict[str, list[Span]] = {}
    for span in found if dag.category_limits else ():
        node = dag.find(span.node)
        category = dag.categories.get(node, "") if node is not None else ""
        if category in dag.category_limits:
            own.setdefault(category, []).append(span)
    return own


def _full(found: Iterable[Span], kinds: Sequence[str], limit: int) -> Iterator[_Time]:
    """When so many attempts at least did what counts."""
    changes = [
        change
        for span in found
        for own in [[part for part in span.parts if part[0] in kinds]]
        if own
        for change in ((own[0][1], 1), (own[-1][2], -1))
    ]
    active, since = 0, 0.0
    for time, change in sorted(changes):
        was, active = active, active + change
        if was < limit <= active:
            since = time
        elif active < limit <= was and time > since:
            yield since, time
