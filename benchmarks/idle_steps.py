"""The measurements of what DAGMans cost while nothing happens, and of many at once."""

from __future__ import annotations

import time
from pathlib import Path

from benchmarks import costs, dags, events
from benchmarks.place import Failed, Place
from benchmarks.sizes import Numbers, Sizes

START_TIMEOUT_S = 900.0  # until all DAGMans have come up, or ended


def idle(place: Place, subject: str, sizes: Sizes) -> Numbers:
    """CPU and memory of one DAGMan whose only job sleeps."""
    return _idling(place, subject, sizes, 1, "idle")


def many_idle(place: Place, subject: str, sizes: Sizes) -> Numbers:
    """The same of many at once, in sums."""
    return _idling(place, subject, sizes, sizes.dagmans, "many idle")


def many_run(place: Place, subject: str, sizes: Sizes) -> Numbers:
    """Seconds until many DAGMans have run a DAG of five nodes each."""
    directories = directories_of(place, f"many-{subject}", dags.fan(3), sizes.dagmans)
    place.submit(directories, subject)
    ends = [place.wait_end(directory, START_TIMEOUT_S) for directory in directories]
    begin = min(found[0].time for found in ends)
    return {"many run": [max(found[-1].time for found in ends) - begin]}


def _idling(place: Place, subject: str, sizes: Sizes, count: int, name: str) -> Numbers:
    directories = directories_of(place, f"idle-{subject}", dags.sleeper(), count)
    before = costs.available()
    try:
        place.submit(directories, subject)
        for directory in directories:
            log = directory / f"{dags.NAME}.nodes.log"
            place.wait_events(log, events.EXECUTE, 1, START_TIMEOUT_S)
        pids = [place.dagman_pid(directory) for directory in directories]
        time.sleep(sizes.settle)
        used, woken = _spent(pids)
        time.sleep(sizes.idle)
        used, woken = (after - then for after, then in zip(_spent(pids), (used, woken)))
        memory = costs.memory_sum(pids)
        memory["available"] = before - costs.available()
    except OSError as error:
        raise Failed(f"can't look at DAGMan's process: {error.strerror}") from None
    finally:
        place.remove_all()
    minutes = sizes.idle / 60
    spent = {f"{name} cpu": [used / minutes], f"{name} wakes": [woken / minutes]}
    return {**spent, **{f"{name} {kind}": [size] for kind, size in memory.items()}}


def _spent(pids: list[int]) -> tuple[float, float]:
    """CPU seconds so far, and how often they have been woken."""
    return sum(map(costs.cpu_seconds, pids)), float(sum(map(costs.wake_ups, pids)))


def directories_of(place: Place, name: str, workload: dags.Workload, count: int) -> list[Path]:
    """New directories with a DAG each."""
    place_of_all = place.new_directory(name)
    made = []
    for number in range(count):
        made.append(place_of_all / f"d{number:02}")
        made[-1].mkdir()
        made[-1].chmod(0o777)
        workload.write(made[-1])
    return made
