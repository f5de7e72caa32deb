"""The measurement of what DAGMan's CPU time is while a crowd of jobs passes through the pool."""

from __future__ import annotations

import contextlib
import time

from benchmarks import costs, dags, events
from benchmarks.place import Failed, Place, has_ended, log_tail
from benchmarks.sizes import Numbers, Sizes
from benchmarks.subjects import UNLIMITED
from condor_pydagman.pool import processes

LOOK_S = 0.5  # between two looks at the CPU time; what is used after the last is not seen
TIMEOUT_S = 7200.0


def crowd(place: Place, subject: str, sizes: Sizes) -> Numbers:
    """CPU time of DAGMan, alone and with its children, in a DAG of no-op nodes without edges."""
    directory = place.new_directory(f"crowd-{subject}")
    dags.bag(sizes.crowd, dags.NOOP).write(directory)
    try:
        place.submit([directory], subject, UNLIMITED)
        pid = place.dagman_pid(directory)
        used: dict[tuple[int, int], float] = {}
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            dagman = events.read(directory / f"{dags.NAME}.dagman.log")
            if has_ended(dagman):
                break
            if time.monotonic() > deadline:
                raise Failed(f"has not ended after {TIMEOUT_S:.0f} s; {log_tail(directory)}")
            _look(pid, used)
            time.sleep(LOOK_S)
    finally:
        place.remove_all()
    done = len(events.times(events.read(directory / f"{dags.NAME}.nodes.log"), events.TERMINATED))
    if done < sizes.crowd:
        raise Failed(f"{done} of {sizes.crowd} nodes have ended; {log_tail(directory)}")
    elapsed = events.times(dagman, events.TERMINATED)[0] - events.times(dagman, events.EXECUTE)[0]
    alone = sum(seconds for (one, _), seconds in used.items() if one == pid)
    return {
        "crowd elapsed": [elapsed],
        "crowd rate": [sizes.crowd / elapsed],
        "crowd cpu": [sum(used.values())],
        "crowd cpu alone": [alone],
        "crowd share": [sum(used.values()) / elapsed],
    }


def _look(pid: int, used: dict[tuple[int, int], float]) -> None:
    """Note the CPU seconds of a process and its descendants, by their ids and start times."""
    for one in processes.family(pid).items():
        with contextlib.suppress(OSError):  # it has just ended
            used[one] = costs.cpu_seconds(one[0])
