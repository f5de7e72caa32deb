"""The measurement of what DAGMan's CPU time is while a crowd of jobs passes through the pool."""

from __future__ import annotations

import time

from benchmarks import costs, dags, events
from benchmarks.place import Failed, Place, has_ended, log_tail
from benchmarks.sizes import Numbers, Sizes
from benchmarks.subjects import UNLIMITED

LOOK_S = 0.5  # between two looks at the CPU time; what is used after the last is not seen
TIMEOUT_S = 7200.0


def crowd(place: Place, subject: str, sizes: Sizes) -> Numbers:
    """CPU time of DAGMan, alone and with its children, in a DAG of no-op nodes without edges."""
    directory = place.new_directory(f"crowd-{subject}")
    dags.bag(sizes.crowd, dags.NOOP).write(directory)
    try:
        place.submit([directory], subject, UNLIMITED)
        used = costs.Family(place.dagman_pid(directory))
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            dagman = events.read(directory / f"{dags.NAME}.dagman.log")
            if has_ended(dagman):
                break
            if time.monotonic() > deadline:
                raise Failed(f"has not ended after {TIMEOUT_S:.0f} s; {log_tail(directory)}")
            used.look()
            time.sleep(LOOK_S)
    finally:
        place.remove_all()
    done = len(events.times(events.read(directory / f"{dags.NAME}.nodes.log"), events.TERMINATED))
    if done < sizes.crowd:
        raise Failed(f"{done} of {sizes.crowd} nodes have ended; {log_tail(directory)}")
    elapsed = events.times(dagman, events.TERMINATED)[0] - events.times(dagman, events.EXECUTE)[0]
    return {
        "crowd elapsed": [elapsed],
        "crowd rate": [sizes.crowd / elapsed],
        "crowd cpu": [used.all],
        "crowd cpu alone": [used.alone],
        "crowd share": [used.all / elapsed],
    }
