"""How many nodes ran, ended and failed over the time of a run, for a chart."""

from __future__ import annotations

import time
from itertools import accumulate
from typing import Any

from condor_pydagman.follow.run_model import Run
from condor_pydagman.report.spans import job_parts
from condor_pydagman.vocabulary import NodeStatus
from condor_pydagman.web.dag_reader import DagReader
from condor_pydagman.web.node_rows import ended_at, row_of, runtime_s

BUCKETS = 120
MAX_BUCKETS = 1000
MAX_LONGEST_NODES = 20


def timeline_of(
    reader: DagReader, begin: float | None, end: float | None, count: int
) -> dict[str, Any]:
    """The chart: `count` equal intervals from `begin` to `end`; None is the run's own.

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
    """Counts by bucket: a difference array, so that adding an interval takes constant time."""

    def __init__(self, begin: float, step: float, count: int) -> None:
        self._begin, self._step, self._count = begin, step, count
        self._changes = [0.0] * (count + 2)  # +1 in the bucket where a job begins, -1 where it ends
        self._partial = [0.0] * (count + 1)  # for buckets that an interval covers in part
        self.ended, self.failed = [0] * count, [0] * count

    def bucket_of(self, when: float) -> int:
        """The bucket of a time; -1 if it is outside."""
        bucket = int((when - self._begin) / self._step) if when >= self._begin else -1
        if bucket < self._count:
            return bucket
        return self._count - 1 if self._is_end(when) else -1

    def _is_end(self, when: float) -> bool:
        return when <= self._begin + self._count * self._step + 1e-6

    def add(self, since: float, until: float) -> None:
        """Count one job as running between two times, seconds since the epoch."""
        begin = min(max((since - self._begin) / self._step, 0.0), self._count)
        end = min(max((until - self._begin) / self._step, 0.0), self._count)
        first, last = int(begin), int(end)
        self._partial[first] -= begin - first
        self._partial[last] += end - last
        self._changes[first] += 1.0
        self._changes[last] -= 1.0

    def rows(self) -> list[dict[str, Any]]:
        """By bucket: begin, average number that runs, how many have ended and failed."""
        through = list(accumulate(self._changes))
        return [
            {
                "t": round(self._begin + bucket * self._step, 3),
                "running": round(max(through[bucket] + self._partial[bucket], 0.0), 3),
                "ended": self.ended[bucket],
                "failed": self.failed[bucket],
            }
            for bucket in range(self._count)
        ]


def _fill(chart: _Chart, run: Run, now: float) -> None:
    for node in run.nodes.values():
        for attempt in node.attempts:
            if attempt.started:
                for kind, since, until in job_parts(attempt, now):
                    if kind == "run":
                        chart.add(since, until)
            end = ended_at(attempt)
            bucket = chart.bucket_of(end) if end is not None else -1
            if bucket >= 0:
                chart.ended[bucket] += 1
                is_last = attempt is node.attempts[-1]  # what another one follows has failed
                chart.failed[bucket] += not is_last or node.counted is not NodeStatus.DONE


def _longest(reader: DagReader, now: float) -> list[dict[str, Any]]:
    found = []
    for name, node in reader.run.nodes.items():
        if node.attempts and node.attempts[-1].started:
            found.append((runtime_s(node.attempts[-1], now) or 0.0, name))
    found.sort(reverse=True)
    numbers = map(reader.find, (name for _, name in found[:MAX_LONGEST_NODES]))
    return [row_of(reader, number, now) for number in numbers if number is not None]
