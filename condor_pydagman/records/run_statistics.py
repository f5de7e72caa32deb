"""Times of DAGMan's own work: the line `DAGMan Runtime Statistics` and DAG_Stats of the ad.

Four kinds of work are measured, under stock DAGMan's names.  Order and decimals are stock's too,
because monitors cut the line up by pattern.
"""

from __future__ import annotations

import math

EVENTS = "EventCycleTime"  # a round of the loop: inputs handled
LOG = "LogProcessCycleTime"  # reading the nodes log
SLEEP = "SleepCycleTime"  # waiting for something to happen
SUBMIT = "SubmitCycleTime"  # a submission

NAMES = (EVENTS, LOG, SLEEP, SUBMIT)


class _Probe:
    """Running sums of one kind of work, in seconds."""

    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0
        self.squares = 0.0
        self.minimum = math.inf
        self.maximum = 0.0

    def values(self, name: str) -> dict[str, float]:
        found = {f"{name}Count": float(self.count), f"{name}Sum": self.total}
        if self.count:
            found[f"{name}Avg"] = self.total / self.count
            found[f"{name}Max"] = self.maximum
            found[f"{name}Min"] = self.minimum
            found[f"{name}Std"] = self._deviation()
        return found

    def _deviation(self) -> float:
        if self.count < 2:
            return self.minimum  # stock's way
        variance = (self.squares - self.total * self.total / self.count) / (self.count - 1)
        return math.sqrt(max(variance, 0.0))


class Statistics:
    """Collects measurements; cheap enough for every round of the loop."""

    def __init__(self) -> None:
        self._probes = {name: _Probe() for name in NAMES}

    def add(self, name: str, seconds: float) -> None:
        """One piece of work, of one of `NAMES`, took so long.

        Raises:
            KeyError: no such name.
        """
        probe = self._probes[name]
        probe.count += 1
        probe.total += seconds
        probe.squares += seconds * seconds
        probe.minimum = min(probe.minimum, seconds)
        probe.maximum = max(probe.maximum, seconds)

    def line(self) -> str:
        """What `.dagman.out` shows under each status table."""
        pairs = "".join(f"{name}={value:.3f}; " for name, value in self._sorted())
        return f"DAGMan Runtime Statistics: [{pairs}]"

    def expression(self) -> str:
        """Value of the job ad's DAG_Stats, a nested ClassAd."""
        return "[ " + "; ".join(f"{name} = {value!r}" for name, value in self._sorted()) + " ]"

    def _sorted(self) -> list[tuple[str, float]]:
        values: dict[str, float] = {}
        for name, probe in self._probes.items():
            values.update(probe.values(name))
        return sorted(values.items(), key=lambda pair: (len(pair[0]), pair[0]))


# What DAGMAN_DEBUG_PARSE_TIMING writes into `.dagman.out`, in stock's layout.


def block(dag_files: int, seconds: float, before: int, after: int) -> str:
    """How long reading took, and the peak of memory before and after it, in KiB.

    Stock adjusts edges in a second step; ours are right as soon as they are read.
    """
    rows = (("DAG file parsing", seconds), ("LiftSplices + AdjustEdges", 0.0), ("Total", seconds))
    lines = [
        f"DAGMAN_DEBUG_PARSE_TIMING ({dag_files} DAG file(s)):",
        f"  {'Phase':<26}{'Wall (s)':>14}  {'Peak RSS (KiB)'}",
        *(f"  {name:<26}{spent:>14.3f}  {after:>14}" for name, spent in rows),
        f"  {'RSS before parse':<40}  {before:>14}",
    ]
    return "\n".join(lines)
