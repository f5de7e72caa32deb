"""The measurements in which jobs run in the pool.

Each takes the place, the subject and its sizes, and gives numbers by name.
"""

from __future__ import annotations

import re
import time

from benchmarks import dags, events
from benchmarks.idle_steps import directories_of
from benchmarks.place import Failed, Place, log_tail
from benchmarks.sizes import Numbers, Sizes
from benchmarks.subjects import (
    FLOOR,
    FLOOR_TOGETHER,
    IDLE_LIMIT,
    JOBS_A_CLUSTER,
    OURS,
    TOGETHER,
    UNLIMITED,
)

DAG_TIMEOUT_S = 900.0  # for a DAG


def chain(place: Place, subject: str, sizes: Sizes) -> Numbers:
    """Reaction times, start and duration of a chain."""
    nodes, whole, start = run_dag(place, subject, "chain", dags.chain(sizes.chain))
    found = {"reaction": events.reactions(nodes), "chain": [whole]}
    return found if start is None else {**found, "start": [start]}


def noop(place: Place, subject: str, sizes: Sizes) -> Numbers:
    """Submit rate and duration of a bag of jobs that run nothing."""
    nodes, whole, _ = run_dag(place, subject, "bag", dags.bag(sizes.noop, dags.NOOP))
    return {**_named("no-op rate", events.rate(nodes)), "bag": [whole]}


def fan(place: Place, subject: str, sizes: Sizes) -> Numbers:
    """One node, many, one."""
    return _makespan(place, subject, "fan", dags.fan(sizes.fan))


def product(place: Place, subject: str, sizes: Sizes) -> Numbers:
    """Two layers, each node of the second the child of all of the first."""
    return _makespan(place, subject, "product", dags.product(sizes.product))


def workflow(place: Place, subject: str, sizes: Sizes, shape: str) -> Numbers:
    """A scientific workflow whose jobs sleep in slots."""
    return _makespan(place, subject, shape, dags.workflow(shape, sizes.workflow))


def held(place: Place, subject: str, sizes: Sizes) -> Numbers:
    """Submit rate of a bag of jobs that are never started.

    The bare loop does it twice: with the jobs as they are, and with the description that DAGMan
    makes of them; with many jobs a cluster, with the latter only.
    """
    if subject == FLOOR:
        plain = held_rate(place, subject, sizes.held, dags.HELD)
        like_a_node = held_rate(place, subject, sizes.held)
        return {**_named("held rate", plain), **_named("held rate, DAG's job", like_a_node)}
    name = "held rate, DAG's job" if subject == FLOOR_TOGETHER else "held rate"
    return _named(name, held_rate(place, subject, sizes.held))


def held_rate(
    place: Place,
    subject: str,
    count: int,
    job: str = dags.HELD + dags.LIKE_A_NODE,
    timeout_s: float = DAG_TIMEOUT_S,
) -> float | None:
    """Submit rate of a bag of that many held jobs; None if it can't be told.

    Args:
        job: description that a bare loop submits.
    """
    directory = place.new_directory(f"held-{subject}")
    try:
        if subject in (FLOOR, FLOOR_TOGETHER):
            cluster = 1 if subject == FLOOR else JOBS_A_CLUSTER
            words = [str(count), str(directory / "floor.log"), job, str(cluster)]
            begin = time.time()
            return events.rate(place.floor("floor.py", *words, cwd=directory)[1], begin)
        dags.bag(count, dags.HELD).write(directory)
        unlimited = count > IDLE_LIMIT and subject in (OURS, TOGETHER)
        place.submit([directory], subject, UNLIMITED if unlimited else None)
        log = directory / f"{dags.NAME}.nodes.log"
        place.wait_events(log, events.SUBMIT, count, timeout_s)
        started = events.times(events.read(directory / f"{dags.NAME}.dagman.log"), events.EXECUTE)
        return events.rate(events.read(log), started[0] if started else None)
    finally:
        place.remove_all()


def submit_dag(place: Place, subject: str, sizes: Sizes) -> Numbers:
    """Time of condor_submit_dag; the DAGMan job is held, so that nothing else goes on."""
    directories = directories_of(place, f"submit-{subject}", dags.chain(2), sizes.submits)
    argv = [place.program(subject, "condor_submit_dag"), "-f", "-append", "hold = true"]
    argv += ["-dagman", place.program(subject), dags.NAME]
    try:
        told = place.run_each([(argv, directory) for directory in directories], subject)
    finally:
        place.remove_all()
    if not all(re.search(r"submitted to cluster \d+", said) for _, said in told):
        raise Failed(f"condor_submit_dag said: {told[0][1]}")
    return {"submit_dag": [seconds for seconds, _ in told]}


def _makespan(place: Place, subject: str, name: str, workload: dags.Workload) -> Numbers:
    nodes, whole, _ = run_dag(place, subject, name, workload)
    return {f"{name} makespan": [events.makespan(nodes)], f"{name} whole": [whole]}


def run_dag(
    place: Place, subject: str, name: str, workload: dags.Workload
) -> tuple[list[events.Event], float, float | None]:
    """Run a DAG to its end.

    Returns:
        The events of its nodes, seconds from submit to end of the DAGMan job, and seconds from its
        start to the first submit.  For the bare loop: from start to end of its process, and None.
    """
    directory = place.new_directory(f"{name}-{subject}")
    workload.write(directory)
    if subject == FLOOR:
        log = directory / "floor.log"
        words = [str(directory / dags.FLOOR_NAME), str(log)]
        whole, nodes = place.floor("floor_dag.py", *words, cwd=directory)
        start = None
    else:
        place.submit([directory], subject)
        dagman = place.wait_end(directory, DAG_TIMEOUT_S)
        nodes = events.read(directory / f"{dags.NAME}.nodes.log")
        whole = dagman[-1].time - dagman[0].time
        start = _start(dagman, nodes)
    ended = len(events.times(nodes, events.TERMINATED))
    if ended < len(workload.nodes):  # DAGMan's join nodes end too
        raise Failed(f"{ended} of {len(workload.nodes)} nodes have ended; {log_tail(directory)}")
    return nodes, whole, start


def _start(dagman: list[events.Event], nodes: list[events.Event]) -> float | None:
    submits, executes = events.times(nodes, events.SUBMIT), events.times(dagman, events.EXECUTE)
    return submits[0] - executes[0] if submits and executes else None


def _named(name: str, found: float | None) -> Numbers:
    return {} if found is None else {name: [found]}
