"""How many nodes ran, ended and failed over the time of a run, for a chart."""

from __future__ import annotations

import time
from itertools import accumulate
from typing import Any

from condor_pydagman.follow.run_history import Run
from condor_pydagman.report.spans import job_parts
from condor_pydagman.vocabulary import NodeStatus
from condor_pydagman.web.dag_reader import DagReader
from condor_pydagman.web.node_rows import ended_at, row_of, runtime_s

BUCKETS = 120
MAX_BUCKETS = 1000
LONGEST = 20


def timeline_of(
    reader: DagReader, begin: float | None, end: float | None, count: int
) -> dict[str, Any]:
    """Numbers for `count` parts of the time from `begin` to `end`, by default that of the run.

    `running` is the average number of attempts whose jobs run; `longest` the nodes whose last
    attempts have run longest.
    """
    run, now = reader.run, time.time()
    last = run.ended or (max(run.last, now) if run.begun else 0.0)
    first = run.begun if begin is None else begin
    until = max(last if end is None else end, first + 1.0)
    chart = _Chart(first, (until - first) / count, count)
    _fill(chart, run, min(now, last or now))
    return {"buckets": chart.rows() if run.begun else [], "longest": _longest(reader, now)}


class _Chart:
    """Sums by bucket; a span costs the same however long it is."""

    def __init__(self, begin: float, step: float, count: int) -> None:
        self._begin, self._step, self._count = begin, step, count
        self._slope = [0.0] * (count + 2)  # changes of the number that runs through
        self._parts = [0.0] * (count + 1)  # of buckets in which it begins or ends
        self.ended, self.failed = [0] * count, [0] * count

    def place(self, when: float) -> int:
        """The bucket of a time; -1 if it is outside."""
        place = int((when - self._begin) / self._step) if when >= self._begin else -1
        return place if place < self._count else self._count - 1 if self._is_end(when) else -1

    def _is_end(self, when: float) -> bool:
        return when <= self._begin + self._count * self._step + 1e-6

    def add(self, since: float, until: float) -> None:
        """Something ran from a time to another."""
        begin = min(max((since - self._begin) / self._step, 0.0), self._count)
        end = min(max((until - self._begin) / self._step, 0.0), self._count)
        first, last = int(begin), int(end)
        self._parts[first] -= begin - first
        self._parts[last] += end - last
        self._slope[first] += 1.0
        self._slope[last] -= 1.0

    def rows(self) -> list[dict[str, Any]]:
        """By bucket: begin, average number that runs, how many have ended and failed."""
        through = list(accumulate(self._slope))
        return [
            {
                "t": round(self._begin + place * self._step, 3),
                "running": round(max(through[place] + self._parts[place], 0.0), 3),
                "ended": self.ended[place],
                "failed": self.failed[place],
            }
            for place in range(self._count)
        ]


def _fill(chart: _Chart, run: Run, now: float) -> None:
    for node in run.nodes.values():
        for attempt in node.attempts:
            if attempt.started:
                for kind, since, until in job_parts(attempt, now):
                    if kind == "run":
                        chart.add(since, until)
            end = ended_at(attempt)
            place = chart.place(end) if end is not None else -1
            if place >= 0:
                chart.ended[place] += 1
                is_last = attempt is node.attempts[-1]
                chart.failed[place] += not is_last or node.counted is not NodeStatus.DONE


def _longest(reader: DagReader, now: float) -> list[dict[str, Any]]:
    found = []
    for name, node in reader.run.nodes.items():
        if node.attempts and node.attempts[-1].started:
            found.append((runtime_s(node.attempts[-1], now) or 0.0, name))
    found.sort(reverse=True)
    numbers = map(reader.find, (name for _, name in found[:LONGEST]))
    return [row_of(reader, number, now) for number in numbers if number is not None]
