"""The measurements in which jobs run in the pool.

Each takes the place, the subject and its sizes, and gives numbers by name.
"""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks import dags, events
from benchmarks.place import Failed, Place, log_tail
from benchmarks.sizes import Numbers, Sizes
from benchmarks.subjects import FLOOR

DAG_TIMEOUT_S = 900.0  # for a DAG


def chain(place: Place, subject: str, sizes: Sizes) -> Numbers:
    """Reaction times, start and duration of a chain."""
    nodes, whole, start = _run(place, subject, "chain", dags.chain(sizes.chain))
    found = {"reaction": events.reactions(nodes), "chain": [whole]}
    return found if start is None else {**found, "start": [start]}


def noop(place: Place, subject: str, sizes: Sizes) -> Numbers:
    """Submit rate and duration of a bag of jobs that run nothing."""
    nodes, whole, _ = _run(place, subject, "bag", dags.bag(sizes.noop, dags.NOOP))
    return {**_rate("no-op rate", nodes), "bag": [whole]}


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
    makes of them.
    """
    directory = place.new_directory(f"held-{subject}")
    try:
        if subject == FLOOR:
            return _held_floor(place, directory, sizes)
        dags.bag(sizes.held, dags.HELD).write(directory)
        place.submit([directory], subject)
        log = directory / f"{dags.NAME}.nodes.log"
        place.wait_events(log, events.SUBMIT, sizes.held, DAG_TIMEOUT_S)
        return _rate("held rate", events.read(log))
    finally:
        place.remove_all()


def _held_floor(place: Place, directory: Path, sizes: Sizes) -> Numbers:
    found: Numbers = {}
    for name, more in (("held rate", ""), ("held rate, DAG's job", dags.LIKE_A_NODE)):
        log = str(directory / f"{len(found)}.log")
        words = [str(sizes.held), log, dags.HELD + more]
        found.update(_rate(name, place.floor("floor.py", *words, cwd=directory)[1]))
        place.remove_all()
        place.wait_empty()
    return found


def submit_dag(place: Place, subject: str, sizes: Sizes) -> Numbers:
    """Time of condor_submit_dag; the DAGMan job is held, so that nothing else goes on."""
    directory = place.new_directory(f"submit-{subject}")
    dags.chain(2).write(directory)
    argv = [place.program(subject, "condor_submit_dag"), "-f", "-append", "hold = true"]
    argv += ["-dagman", place.program(subject), dags.NAME]
    try:
        told = place.run_each([(argv, directory)] * sizes.submits, subject)
    finally:
        place.remove_all()
    if not all(re.search(r"submitted to cluster \d+", said) for _, said in told):
        raise Failed(f"condor_submit_dag said: {told[0][1]}")
    return {"submit_dag": [seconds for seconds, _ in told]}


def _makespan(place: Place, subject: str, name: str, workload: dags.Workload) -> Numbers:
    nodes, whole, _ = _run(place, subject, name, workload)
    return {f"{name} makespan": [events.makespan(nodes)], f"{name} whole": [whole]}


def _run(
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


def _rate(name: str, log: list[events.Event]) -> Numbers:
    found = events.rate(log)
    return {} if found is None else {name: [found]}
