"""What a DAG of short nodes takes: seconds, jobs, and the CPU time of DAGMan and of the schedd."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks import costs, dags, events
from benchmarks.place import Failed, Place, has_ended, log_tail
from benchmarks.subjects import OURS
from condor_pydagman.pool import processes

LOOK_S = 0.2  # between two looks at the CPU time
TIMEOUT_S = 3600.0


class Took(NamedTuple):
    """What a run took.

    Attributes:
        seconds: from the submission of the DAGMan job to its end.
        jobs: how many have run, beside DAGMan's.
        dagman_s: CPU time of the DAGMan process; less than a look may be missing.
        helpers_s: the same, of the processes that it starts.
        schedd_s: of the schedd meanwhile.
    """

    seconds: float
    jobs: float
    dagman_s: float
    helpers_s: float
    schedd_s: float


def run(place: Place, directory: Path, nodes: int) -> Took:
    """Submit the DAG there, which has so many nodes, and wait for its end.

    Raises:
        Failed: a node has not ended.
    """
    schedd = schedd_pid(place)
    before = costs.cpu_seconds(schedd)
    place.submit([directory], OURS, by=OURS)
    family = costs.Family(place.dagman_pid(directory))
    dagman = _watch(directory, family)
    ended = [
        event.cluster
        for event in events.read(directory / f"{dags.NAME}.nodes.log")
        if event.kind == events.TERMINATED
    ]
    if len(ended) < nodes:
        raise Failed(f"{len(ended)} of {nodes} nodes have ended; {log_tail(directory)}")
    return Took(
        dagman[-1].time - dagman[0].time,
        len(set(ended)),
        family.alone,
        family.all - family.alone,
        costs.cpu_seconds(schedd) - before,
    )


def _watch(directory: Path, family: costs.Family) -> list[events.Event]:
    """Look at the DAGMan of the DAG there until it ends; returns its events."""
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        found = events.read(directory / f"{dags.NAME}.dagman.log")
        if has_ended(found):
            return found
        family.look()
        time.sleep(LOOK_S)
    raise Failed(f"the DAG has not ended after {TIMEOUT_S:.0f} s; {log_tail(directory)}")


def schedd_pid(place: Place) -> int:
    """The process id of the pool's schedd; what it forks has other parents."""
    master = place.pool.master()
    stats = {pid: processes.stat_of(pid) for pid in processes.family(master)}
    for pid, stat in stats.items():
        if (stat.name, stat.parent) == ("condor_schedd", master):
            return pid
    raise Failed("the pool has no schedd")


def medians(some: Sequence[Took]) -> Took:
    """The median of each figure."""
    return Took(*map(statistics.median, zip(*some)))
